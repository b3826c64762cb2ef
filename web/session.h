/* The playground's session: one net, and the bytes that a call gives. */
#ifndef NETC_WEB_SESSION_H
#define NETC_WEB_SESSION_H

#include "base/json.h"
#include "netc_edit.h"

/* A function that the page's worker calls; pointers are places in memory. */
#define WEB_EXPORT(name) __attribute__((export_name(#name)))

extern struct netc *web_net; /* NULL: memory ran out */

/* A file of that name; false: the page has none. */
bool web_find(const char *name, struct slice *text);

/* What the last call gives: read with web_out and web_length. */
bool web_put(void *user, const char *bytes, size_t length);
void web_clear(void);

/* A JSON of what a call gives; web_say_end hands it out. */
struct web_answer {
  struct arena arena;
  struct text text;
  struct json json;
};
void web_say(struct web_answer *answer, char bracket);
void web_say_end(struct web_answer *answer, char bracket);
void web_member(struct web_answer *answer, const char *key, const char *value);

#endif
