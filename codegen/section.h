/* Sections of the report that other rooms make: sections.def lists them. */
#ifndef NETC_CODEGEN_SECTION_H
#define NETC_CODEGEN_SECTION_H

#include "codegen/json_writer.h"

enum verdict { VERDICT_NONE, VERDICT_FITS, VERDICT_TOO_MUCH };

struct report_section {
  /* The verdict on a device; VERDICT_NONE if the section has nothing to say. */
  enum verdict (*verdict)(const struct compiled *c, struct text *out);
  void (*text)(const struct compiled *c, struct text *out);
  void (*json)(struct json_writer *w); /* a member of the report */
};

#define SECTION(name) extern const struct report_section name;
#include "codegen/sections.def"

#endif
