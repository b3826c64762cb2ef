/* HTML: common functions of a page's parts; its style sheet and script. */
#ifndef NETC_DRAWING_PAGE_HTML_H
#define NETC_DRAWING_PAGE_HTML_H

#include <stddef.h>

#include "codegen/rows.h"

/* Lines of page.css and page.js, which the build embeds; NULL at the end. */
extern const char *const view_style[]; /* of every page with a diagram */
extern const char *const view_script[];
extern const char *const web_style[];
extern const char *const web_script[];

struct page_writer {
  const struct compiled *c;
  struct text *out;
};

/*
 * Escapes text from outside for an element or a double-quoted attribute: no
 * markup, and no invisible characters that reorder others.
 */
void html_put(struct page_writer *w, struct slice text);

/* A file's name as the user gave it; for an absolute path only the last
 * part. */
void html_put_file(struct page_writer *w, struct slice name);

/* "s0L12": the id of the source line of an offset. */
void html_put_line_id(struct page_writer *w, uint32_t offset);

/* html_table.c: the table of layers, and styles of its columns. */
void html_put_table_style(struct page_writer *w);
void html_put_table(struct page_writer *w);

/* html_source.c: the sources with their diagnostics. */
void html_put_sources(struct page_writer *w);

#endif
