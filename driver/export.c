/* Table of the outputs that the program makes. */
#include "driver/export.h"

#include <string.h>

static const struct export_kind kinds[] = {
    {"onnx", "a model for other tools", export_onnx},
};

const struct export_kind *export_at(size_t index) {
  return index < sizeof kinds / sizeof *kinds ? &kinds[index] : NULL;
}

const struct export_kind *export_find(const char *name) {
  for (size_t i = 0; export_at(i); i++)
    if (strcmp(kinds[i].name, name) == 0)
      return &kinds[i];
  return NULL;
}
