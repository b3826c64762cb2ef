/* Lines on the time of inference: tokens per second and prefill, or a batch. */
#include "codegen/report/time_line.h"

#include <inttypes.h>

#include "codegen/asked.h"
#include "memory/inference_time.h"

/* A shorter bound says nothing: starting kernels takes longer. */
static const double shortest = 1e-5;

static struct slice take(const struct compiled *c, struct text *text) {
  struct slice all = text_slice(text);
  *text = text_new(c->arena);
  return all;
}

/* Three digits at most: "117", "9.7", "0.62". */
static void put_rate(struct text *out, double rate) {
  if (rate < 1000)
    text_fixed(out, rate, rate < 1 ? 2 : rate < 100 ? 1 : 0);
  else
    text_count(out, (int64_t)(rate + 0.5));
}

static void put_error(struct text *out, double error) {
  text_put(out, "median error ");
  text_fixed(out, 100 * error, 0);
  text_put(out, " %");
}

/* "59 runs of 7 cards" */
static void put_runs(struct text *out, const struct serving_time *time) {
  text_printf(out, "calibrated on %" PRId64 " runs of %" PRId64 " card%s, ",
              time->runs, time->cards, time->cards == 1 ? "" : "s");
}

static void put_speed(const struct compiled *c, const struct serving_time *time,
                      int64_t sequences, struct screen_row *row) {
  struct text text = text_new(c->arena);
  *row = (struct screen_row){.label = "speed"};
  text_put(&text, time->missing ? "at most " : "about ");
  put_rate(&text, time->tokens);
  text_put(&text, " tokens/s");
  if (sequences > 1)
    text_printf(&text, " for %s sequences", count_text(sequences).text);
  if (time->missing) {
    text_printf(&text, " (upper bound: %s)", time->missing);
  } else {
    text_put(&text, " (");
    put_runs(&text, time);
    put_error(&text, time->error);
    text_putc(&text, ')');
  }
  row->text = take(c, &text);
}

static void put_prefill(const struct compiled *c,
                        const struct serving_time *time, int64_t context,
                        struct screen_row *row) {
  struct text text = text_new(c->arena);
  bool known = time->prompt > 0;
  *row = (struct screen_row){.label = "prefill"};
  text_put(&text, known ? "about " : "at least ");
  text_seconds(&text, known ? time->prompt : time->prompt_bound);
  text_printf(&text, " for %s tokens (", count_text(context).text);
  if (known)
    put_error(&text, time->prompt_error);
  else
    text_put(&text, "lower bound");
  text_putc(&text, ')');
  row->text = take(c, &text);
}

static int put_batch(const struct compiled *c, struct screen_row *row) {
  struct inference_time time;
  struct text text = text_new(c->arena);
  if (!inference_time_find(c->model, c->settings, &time) ||
      time.bound < shortest)
    return 0;
  *row = (struct screen_row){.label = "time"};
  text_put(&text, "at least ");
  text_seconds(&text, time.bound);
  text_printf(&text,
              " for batch %s (lower bound; no published run to calibrate with)",
              count_text(c->settings->infer.batch).text);
  row->text = take(c, &text);
  return 1;
}

int time_lines(const struct compiled *c, struct screen_row rows[TIME_LINES]) {
  int count = 0;
  if (!gpu_of(&c->settings->train))
    return 0;
  const struct serving_answer *served = asked_served(c);
  if (!served)
    return put_batch(c, rows);
  const struct serving_time *time = &served->time;
  if (time->predicted > 0 || time->bound >= shortest)
    put_speed(c, time, served->sequences, &rows[count++]);
  if (time->prompt > 0 || time->prompt_bound >= shortest)
    put_prefill(c, time, served->context, &rows[count++]);
  return count;
}

static void put_capability(struct text *out, int64_t capability) {
  text_printf(out, "%" PRId64 ".%" PRId64, capability / 10, capability % 10);
}

int type_line(const struct compiled *c, struct screen_row *row) {
  int element = gpu_lacks(c->settings, c->options->predict);
  const struct gpu *gpu = gpu_of(&c->settings->train);
  struct text text = text_new(c->arena);
  if (!element)
    return 0;
  *row = (struct screen_row){.label = "type"};
  gpu_put_title(&text, gpu);
  text_printf(&text, " has no units for %s: compute capability ",
              element_word(element));
  put_capability(&text, gpu->capability);
  text_put(&text, ", needs ");
  put_capability(&text, gpu_needed_capability(element));
  text_printf(&text, ". %s", gpu_instead(gpu, element));
  row->text = take(c, &text);
  return 1;
}
