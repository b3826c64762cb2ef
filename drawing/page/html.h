/* HTML: what the parts of a page share; its style sheet and script. */
#ifndef NETC_DRAWING_PAGE_HTML_H
#define NETC_DRAWING_PAGE_HTML_H

#include <stddef.h>

#include "codegen/rows.h"

/* Lines of page.css and page.js, which the build puts in; then NULL. */
extern const char *const web_style[];
extern const char *const web_script[];

struct page_writer {
  const struct compiled *c;
  struct text *out;
};

/*
 * What others wrote, in an element or an attribute in double quotes: no
 * markup, no character that nobody sees but that reorders its neighbours.
 */
void html_put(struct page_writer *w, struct slice text);

/* A file's name as the user gave it; of a whole path, only the last part. */
void html_put_file(struct page_writer *w, struct slice name);

/* "s0L12": the id of the line of a source in which a place is. */
void html_put_line_id(struct page_writer *w, uint32_t offset);

/* html_table.c: the table of layers, and how its columns are set. */
void html_put_table_style(struct page_writer *w);
void html_put_table(struct page_writer *w);

/* html_source.c: the sources with what was said about them. */
void html_put_sources(struct page_writer *w);

#endif
