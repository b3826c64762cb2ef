/* The table of readers. Readers do not use it. */
#include "import/reader.h"

#define READ(constant, reader, ...) import_read_fn reader;
#define TOLD(...)
#include "import/kinds.def"
#undef READ
#define TYPES(name, list) import_type_fn list;
#include "import/types.def"
#undef TYPES

static const struct import_reader readers[] = {
#define READ(constant, reader, label, ...) {label, reader, KIND_##constant},
#include "import/kinds.def"
#undef READ
#undef TOLD
};

size_t import_reader_count(void) {
  return sizeof readers / sizeof *readers;
}

const struct import_reader *import_reader_at(size_t index) {
  return &readers[index];
}

const struct import_reader *import_reader_of(enum file_kind_id kind) {
  for (size_t i = 0; i < import_reader_count(); i++)
    if (readers[i].kind == kind)
      return &readers[i];
  return NULL;
}

static void put_type(struct text *out, const char *format,
                     const struct import_type *type) {
  text_printf(out, "%s\t%s\t", format, type->name);
  for (int i = 0; i < IMPORT_WORDS && type->words[i]; i++)
    text_printf(out, "%s%s", i ? " " : "", word_name(type->words[i]));
  text_putc(out, '\n');
}

void import_types(struct graph *graph, struct text *out) {
  static const struct {
    const char *name;
    import_type_fn *list;
  } formats[] = {
#define TYPES(name, list) {name, list},
#include "import/types.def"
#undef TYPES
  };
  struct import_type type;
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
    for (size_t i = 0; formats[f].list(graph, i, &type); i++)
      put_type(out, formats[f].name, &type);
}
