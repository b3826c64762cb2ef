/* Slots: checks values of arguments and stores them in the layer's struct. */
#include "sema/binding/slot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "lexer/scan.h"
#include "sema/binding/hint.h"
#include "sema/model/board.h"
#include "sema/model/gpu.h"
#include "sema/model/weights.h"

/* conv 3x3 64: sizes in place of the channels. */
static bool sizes_come_first(struct slot *s, struct diagnostic *d) {
  const struct arg_spec *next = s->spec + 1;
  if (s->value.kind != VALUE_SIZES || s->spec->place != PLACE_POSITION ||
      next->name == NULL || next->type != TYPE_SIZES)
    return false;
  struct slice sizes = sources_slice(s->e->diags->sources, s->expr->span);
  struct slice rest = sources_rest(s->e->diags->sources, s->expr->span.end);
  size_t from = rest.length && rest.at[0] == ' ', to = from;
  while (to < rest.length && rest.at[to] >= '0' && rest.at[to] <= '9')
    to++;
  if (to > from) {
    struct text swapped = text_new(s->e->arena);
    text_printf(&swapped, "%.*s %.*s", (int)(to - from), rest.at + from,
                SLICE_ARG(sizes));
    diag_offer(
        d, (struct span){s->expr->span.begin, s->expr->span.end + (uint32_t)to},
        text_slice(&swapped), "write the %s first: `%s %.*s`", s->spec->name,
        s->b->owner, SLICE_ARG(swapped));
  }
  diag_otherwise(d, "write the %s first: `%s %.*s %.*s`", s->spec->name,
                 s->b->owner, to > from ? (int)(to - from) : 2,
                 to > from ? rest.at + from : "64", SLICE_ARG(sizes));
  return true;
}

/* rope=0.5: a word is expected; another key takes the number. */
static bool help_number(const struct slot *s, struct diagnostic *d) {
  const struct arg_spec *spec = s->b->specs;
  if (!s->spec->number || !value_is_number(&s->value))
    return false;
  while (strcmp(spec->name, s->spec->number) != 0)
    spec++;
  struct text right = text_new(s->e->arena);
  struct slice said = sources_slice(s->e->diags->sources, s->expr->span);
  text_printf(&right, "%s %s=%.*s", s->spec->name, spec->name, SLICE_ARG(said));
  diag_offer(d, s->b->spans[s->spec - s->b->specs], text_slice(&right),
             "write `%.*s`", SLICE_ARG(right));
  diag_help(d, "`%s %s=32`: %s", s->spec->name, spec->name, spec->doc);
  return true;
}

/* True for a literal number or sizes, not a name that holds them. */
static bool is_written(const struct slot *s) {
  struct slice text = sources_slice(s->e->diags->sources, s->expr->span);
  for (size_t i = 0; i < text.length; i++)
    if (!is_digit(text.at[i]) && !strchr("-.x:", text.at[i]))
      return false;
  return true;
}

/* Raises sizes below `least`; `to` differs from `at` in paddings. */
static void find_nearest(struct slot *s, const struct sizes *at,
                         const struct sizes *to, int64_t least) {
  struct text text = text_new(s->e->arena);
  for (int i = 0; i < at->rank; i++) {
    text_put(&text, i ? "x" : "");
    text_int(&text, max_i64(at->at[i], least));
    if (to->at[i] == at->at[i])
      continue;
    text_putc(&text, ':');
    text_int(&text, max_i64(to->at[i], least));
  }
  s->nearest = text_slice(&text);
}

/* Reports a wrong value of an argument, at the value. */
static bool refuse(struct slot *s, enum slug slug, const char *wanted) {
  s->b->failed = true;
  if (s->value.kind == VALUE_POISON)
    return false;
  struct text text = text_new(s->e->arena);
  value_put(&text, &s->value);
  struct diagnostic *d =
      report(s->e, slug, s->expr->span, "`%s` of %s must be %s, not %.*s",
             s->spec->name, s->b->owner, wanted, SLICE_ARG(text));
  if (help_number(s, d))
    return false;
  if (s->nearest.length && is_written(s))
    diag_offer(d, s->expr->span, s->nearest, "the nearest is `%.*s`",
               SLICE_ARG(s->nearest));
  if (s->value.kind == VALUE_REAL && s->spec->type != TYPE_REAL &&
      s->spec->type != TYPE_DECIMAL && s->spec->type != TYPE_SCALE)
    eval_help_integer(d, s->expr->span, s->value.real);
  else if (s->spec->type == TYPE_INT && sizes_come_first(s, d))
    return false;
  else if (s->spec->bytes && s->value.kind == VALUE_INT && s->value.integer > 0)
    diag_help(d, "sizes are in bytes; did you mean `%" PRId64 "GiB`?",
              s->value.integer);
  else if (s->spec->doc)
    diag_help(d, "%s: %s", s->spec->name, s->spec->doc);
  return false;
}

static bool store_int(struct slot *s) {
  const struct arg_spec *spec = s->spec;
  char wanted[80];
  double real = s->value.kind == VALUE_REAL ? s->value.real : 0;
  bool whole = spec->counts && real >= 1 && real < 0x1p53 &&
               real == (double)(int64_t)real;
  if (s->value.kind != VALUE_INT && !whole)
    return refuse(s, WRONG_TYPE, "an integer");
  int64_t value = whole ? (int64_t)real : s->value.integer;
  *(int64_t *)s->at = value;
  if (value >= spec->min && (!spec->max || value <= spec->max))
    return true;
  struct text nearest = text_new(s->e->arena);
  text_int(&nearest, value < spec->min ? spec->min : spec->max);
  s->nearest = text_slice(&nearest);
  if (spec->max)
    snprintf(wanted, sizeof wanted, "an integer from %" PRId64 " to %" PRId64,
             spec->min, spec->max);
  else
    snprintf(wanted, sizeof wanted, "an integer of at least %" PRId64,
             spec->min);
  return refuse(s, OUT_OF_RANGE, wanted);
}

static bool store_real(struct slot *s) {
  const struct arg_spec *spec = s->spec;
  if (!value_is_number(&s->value))
    return refuse(s, WRONG_TYPE, "a number");
  double value = value_number(&s->value);
  if (spec->low < spec->high && (value < spec->low || value >= spec->high)) {
    struct text wanted = text_new(s->e->arena);
    text_put(&wanted, "at least ");
    text_real(&wanted, spec->low);
    text_put(&wanted, " and below ");
    text_real(&wanted, spec->high);
    struct text nearest = text_new(s->e->arena);
    text_real(&nearest, spec->low);
    if (value < spec->low && spec->low == floor(spec->low))
      s->nearest = text_slice(&nearest);
    return refuse(s, OUT_OF_RANGE, text_string(&wanted));
  }
  *(double *)s->at = value;
  return true;
}

/*
 * Stores millionths, so that sums are the same on every machine. A decimal of
 * six places is within 10^-9 of a number of millionths.
 */
static bool store_decimal(struct slot *s) {
  const struct arg_spec *spec = s->spec;
  struct text wanted = text_new(s->e->arena);
  if (!value_is_number(&s->value))
    return refuse(s, WRONG_TYPE, "a number");
  double value = value_number(&s->value) * 1e6;
  if (value >= (double)spec->min && value <= (double)spec->max) {
    int64_t nearest = (int64_t)(value + 0.5);
    double apart = value - (double)nearest;
    *(int64_t *)s->at = nearest;
    if (apart < 1e-6 && apart > -1e-6)
      return true;
  }
  text_put(&wanted, "a number from ");
  text_millionths(&wanted, spec->min);
  text_put(&wanted, " to ");
  text_millionths(&wanted, spec->max);
  text_put(&wanted, " with at most 6 decimals");
  return refuse(s, OUT_OF_RANGE, text_string(&wanted));
}

/* Reads one size for all axes, or one per axis; false if neither. */
static bool read_sizes(const struct value *value, struct sizes *at,
                       struct sizes *to) {
  if (value->kind == VALUE_INT) {
    *at = *to = (struct sizes){.rank = 1, .at = {value->integer}};
    return true;
  }
  if (value->kind != VALUE_SIZES || value->count > 3)
    return false;
  *at = *to = (struct sizes){.rank = value->count};
  for (int i = 0; i < value->count; i++) {
    at->at[i] = value->at[i];
    to->at[i] = value->to[i];
    if (value->at[i] == SIZE_ANY || value->to[i] == SIZE_ANY)
      return false;
  }
  return true;
}

static bool at_least(const struct sizes *sizes, int64_t least) {
  for (int i = 0; i < sizes->rank; i++)
    if (sizes->at[i] < least)
      return false;
  return true;
}

static bool store_sizes(struct slot *s) {
  struct sizes at, to;
  char wanted[80];
  if (s->value.paired || !read_sizes(&s->value, &at, &to))
    return refuse(s, WRONG_TYPE, "one size, or up to three joined by x");
  *(struct sizes *)s->at = at;
  if (at_least(&at, s->spec->min))
    return true;
  snprintf(wanted, sizeof wanted, "at least %" PRId64, s->spec->min);
  find_nearest(s, &at, &at, s->spec->min);
  return refuse(s, OUT_OF_RANGE, wanted);
}

static bool store_scale(struct slot *s) {
  struct scale_by *scale = s->at;
  s->at = &scale->whole;
  if (s->value.kind != VALUE_REAL)
    return store_sizes(s);
  if (!(s->value.real > 0) || s->value.real > 1e6)
    return refuse(s, OUT_OF_RANGE, "above 0 and at most 1e6");
  scale->real = s->value.real;
  return true;
}

static bool store_padding(struct slot *s) {
  struct sizes before, after;
  if (!read_sizes(&s->value, &before, &after))
    return refuse(s, WRONG_TYPE, "like 1, 1x2 or 0:1");
  if (!at_least(&before, 0) || !at_least(&after, 0)) {
    find_nearest(s, &before, &after, 0);
    return refuse(s, OUT_OF_RANGE, "at least 0");
  }
  *(struct padding *)s->at = (struct padding){PADDING_GIVEN, before, after};
  return true;
}

static bool store_shape(struct slot *s) {
  struct shape shape = {0};
  const struct value *value = &s->value;
  if (value->kind == VALUE_INT || value->kind == VALUE_ANY) {
    shape.rank = 1;
    shape.dim[0] = value->kind == VALUE_ANY ? SIZE_ANY : value->integer;
  } else if (value->kind == VALUE_SIZES && !value->paired) {
    shape.rank = value->count;
    for (int i = 0; i < value->count; i++)
      shape.dim[i] = value->at[i];
  } else {
    return refuse(s, WRONG_TYPE, "sizes joined by x");
  }
  for (int i = 0; i < shape.rank; i++)
    if (shape.dim[i] != SIZE_ANY && shape.dim[i] < 1)
      return refuse(s, OUT_OF_RANGE, "of sizes of at least 1");
  *(struct shape *)s->at = shape;
  return true;
}

static bool store_range(struct slot *s) {
  const struct value *value = &s->value;
  if (value->kind != VALUE_SIZES || value->count != 1 || !value->paired)
    return refuse(s, WRONG_TYPE, "a range like 0:32");
  *(struct range *)s->at = (struct range){value->at[0], value->to[0]};
  return true;
}

static bool store_axes(struct slot *s) {
  struct axes *axes = s->at;
  if (s->value.kind != VALUE_INT)
    return refuse(s, WRONG_TYPE, "a number, or one of c h w d l");
  if (axes->count == LIMIT_RANK)
    return refuse(s, WRONG_RANK, "of at most 8 axes");
  if (s->value.integer < -LIMIT_RANK || s->value.integer >= LIMIT_RANK)
    return refuse(s, WRONG_AXIS, "an axis of a tensor");
  axes->at[axes->count++] = s->value.integer;
  return true;
}

static bool store_numbers(struct slot *s) {
  struct numbers *numbers = s->at;
  const struct arg_spec *spec = s->spec;
  if (s->value.kind != VALUE_INT)
    return refuse(s, WRONG_TYPE, "integers");
  if (s->value.integer < spec->min)
    return refuse(s, OUT_OF_RANGE, "at least 1");
  if (numbers->count == LIMIT_NUMBERS)
    return refuse(s, WRONG_COUNT, "at most 16 numbers");
  numbers->at[numbers->count++] = s->value.integer;
  return true;
}

/* Stores the sizes of one more map. */
static bool store_map(struct slot *s) {
  struct map_list *maps = s->at;
  if (maps->count == LIMIT_NUMBERS) {
    report(s->e, WRONG_COUNT, s->expr->span, "%s takes at most %d maps",
           s->b->owner, LIMIT_NUMBERS);
    s->b->failed = true;
    return false;
  }
  s->at = &maps->at[maps->count++];
  return store_sizes(s);
}

/* `bias=true`, for values from expressions. */
static bool store_truth(struct slot *s) {
  bool pair = s->spec->type == TYPE_BIAS;
  if (s->value.kind != VALUE_BOOL ||
      (!pair && word_at(s->spec->words, 2).length))
    return refuse(s, WRONG_TYPE, "true or false");
  if (pair)
    *(enum bias *)s->at = s->value.integer ? BIAS_YES : BIAS_NO;
  else
    *(int *)s->at = (int)s->value.integer;
  return true;
}

static bool store_layer(struct slot *s) {
  struct symbol *symbol = s->value.kind == VALUE_NAME ? s->value.symbol : NULL;
  s->e->depends = true;
  if (!symbol || symbol->kind != SYMBOL_LABEL)
    return refuse(s, WRONG_TYPE, "the label of a layer above");
  struct layer_ref *ref = s->at;
  *ref = (struct layer_ref){symbol->name, s->expr->span, symbol->node, NULL};
  if (symbol->node == NO_NODE) {
    s->b->failed = true; /* reported at its own place */
    return false;
  }
  if (s->spec->type != TYPE_INPUT) /* its head has the weights */
    ref->node = s->e->model->nodes.at[symbol->node].head;
  return true;
}

/* The value is no word of the row: those were checked before. */
static bool store_choice(struct slot *s) {
  return refuse(s, WRONG_TYPE, "one of the option's words");
}

bool slot_store(struct slot *s) {
  static bool (*const stores[])(struct slot * s) = {
#define TYPE(name, store, ...) store_##store,
#include "layers/arg_types.def"
#undef TYPE
  };
  return stores[s->spec->type](s);
}

/* Suggests no other device, because it would have another size. */
static void help_gpu(const struct slot *s, struct diagnostic *d,
                     struct slice word) {
  struct text help = text_new(s->e->arena);
  gpu_put_help(&help, word, false);
  diag_help(d, "%.*s", SLICE_ARG(help));
}

/* Suggests the nearest board or chip, and the way for any other. */
static void help_board(const struct slot *s, struct diagnostic *d,
                       struct slice word) {
  struct slice nearest = board_nearest(word);
  if (nearest.length)
    diag_suggest(d, s->expr->span, nearest);
  diag_help(d, "`netc help boards` lists the boards; for any other give its "
               "memory: `ram=256KiB flash=1MiB`");
}

/* Parses "4,4,8". */
static bool store_turns(struct slot *s, struct slice text) {
  struct turn_list *turns = ARENA_NEW(s->e->arena, struct turn_list);
  int64_t *at = arena_alloc(s->e->arena, text.length, sizeof *at);
  bool digits = false; /* a digit since the last comma */
  *turns = (struct turn_list){.text = text, .count = 1, .at = at};
  for (size_t i = 0; i < text.length; i++) {
    int64_t *now = &at[turns->count - 1], digit = text.at[i] - '0';
    bool comma = digits && text.at[i] == ',';
    if (!comma && (digit < 0 || digit > 9))
      return false;
    digits = !comma;
    *now = comma ? *now : *now * 10 + digit;
    turns->count += comma;
    if (*now > LIMIT_LAYERS)
      return false;
  }
  s->e->in->settings->train.turns = turns;
  *(int *)s->at = CUT_TURNS;
  return digits;
}

static bool store_split(struct slot *s, struct slice text) {
  struct arena *arena = s->e->arena;
  struct train_settings *train = &s->e->in->settings->train;
  struct split_list *split = ARENA_NEW(arena, struct split_list);
  struct text why = text_new(arena), help = text_new(arena);
  if (gpu_read_split(train->own, text, split, &why, &help)) {
    train->split = split;
    if (split->at[0].gpu) /* a card is named: all that asks for one is met */
      train->gpu = split->at[0].gpu;
    *(int *)s->at = SPLIT_LIST;
    return true;
  }
  diag_help(report(s->e, UNKNOWN_CHOICE, s->expr->span, "%.*s", SLICE_ARG(why)),
            "%.*s", SLICE_ARG(help));
  s->b->failed = true;
  return false;
}

/* "sum focal": a loss for each output. */
static bool store_losses(struct slot *s, struct slice text) {
  struct train_settings *train = &s->e->in->settings->train;
  struct loss_list *losses = ARENA_NEW(s->e->arena, struct loss_list);
  int *at = arena_alloc(s->e->arena, text.length, sizeof *at);
  struct text words = text_new(s->e->arena);
  const char *several;
  text_puts(&words, text);
  *losses = (struct loss_list){.text = text, .at = at};
  for (struct slice word;
       (word = word_at(text_string(&words), losses->count + 1)).length;)
    if (!(at[losses->count++] =
              hint_find_choice(s->spec, train, word, &several)) ||
        at[losses->count - 1] == LOSS_NONE) {
      diag_help(
          report(s->e, UNKNOWN_CHOICE, s->expr->span,
                 "`%.*s` is not a loss of an output", SLICE_ARG(word)),
          "write a loss for each output, in their order: `\"sum focal\"`");
      s->b->failed = true;
      return false;
    }
  train->losses = losses;
  *(int *)s->at = LOSS_LIST;
  return true;
}

/* "nvfp4 head": parts of the weights in other types. */
static bool store_weights(struct slot *s, struct slice text) {
  struct arena *arena = s->e->arena;
  struct weights_list *list = ARENA_NEW(arena, struct weights_list);
  struct text why = text_new(arena), help = text_new(arena);
  if (weights_read_list(text, list, s->at, &why, &help)) {
    s->e->in->settings->infer.weights = list->count ? list : NULL;
    return true;
  }
  diag_help(report(s->e, UNKNOWN_CHOICE, s->expr->span, "%.*s", SLICE_ARG(why)),
            "%.*s", SLICE_ARG(help));
  s->b->failed = true;
  return false;
}

/* True for "UD-Q4_K_XL". */
static bool is_unsloths(const struct slot *s, struct slice word) {
  return strcmp(s->spec->name, "weight_dtype") == 0 && word.length > 3 &&
         (word.at[0] | 32) == 'u' && (word.at[1] | 32) == 'd' &&
         (word.at[2] == '-' || word.at[2] == '_');
}

/* Stores "no_reshard" or "small:1M" in *row, the part; -1: it is no part. */
static bool store_form(struct slot *s, struct slice word, int *row) {
  const struct arg_spec *specs = s->b->specs;
  for (*row = 0; specs[*row].name; ++*row) {
    const struct arg_spec *part = &specs[*row];
    void *at = (char *)s->b->args + part->offset;
    if (!settings_is_part(part, s->spec))
      continue;
    int index = word_index(part->forms, word);
    size_t name = strlen(part->forms);
    if (index && part->type == TYPE_CHOICE)
      *(int *)at = index;
    else if (part->type == TYPE_INT && word.length > name &&
             memcmp(word.at, part->forms, name) == 0)
      return scan_amount(slice_from(word, name), at);
    else
      continue;
    return true;
  }
  *row = -1;
  return true;
}

/* The row of the part that is a second word of the setting; -1: none. */
static int second_row(const struct slot *s) {
  const struct arg_spec *specs = s->b->specs;
  for (int i = 0; specs[i].name; i++)
    if (settings_is_part(&specs[i], s->spec) && !*specs[i].forms)
      return i;
  return -1;
}

/* Parts that are not named have their defaults, unless an old name set them. */
static void forget_parts(struct slot *s) {
  const struct arg_spec *specs = s->b->specs;
  for (int i = 0; specs[i].name; i++) {
    void *at = (char *)s->b->args + specs[i].offset;
    if (!settings_is_part(&specs[i], s->spec) || s->b->spans[i].end)
      continue;
    if (arg_is_int64(&specs[i]))
      *(int64_t *)at = specs[i].initial;
    else
      *(int *)at = (int)specs[i].initial;
  }
}

/* Reports a word of a value with parts: an unknown one, or `layer block`. */
static bool refuse_word(struct slot *s, struct slice word, bool again) {
  struct suggestion suggestion = suggest_begin(word);
  struct slice one, text = sources_slice(s->e->diags->sources, s->expr->span);
  for (int i = 1; (one = word_at(s->spec->words, i)).length; i++)
    if (!memchr(one.at, ':', one.length)) /* small:N */
      suggest_offer(&suggestion, one);
  struct diagnostic *d =
      again ? report(s->e, DUPLICATE_ARGUMENT, s->expr->span,
                     "`%.*s` sets what an earlier word of %s sets",
                     SLICE_ARG(word), s->spec->name)
            : report(s->e, UNKNOWN_CHOICE, s->expr->span, "unknown %s `%.*s`",
                     s->spec->name, SLICE_ARG(word));
  if (again)
    diag_help(d, "leave one of them out");
  else if (suggestion.best.at && !memchr(text.at, ' ', text.length))
    diag_suggest(d, s->expr->span, suggestion.best);
  if (!again)
    hint_choices(d, s->e->arena, s->spec->words);
  s->b->failed = true;
  return false;
}

/* Parses "x3 misc:64MiB". */
static bool store_parts(struct slot *s, struct slice text) {
  const struct train_settings *train = &s->e->in->settings->train;
  uint64_t seen = 0; /* rows of parts */
  const char *several;
  struct text words = text_new(s->e->arena);
  struct slice word;
  int row, own = 0;
  for (size_t i = 0; i < text.length; i++) /* one blank between words */
    if (text.at[i] != ' ' || (words.length && text.at[i - 1] != ' '))
      text_putc(&words, text.at[i]);
  const char *all = text_string(&words);
  if (!*all)
    return refuse_word(s, text, false);
  forget_parts(s);
  for (int i = 1; (word = word_at(all, i)).length; i++) {
    if (!store_form(s, word, &row))
      return refuse_word(s, word, false);
    int index = row < 0 ? hint_find_choice(s->spec, train, word, &several) : 0;
    if (row < 0 && !index)
      return refuse_word(s, word, false);
    if (index && own && (row = second_row(s)) < 0)
      return refuse_word(s, word, true);
    if (row >= 0 && seen >> row & 1)
      return refuse_word(s, word, true);
    seen |= row < 0 ? 0 : (uint64_t)1 << row;
    if (index && row >= 0)
      *(int *)((char *)s->b->args + s->b->specs[row].offset) = index;
    else if (index)
      own = index;
  }
  *(int *)s->at = own ? own : 1;
  return true;
}

bool slot_choose(struct slot *s, struct slice word) {
  const char *several;
  if (s->spec->parts)
    return store_parts(s, word);
  if (settings_is_cut(s->spec) && settings_is_list(s->spec, word)) {
    if (store_turns(s, word))
      return true;
    struct diagnostic *d =
        report(s->e, UNKNOWN_CHOICE, s->expr->span,
               "`%.*s` is not a list of numbers", SLICE_ARG(word));
    diag_help(d, "write one number for each stage, with commas: `\"4,4,8\"`");
    s->b->failed = true;
    return false;
  }
  if (settings_is_loss(s->spec) && settings_is_list(s->spec, word))
    return store_losses(s, word);
  if (strcmp(s->spec->name, "weight_dtype") == 0) {
    s->e->in->settings->infer.weights = NULL;
    if (memchr(word.at, ' ', word.length))
      return store_weights(s, word);
  }
  int index =
      hint_find_choice(s->spec, &s->e->in->settings->train, word, &several);
  if (index) {
    *(int *)s->at = index;
    return true;
  }
  if (settings_is_split(s->spec))
    return store_split(s, word);
  struct suggestion suggestion = suggest_begin(word);
  for (int i = 1; word_at(s->spec->words, i).length; i++)
    suggest_offer(&suggestion, word_at(s->spec->words, i));
  struct diagnostic *d =
      report(s->e, UNKNOWN_CHOICE, s->expr->span,
             several ? "ambiguous %s `%.*s`" : "unknown %s `%.*s`",
             s->spec->name, SLICE_ARG(word));
  if (settings_is_gpu(s->spec) && !several)
    help_gpu(s, d, word);
  else if (settings_is_board(s->spec))
    help_board(s, d, word);
  else if (is_unsloths(s, word))
    diag_help(d, "unsloth chooses the types in a UD file separately for each "
                 "model, so the name does not determine them; `q4_k_m` is "
                 "llama.cpp's own mix");
  else if (!several && !word_at(s->spec->words, 2).length)
    diag_suggest(d, s->expr->span, word_at(s->spec->words, 1));
  else if (suggestion.best.at && !several)
    diag_suggest(d, s->expr->span, suggestion.best);
  if (several || (!settings_is_gpu(s->spec) && !settings_is_board(s->spec) &&
                  !is_unsloths(s, word)))
    hint_choices(d, s->e->arena, several ? several : s->spec->words);
  s->b->failed = true;
  return false;
}
