/* Sections of the report from other directories, listed in sections.def. */
#ifndef NETC_CODEGEN_SECTION_H
#define NETC_CODEGEN_SECTION_H

#include "codegen/json_writer.h"

struct report_section {
  void (*text)(const struct compiled *c, struct text *out);
  void (*json)(struct json_writer *w); /* writes a member of the report */
  void (*markdown)(const struct compiled *c, struct text *out); /* or NULL */
};

#define SECTION(name) extern const struct report_section name;
#include "codegen/sections.def"

#endif
