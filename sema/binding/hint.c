/* Hints: spellings from other tools, and netc's own. */
#include "sema/binding/hint.h"

#include <stdio.h>

#include "layers/foreign/foreign.h"
#include "sema/model/board.h"
#include "sema/model/gpu.h"
#include "sema/model/weights.h"

/* Prints words separated by blanks as "a, b or c". */
static void hint_put_words(struct text *out, const char *words) {
  struct slice word;
  for (int i = 1; (word = word_at(words, i)).length; i++) {
    bool last = word_at(words, i + 1).length == 0;
    text_put(out, i == 1 ? "" : last ? " or " : ", ");
    text_puts(out, word);
  }
}

void hint_choices(struct diagnostic *d, struct arena *arena,
                  const char *words) {
  struct text all = text_new(arena);
  hint_put_words(&all, words);
  diag_help(d, "choose one of: %.*s", SLICE_ARG(all));
}

bool hint_foreign_layer(struct diagnostic *d, struct slice name,
                        struct span span) {
  const struct foreign_layer *layer = foreign_layer_find(name);
  if (!layer) /* CONV, ReLU */
    return false;
  if (*layer->ours) {
    diag_offer(d, span, slice_of(layer->ours), "netc calls it `%s`",
               layer->ours);
  }
  if (*layer->note && *layer->ours)
    diag_help(d, "%s", layer->note);
  else if (*layer->note)
    diag_otherwise(d, "%s", layer->note);
  return true;
}

/* Shorthands */

static const struct arg_spec *find_spec(const struct arg_spec *specs,
                                        struct slice name) {
  for (; specs && specs->name; specs++)
    if (slice_equal(name, slice_of(specs->name)))
      return specs;
  return NULL;
}

static const struct {
  char letter;
  const char *option, *form;
} shorthands[] = {
    {'s', "stride", "/%.*s"},       {'p', "pad", "pad=%.*s"},
    {'g', "groups", "groups=%.*s"}, {'d', "dilate", "dilate=%.*s"},
    {'k', "kernel", "%.*s"},
};

/* The index of a name in `shorthands`; -1: none. */
static int find_shorthand(const struct arg_spec *specs, struct slice name) {
  for (size_t i = 1; i < name.length; i++)
    if (name.at[i] < '0' || name.at[i] > '9')
      return -1;
  for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++)
    if (name.length > 1 && name.at[0] == shorthands[i].letter &&
        find_spec(specs, slice_of(shorthands[i].option)))
      return (int)i;
  return -1;
}

bool hint_is_shorthand(const struct arg_spec *specs, struct slice name) {
  return find_shorthand(specs, name) >= 0;
}

bool hint_is_key(const struct arg_spec *specs, struct slice name) {
  const struct arg_spec *spec = find_spec(specs, name);
  return spec && spec->place == PLACE_KEY;
}

bool hint_shorthand(struct diagnostic *d, const struct arg_spec *specs,
                    struct slice name, struct span span) {
  int row = find_shorthand(specs, name);
  if (row < 0)
    return false;
  char text[80];
  snprintf(text, sizeof text, shorthands[row].form, (int)name.length - 1,
           name.at + 1);
  diag_suggest(d, span, slice_of(text));
  return true;
}

/* Options */

/* True if `ours` is one of these rows: `/%`, `pad=%`. */
static bool takes(const struct arg_spec *specs, const char *ours) {
  if (*ours == '/')
    return find_spec(specs, slice_of("stride"));
  return find_spec(specs, (struct slice){ours, strcspn(ours, "=")});
}

bool hint_foreign_option(struct expander *e, struct diagnostic *d,
                         const struct binding *b, const struct arg *arg) {
  const struct foreign_option *option = foreign_option_find(arg->key);
  if (!option || !b->specs[0].name ||
      (*option->ours && !takes(b->specs, option->ours)))
    return false;
  const struct expr *value = arg->value;
  bool word = value->kind == EXPR_NAME && !scope_find(e->scope, value->name);
  if (*option->ours && !(word && *option->note)) { /* not for padding=same */
    struct text text = text_new(e->arena);
    foreign_put_option(&text, option,
                       sources_slice(e->diags->sources, value->span));
    struct slice ours = text_slice(&text);
    diag_offer(d, arg->span, ours, "write `%.*s`", SLICE_ARG(ours));
  }
  if (*option->note)
    diag_help(d, "%s", option->note);
  return true;
}

/* Also types of other bits and groups; `base` takes those for any matrix. */
static int weights_for(const struct arg_spec *spec, struct slice word) {
  int type = weights_find(word);
  bool listed = word_index(spec->words, slice_of(weights_word(type)));
  bool any = word_index(spec->words, slice_of("fp8"));
  return listed || any || weights_type(type)->scope == SCOPE_MATRICES ? type
                                                                      : 0;
}

int hint_find_choice(const struct arg_spec *spec,
                     const struct train_settings *train, struct slice word,
                     const char **several) {
  const char *ours = foreign_choice_find(spec->name, word);
  *several = NULL;
  if (settings_is_gpu(spec))
    return gpu_find(train->own, word, several);
  if (settings_is_board(spec))
    return board_find(word);
  int index = settings_is_weights(spec) ? weights_for(spec, word)
                                        : word_index(spec->words, word);
  if (index)
    return index;
  if (ours) {
    index = word_index(spec->words, slice_of(ours));
    *several = index ? NULL : ours;
    return index;
  }
  return word_index_as(spec->words, word, foreign_same);
}

/* `train adam`: settings always have a name, unlike options of layers. */
static bool hint_setting(struct expander *e, struct diagnostic *d,
                         const struct binding *b, const struct expr *value) {
  if (layer_kind_find(slice_of(b->owner)))
    return false;
  const struct arg_spec *spec = b->specs;
  while (value->kind == EXPR_NAME && spec->name &&
         !word_index(spec->words, value->name))
    spec++;
  if (spec->name && value->kind == EXPR_NAME) {
    struct text keyed = text_new(e->arena);
    text_printf(&keyed, "%s=%.*s", spec->name, SLICE_ARG(value->name));
    diag_offer(d, value->span, text_slice(&keyed), "write `%s %.*s`", b->owner,
               SLICE_ARG(keyed));
  }
  diag_help(d, "every setting has a name: `%s %s=...`", b->owner,
            b->specs->name);
  return true;
}

bool hint_surplus(struct expander *e, struct diagnostic *d,
                  const struct binding *b, const struct arg *arg) {
  const struct expr *value = arg->value;
  if (value->kind != EXPR_PAIR || value->left->kind != EXPR_NAME)
    return hint_setting(e, d, b, value);
  struct arg keyed = {
      .key = value->left->name, .value = value->right, .span = value->span};
  if (find_spec(b->specs, keyed.key) && !slice_is(keyed.key, "stride")) {
    struct slice text = sources_slice(e->diags->sources, value->right->span);
    struct text said = text_new(e->arena);
    text_printf(&said, "%.*s=%.*s", SLICE_ARG(keyed.key), SLICE_ARG(text));
    diag_offer(d, arg->span, text_slice(&said),
               "write an option with `=`: `%.*s`", SLICE_ARG(said));
    diag_otherwise(d, "write an option with `=`: `%.*s`", SLICE_ARG(said));
    return true;
  }
  return hint_foreign_option(e, d, b, &keyed);
}
