/* All places of a name, in every open document. */
#ifndef NETC_DRIVER_LSP_MENTIONS_H
#define NETC_DRIVER_LSP_MENTIONS_H

#include "driver/lsp/document.h"

struct lsp_mention {
  struct netc_place place;
  struct lsp_document *document; /* whose net contains it */
};

struct lsp_mentions {
  struct lsp_mention *at; /* the definition first */
  size_t count;
};

void mentions_find(struct lsp_document *document, const struct netc_name *name,
                   struct lsp_mentions *mentions);

/* True if nets do not change with another word there: no new errors, and every
 * name still has its uses. */
bool mentions_may_become(const struct lsp_mentions *mentions,
                         struct lsp_document *document, const char *word,
                         struct lsp_error *error);

void mentions_free(struct lsp_mentions *mentions);

#endif
