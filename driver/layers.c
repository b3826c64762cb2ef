/* netc layers: the layers and their options, from the binder's own rows. */
#include <inttypes.h>
#include <string.h>

#include "base/suggest.h"
#include "driver/command.h"
#include "layers/layer.h"

static const char *type_word(enum arg_type type) {
  switch (type) {
  case TYPE_INT: return "N";
  case TYPE_REAL: return "X";
  case TYPE_SIZES: return "SIZE";
  case TYPE_PADDING: return "SIZE";
  case TYPE_SHAPE: return "SIZES";
  case TYPE_RANGE: return "A:B";
  case TYPE_AXIS: return "AXIS";
  case TYPE_AXES: return "AXES";
  case TYPE_LAYER:
  case TYPE_INPUT: return "LABEL";
  default: return "WORD";
  }
}

/* conv CHANNELS KERNEL [/STRIDE] [pad=SIZE] ... */
static void put_usage(FILE *out, const struct layer_kind *kind) {
  fputs(kind->name, out);
  if (kind->join)
    fputs(" OPERAND...", out);
  for (const struct arg_spec *s = kind->specs; s && s->name; s++) {
    fputs(s->required ? " " : " [", out);
    if (s->place == PLACE_STRIDE)
      fputc('/', out);
    if (s->place == PLACE_KEY)
      fprintf(out, "%s=%s", s->name, type_word(s->type));
    else if (s->place == PLACE_WORD)
      for (int i = 1; word_at(s->words, i).length; i++)
        fprintf(out, "%s%.*s", i > 1 ? "|" : "",
                SLICE_ARG(word_at(s->words, i)));
    else
      for (const char *c = s->name; *c; c++)
        fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, out);
    if (!s->required)
      fputc(']', out);
  }
}

static void put_row(FILE *out, const struct arg_spec *s, const char *format) {
  char what[64];
  if (s->place == PLACE_STRIDE)
    snprintf(what, sizeof what, "/%s", s->name);
  else if (s->place == PLACE_WORD)
    snprintf(what, sizeof what, "%s", s->words);
  else
    snprintf(what, sizeof what, "%s", s->name);
  fprintf(out, format, what, s->doc, s->fallback ? s->fallback : "");
}

static void put_layer(FILE *out, const struct layer_kind *kind) {
  fprintf(out, "%s: %s\n\n  ", kind->name, kind->summary);
  put_usage(out, kind);
  fputs("\n\n", out);
  for (const struct arg_spec *s = kind->specs; s && s->name; s++) {
    put_row(out, s, s->fallback ? "  %-18s %s (%s)\n" : "  %-18s %s%s\n");
  }
}

static void put_list(FILE *out) {
  const char *family = "";
  for (size_t i = 0; i < layer_kind_count(); i++) {
    const struct layer_kind *kind = layer_kind_at(i);
    if (strcmp(kind->family, family) != 0)
      fprintf(out, "%s%s\n", i ? "\n" : "", kind->family);
    family = kind->family;
    fprintf(out, "  %-14s %s\n", kind->name, kind->summary);
  }
  fputs("\nnetc layers NAME shows the options of a layer.\n", out);
}

/* docs/layers.md */
static void put_manual(FILE *out) {
  const char *family = "";
  fputs("# Layers\n\nMade by `netc layers --markdown` from the rows that the "
        "compiler binds arguments\nwith. Positions are written in this order; "
        "options follow by name.\n",
        out);
  for (size_t i = 0; i < layer_kind_count(); i++) {
    const struct layer_kind *kind = layer_kind_at(i);
    if (strcmp(kind->family, family) != 0)
      fprintf(out, "\n## %s\n", kind->family);
    family = kind->family;
    fprintf(out, "\n### %s\n\n%s\n\n```\n", kind->name, kind->summary);
    put_usage(out, kind);
    fputs("\n```\n", out);
    if (!kind->specs)
      continue;
    fputs("\n| argument | meaning | default |\n|---|---|---|\n", out);
    for (const struct arg_spec *s = kind->specs; s->name; s++)
      put_row(out, s, "| `%s` | %s | %s |\n");
  }
}

int command_layers(int argc, char **argv) {
  if (argc == 1) {
    put_list(stdout);
  } else if (argc == 2 && strcmp(argv[1], "--markdown") == 0) {
    put_manual(stdout);
  } else {
    for (int i = 1; i < argc; i++) {
      const struct layer_kind *kind = layer_kind_find(slice_of(argv[i]));
      struct suggestion s = suggest_begin(slice_of(argv[i]));
      for (size_t k = 0; k < layer_kind_count(); k++)
        suggest_offer(&s, slice_of(layer_kind_at(k)->name));
      if (!kind && s.best.at)
        return complain(EXIT_USAGE,
                        "there is no layer `%s`; did you mean `%.*s`?", argv[i],
                        SLICE_ARG(s.best));
      if (!kind)
        return complain(EXIT_USAGE, "there is no layer `%s`", argv[i]);
      if (i > 1)
        putchar('\n');
      put_layer(stdout, kind);
    }
  }
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_IO;
}
