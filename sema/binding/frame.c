/* Frames: the calls and loops that lead to a place, as notes of a message. */
#include <inttypes.h>

#include "sema/binding/expander.h"

enum { SHOWN_FRAMES = 6 };

static const char *ordinal_end(int64_t n) {
  if (n % 100 >= 11 && n % 100 <= 13)
    return "th";
  return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

static void put_turn(struct text *out, const struct frame *frame) {
  if (frame->total > 1)
    text_printf(out, "%" PRId32 "%s of %" PRId32, frame->ordinal,
                ordinal_end(frame->ordinal), frame->total);
}

static void put_frame(struct text *out, struct sources *sources,
                      const struct frame *frame) {
  struct position p = sources_position(sources, frame->stmt->span.begin);
  switch (frame_kind(frame)) {
  case FRAME_CALL:
    text_printf(out, "in %.*s, called at line %u", SLICE_ARG(frame->stmt->name),
                p.line);
    break;
  case FRAME_AGAIN:
    text_printf(out, "in %.*s, applied again at line %u",
                SLICE_ARG(frame->stmt->name), p.line);
    break;
  case FRAME_LOOP: text_printf(out, "in the loop at line %u", p.line); break;
  }
  if (frame->total > 1) {
    text_put(out, ", ");
    put_turn(out, frame);
  }
}

/* Adds the iteration of the loop around a call to the call's own note. */
static bool merge_loop(struct text *out, const struct frame *frame) {
  const struct frame *loop = frame->parent;
  if (frame_kind(frame) == FRAME_LOOP || !loop ||
      frame_kind(loop) != FRAME_LOOP)
    return false;
  if (loop->total > 1) {
    text_put(out, ", ");
    put_turn(out, loop);
  }
  return true;
}

/* Prints a frame with the loop around it; returns the next one. */
static const struct frame *put_step(struct text *out, struct sources *sources,
                                    const struct frame *frame) {
  put_frame(out, sources, frame);
  if (merge_loop(out, frame))
    frame = frame->parent;
  return frame->parent;
}

void frame_put(struct text *out, struct sources *sources,
               const struct frame *frame) {
  for (int shown = 0; frame && shown < SHOWN_FRAMES; shown++) {
    text_put(out, shown ? "; " : "");
    frame = put_step(out, sources, frame);
  }
}

void frame_describe(struct diagnostic *d, struct sources *sources,
                    const struct frame *frame) {
  int shown = 0;
  if (!diag_is_shown(d))
    return;
  for (; frame && shown < SHOWN_FRAMES; shown++) {
    struct text text = text_new(d->owner->arena);
    frame = put_step(&text, sources, frame);
    diag_note(d, "%.*s", SLICE_ARG(text));
  }
}

struct diagnostic *report(struct expander *e, enum slug slug, struct span span,
                          const char *format, ...) {
  va_list args;
  va_start(args, format);
  struct diagnostic *d = diag_va(e->diags, slug, span, format, args);
  va_end(args);
  frame_describe(d, e->diags->sources, e->frame);
  return d;
}

bool frame_enter(struct expander *e, struct frame frame) {
  if (e->depth == LIMIT_DEPTH) {
    struct diagnostic *d = report(
        e, NESTED_TOO_DEEP, frame.stmt->span,
        "calls and loops are nested more than %d levels deep", LIMIT_DEPTH);
    diag_help(d, "use `repeat` or `for` instead of defs for the levels");
    e->lost = true;
    return false;
  }
  struct frame *entered = e->spare_frames;
  if (entered)
    e->spare_frames = entered->parent;
  else
    entered = ARENA_NEW(e->arena, struct frame);
  *entered = frame;
  entered->parent = e->frame;
  entered->first = (int32_t)e->model->nodes.count; /* at most LIMIT_LAYERS */
  e->frame = entered;
  e->entered[e->depth++] = e->model->nodes.count;
  return true;
}

/* Nodes refer to their frames; a frame without nodes is reused. */
void frame_leave(struct expander *e) {
  struct frame *left = e->frame;
  e->frame = left->parent;
  left->end = (int32_t)e->model->nodes.count;
  if (e->entered[--e->depth] < e->model->nodes.count)
    return;
  left->parent = e->spare_frames;
  e->spare_frames = left;
}
