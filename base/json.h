/* JSON: a writer that streams, so that a large report needs no memory. */
#ifndef NETC_BASE_JSON_H
#define NETC_BASE_JSON_H

#include "base/text.h"

/*
 * jansson would build every object in memory first: measured on a report of
 * a million layers (tools/bench/README.md), that is what this one avoids. The
 * tests read its output back with jansson.
 */
struct json {
  struct text *out;
  int depth;
  int inline_depth; /* containers at this depth or deeper stay on one line */
  bool first;       /* nothing yet in the current container */
  bool after_key;
};

struct json json_writer(struct text *out, int inline_depth);

void json_put_open(struct json *json, char bracket); /* '{' or '[' */
void json_put_close(struct json *json, char bracket);

/* `key` is plain ASCII of ours; the next call gives its value. */
void json_put_key(struct json *json, const char *key);

void json_put_int(struct json *json, int64_t value);
void json_put_millionths(struct json *json, int64_t value); /* 0.9 */
void json_put_real(struct json *json, double value);
void json_put_bool(struct json *json, bool value);
void json_put_null(struct json *json);
void json_put_string(struct json *json, struct slice value);
/* A number where the text is one as JSON writes them, else a string. */
void json_put_scalar(struct json *json, struct slice value);

/* Key and value at once, or its bracket. */
void json_member_open(struct json *json, const char *key, char bracket);
void json_member_int(struct json *json, const char *key, int64_t value);
/* Not at all where it is 0. */
void json_member_some(struct json *json, const char *key, int64_t value);
void json_member_bool(struct json *json, const char *key, bool value);
void json_member_string(struct json *json, const char *key, struct slice s);

#endif
