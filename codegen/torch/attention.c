/*
 * Attention classes in an output file: attention.def, reduced to the arguments
 * in use.
 */
#include "codegen/torch/python.h"

/* Arguments by key, in any order. If all calls give one value to a FLAT
 * argument, the class contains that value. */
#define ARGUMENTS(LOOSE, FLAT) \
  LOOSE(kv_heads)              \
  LOOSE(dim)                   \
  LOOSE(vdim)                  \
  LOOSE(seen)                  \
  FLAT(bias)                   \
  FLAT(causal)                 \
  LOOSE(window)                \
  LOOSE(relative)              \
  LOOSE(shift)                 \
  FLAT(rope)                   \
  LOOSE(dropout)               \
  FLAT(out)                    \
  FLAT(scale)                  \
  FLAT(norm)                   \
  FLAT(norm_all)               \
  LOOSE(softcap)               \
  FLAT(sinks)                  \
  FLAT(talking)                \
  FLAT(gate)                   \
  FLAT(head_gate)              \
  FLAT(noqueries)              \
  FLAT(novalues)               \
  FLAT(vnorm)                  \
  FLAT(shared)                 \
  FLAT(naive)                  \
  FLAT(sbhd)                   \
  LOOSE(rotary)                \
  LOOSE(length)                \
  LOOSE(base)                  \
  LOOSE(stretch)               \
  LOOSE(trained)               \
  LOOSE(index)                 \
  LOOSE(indexdim)              \
  LOOSE(indextop)

#define ENUM(name) KEY_##name,
#define NAME(name) #name,
#define ZERO(name) 0,
#define ONE(name) 1,
enum { ARGUMENTS(ENUM, ENUM) KEYS };
static const char *const keys[] = {ARGUMENTS(NAME, NAME)};
static const bool flat[] = {ARGUMENTS(ZERO, ONE)};

/* The arguments that the calls of a class use. */
struct attention_class {
  const char *name;
  size_t calls;
  size_t given[KEYS];       /* calls with a value other than the default */
  bool varies[KEYS];        /* calls have several values */
  struct slice value[KEYS]; /* of the first call */
  size_t hides, masks;      /* calls that mask positions; that add a tensor */
  size_t fused, adds_fused; /* calls of one kernel; of those that add one */
  bool relative_fused;
  bool latent;          /* some class has latent attention */
  size_t crosses, adds; /* calls with another sequence; with `mask=` */
  bool no_output;       /* some call has no output projection */
  bool unscaled;        /* some call does not scale its scores */
};

static const char *const names[] = {
#define HELPER(id, ...) #id,
#include "codegen/torch/helpers.def"
#undef HELPER
};

const char *attention_name(enum helper class) {
  return names[class];
}

/* The calls */

static bool is_usual(const struct hole *hole) {
  return slice_is(hole->value, hole->usual);
}

static int key_of(const struct hole *hole) {
  for (int key = 0; hole->kind == HOLE_VALUE && hole->key && key < KEYS; key++)
    if (strcmp(hole->key, keys[key]) == 0)
      return key;
  return -1;
}

/* Counts the inputs of a call. */
static void note_inputs(struct attention_class *a, const struct node *node) {
  const struct arg_spec *specs = node->kind->specs;
  int mask = 0;
  while (specs[mask].name && strcmp(specs[mask].name, "mask") != 0)
    mask++;
  bool adds = node->given >> mask & 1;
  a->adds += adds;
  a->crosses += node->input_count - adds > 1;
}

/* Counts a call by the holes of its module's code. */
static void note_call(struct attention_class *a, const struct made *made) {
  bool given[KEYS] = {false};
  for (size_t i = 0; i < made->make.holes.count; i++) {
    const struct hole *hole = &made->make.holes.at[i];
    int key = key_of(hole);
    if (key < 0)
      continue;
    if (!a->calls)
      a->value[key] = hole->value;
    a->varies[key] |= !slice_equal(a->value[key], hole->value);
    given[key] = !is_usual(hole);
    a->given[key] += given[key];
    a->no_output |= key == KEY_out && slice_is(hole->value, "0");
    a->unscaled |= key == KEY_scale && slice_is(hole->value, "None");
  }
  /* Plain calls have no such hole. Without norms none is of all heads. */
  for (int key = 0; key < KEYS; key++)
    a->varies[key] |= key != KEY_norm_all && a->given[key] && !given[key];
  a->hides += given[KEY_causal] || given[KEY_window];
  a->masks += given[KEY_window] || given[KEY_relative];
  if (!given[KEY_naive]) {
    a->fused++;
    a->adds_fused += given[KEY_window] || given[KEY_relative];
    a->relative_fused |= given[KEY_relative];
  }
  a->calls++;
}

static bool has_byte(struct slice text, char byte) {
  return text.length && memchr(text.at, byte, text.length);
}

/* True if all calls give one value that is not the default. */
static bool is_always(const struct attention_class *a, int key,
                      const char *value) {
  return a->given[key] && !a->varies[key] && slice_is(a->value[key], value);
}

/* True if the argument is one of the class. */
static bool is_argument(const struct attention_class *a, int key) {
  struct slice value = a->value[key];
  bool word = key != KEY_norm || !has_byte(value, ' ');
  if (key == KEY_out) /* neither the 0 of `noout` nor the joint one's */
    return a->given[key] && !is_always(a, key, "0");
  return a->given[key] && (!flat[key] || a->varies[key] || !word);
}

/* The class of a node's module. */
static struct attention_class *class_of(const struct python *p,
                                        const struct made *made) {
  for (int i = HELPER_Attention; i < HELPER_COUNT; i++)
    if (made->helpers >> i & 1)
      return &p->attentions[i];
  return NULL;
}

/* Leaves out arguments that are not the class's. */
static void drop_arguments(const struct attention_class *a, struct made *made) {
  for (size_t i = 0; i < made->make.holes.count; i++) {
    struct hole *hole = &made->make.holes.at[i];
    int key = key_of(hole);
    if (key >= 0 && !is_argument(a, key))
      hole->value = slice_of(hole->usual);
  }
}

/* True if F.scaled_dot_product_attention computes it for some call. */
static bool is_fused(const struct attention_class *a) {
  bool masks = !a->adds || (!a->hides && !a->masks);
  return !a->unscaled && masks && !is_always(a, KEY_naive, "True") &&
         !a->given[KEY_softcap] && !a->given[KEY_sinks] &&
         !a->given[KEY_talking];
}

/* True if one mask of a window serves all calls, since none needs more. */
static bool shares_mask(const struct attention_class *a) {
  return is_fused(a) && a->given[KEY_window] && !a->given[KEY_naive] &&
         !a->given[KEY_relative];
}

void python_settle_attention(struct python *p) {
  const struct model *model = p->model;
  p->attentions = arena_alloc(p->arena, HELPER_COUNT, sizeof *p->attentions);
  for (int i = 0; i < HELPER_COUNT; i++)
    p->attentions[i].name = names[i];
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct attention_class *a = class_of(p, &p->made[i]);
    if (a && !code_is_empty(&p->made[i].make))
      note_call(a, &p->made[i]);
    if (a) /* including `again`, with another sequence */
      note_inputs(a, &model->nodes.at[i]);
  }
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct attention_class *a = class_of(p, &p->made[i]);
    if (a && !code_is_empty(&p->made[i].make))
      drop_arguments(a, &p->made[i]);
  }
  for (int i = HELPER_Attention; i < HELPER_COUNT; i++) {
    const struct attention_class *a = &p->attentions[i];
    p->helpers |= a->given[KEY_length] ? HELPER_BIT << HELPER_Rotation : 0;
    p->helpers |= a->given[KEY_kv_heads] ? HELPER_BIT << HELPER_repeated : 0;
    p->helpers |= a->given[KEY_kv_heads] && is_fused(a)
                      ? HELPER_BIT << HELPER_attend_in_groups
                      : 0;
    p->helpers |= shares_mask(a) ? HELPER_BIT << HELPER_window_mask : 0;
    p->helpers |=
        a->given[KEY_relative] ? HELPER_BIT << HELPER_relative_places : 0;
    p->helpers |= a->given[KEY_shift] ? HELPER_BIT << HELPER_other_edge : 0;
  }
}

/* Words of attention.def */

static bool is_named(const struct attention_class *a, const char *part) {
  return strstr(a->name, part) != NULL;
}

/* True if no call has a bias in the projection with that letter. */
static bool lacks_bias(const struct attention_class *a, char letter) {
  return a->given[KEY_bias] && !a->varies[KEY_bias] &&
         !has_byte(a->value[KEY_bias], letter);
}

/* True if all calls are causal without another mask. */
static bool is_simple(const struct attention_class *a) {
  return is_always(a, KEY_causal, "True") && !a->masks;
}

static bool is_described(const struct attention_class *a) {
  static const int with[] = {KEY_kv_heads, KEY_window,  KEY_relative,
                             KEY_shift,    KEY_softcap, KEY_rotary};
  for (size_t i = 0; i < sizeof with / sizeof *with; i++)
    if (a->given[with[i]])
      return true;
  return is_argument(a, KEY_bias) || is_argument(a, KEY_out) ||
         is_argument(a, KEY_scale) || is_argument(a, KEY_norm);
}

static bool holds_argument(const struct attention_class *a, int key,
                           char suffix) {
  bool given = a->given[key] > 0;
  if (key == KEY_out)
    given = is_argument(a, key);
  return suffix == '~'   ? given && a->varies[key]
         : suffix == '?' ? given && a->given[key] < a->calls
                         : given;
}

/* True if a word, without its `!`, holds for a class. */
static bool holds(const struct attention_class *a, struct slice word) {
  char suffix = word.length ? word.at[word.length - 1] : 0;
  bool joint = is_named(a, "Joint"), values = is_named(a, "Values");
  bool packed = is_named(a, "Packed"), qkv = is_named(a, "Qkv");
  bool no_out = joint || is_always(a, KEY_out, "0");
  const struct {
    const char *word;
    bool holds;
  } words[] = {
      {"joint", joint},
      {"values", values},
      {"packed", packed},
      {"qkv", qkv},
      {"plain", !packed && !qkv},
      {"split", packed || qkv},
      {"cross", a->crosses && !joint && !values},
      {"own", a->crosses < a->calls},
      {"words", is_described(a)},
      {"noout", no_out},
      {"projects", !no_out},
      {"out_zero", !no_out && a->no_output},
      {"no_q", lacks_bias(a, 'q')},
      {"no_k", lacks_bias(a, 'k')},
      {"no_v", lacks_bias(a, 'v')},
      {"no_o", lacks_bias(a, 'o')},
      {"queries", is_always(a, KEY_scale, "\"queries\"")},
      {"heads_norm", a->given[KEY_norm_all] < a->given[KEY_norm]},
      {"fused", is_fused(a)},
      {"norm_given", is_argument(a, KEY_norm)},
      {"simple", is_simple(a)},
      {"alters", (a->hides && !is_simple(a)) || a->given[KEY_relative]},
      {"hides", a->hides > 0},
      {"hides~", a->hides && a->hides < a->calls},
      {"added", a->adds > 0},
      {"added?", a->adds > 0 && a->adds < a->calls},
      {"masks", a->adds_fused > 0},
      {"masks?", a->adds_fused && a->adds_fused < a->fused},
      {"latent", a->latent},
      {"shares", shares_mask(a)},
      {"by_relative", a->relative_fused},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (slice_is(word, words[i].word))
      return words[i].holds;
  word = slice_less(word, suffix == '~' || suffix == '?');
  for (int key = 0; key < KEYS; key++)
    if (slice_is(word, keys[key]))
      return holds_argument(a, key, suffix);
  return false;
}

/* `a|!b`: true if one of them holds. */
static bool one_holds(const struct attention_class *a, struct slice words) {
  while (words.length) {
    const char *bar = memchr(words.at, '|', words.length);
    size_t length = bar ? (size_t)(bar - words.at) : words.length;
    bool not = words.at[0] == '!';
    if (holds(a, (struct slice){words.at + not, length - not }) != not )
      return true;
    length += bar != NULL;
    words = slice_from(words, length);
  }
  return false;
}

/* `a b|!c`: true if all of them hold. */
static bool all_hold(const struct attention_class *a, struct slice words) {
  while (words.length) {
    const char *blank = memchr(words.at, ' ', words.length);
    size_t length = blank ? (size_t)(blank - words.at) : words.length;
    if (!one_holds(a, (struct slice){words.at, length}))
      return false;
    length += blank != NULL;
    words = slice_from(words, length);
  }
  return true;
}

/* Text of a class */

static void put_letter(const struct attention_class *a, struct text *out,
                       char letter) {
  static const int turns[] = {KEY_base, KEY_stretch, KEY_trained};
  const char *width = a->given[KEY_dim] ? "width" : "channels";
  switch (letter) {
  case 'N': text_put(out, a->name); break;
  case 'W': text_put(out, width); break;
  case 'K': text_put(out, a->given[KEY_kv_heads] ? "kv_width" : width); break;
  case 'Q': text_puts(out, a->value[KEY_norm]); break;
  case 'C':
    text_put(out, !a->given[KEY_causal]   ? "False"
                  : a->varies[KEY_causal] ? "self.causal"
                                          : "True");
    break;
  case 'S':
    text_put(out, is_named(a, "Values")             ? "keys"
                  : a->crosses && !is_named(a, "J") ? "seen"
                                                    : "x");
    break;
  default:
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
      if (a->given[turns[i]])
        text_printf(out, ", %s", keys[turns[i]]);
  }
}

/* Writes a text up to its end or to `}`, unless `silent`; returns the end. */
static const char *put_part(const struct attention_class *a, struct text *out,
                            const char *text, bool silent) {
  for (; *text && *text != '}'; text++) {
    if (*text == '{') {
      const char *colon = strchr(text, ':');
      struct slice when = {text + 1, (size_t)(colon - text - 1)};
      text = put_part(a, out, colon + 1, silent || !all_hold(a, when));
    } else if (silent) {
      continue;
    } else if (*text == '$') {
      put_letter(a, out, *++text);
    } else {
      text_putc(out, *text);
    }
  }
  return text;
}

/* The rotations that any class uses. */
static struct attention_class all_turns(const struct python *p) {
  struct attention_class all = {.name = ""};
  for (int i = HELPER_Attention; i < HELPER_COUNT; i++)
    for (int key = 0; key < KEYS; key++)
      all.given[key] += p->attentions[i].given[key];
  all.latent = p->attentions[HELPER_LatentAttention].calls > 0;
  return all;
}

/* The lines of attention.def, in one table. */
static const struct attention_line {
  enum { LINE_CLASS, LINE_ROTATION, LINE_LATENT } of;
  const char *when, *text;
} all_lines[] = {
#define LINE(when, text) {LINE_CLASS, when, text},
#define ROTATE(when, text) {LINE_ROTATION, when, text},
#define LATENT(when, text) {LINE_LATENT, when, text},
#include "codegen/torch/attention.def"
#undef LINE
#undef ROTATE
#undef LATENT
};

static void put_lines(const struct attention_class *a, struct arena *arena,
                      struct text *out, int of) {
  text_put(out, "\n\n");
  for (size_t i = 0; i < sizeof all_lines / sizeof *all_lines; i++) {
    struct text line = text_new(arena);
    if ((int)all_lines[i].of != of || !all_hold(a, slice_of(all_lines[i].when)))
      continue;
    put_part(a, &line, all_lines[i].text, false);
    if (line.length)
      python_put_lines(out, text_slice(&line), 0);
    else
      text_putc(out, '\n');
  }
}

bool python_put_attention(const struct python *p, struct text *out,
                          enum helper helper) {
  if (helper == HELPER_Rotation) {
    struct attention_class all = all_turns(p);
    put_lines(&all, p->arena, out, LINE_ROTATION);
    return true;
  }
  if (helper < HELPER_Attention)
    return false;
  put_lines(&p->attentions[helper], p->arena, out,
            helper == HELPER_LatentAttention ? LINE_LATENT : LINE_CLASS);
  return true;
}
