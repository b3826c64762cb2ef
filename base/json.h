/* JSON: a streaming writer; large reports are not built in memory. */
#ifndef NETC_BASE_JSON_H
#define NETC_BASE_JSON_H

#include "base/text.h"

/*
 * jansson would build every object in memory first (measured on a report of a
 * million layers: tools/bench/README.md). Tests read the output with jansson.
 */
struct json {
  struct text *out;
  int depth;
  int inline_depth; /* containers at this depth or deeper stay on one line */
  bool first;       /* the current container is empty */
  bool after_key;
};

struct json json_writer(struct text *out, int inline_depth);

void json_put_open(struct json *json, char bracket); /* '{' or '[' */
void json_put_close(struct json *json, char bracket);

/* `key` needs no escaping; the next call writes its value. */
void json_put_key(struct json *json, const char *key);

void json_put_int(struct json *json, int64_t value);
void json_put_millionths(struct json *json, int64_t value); /* 0.9 */
void json_put_real(struct json *json, double value);
void json_put_bool(struct json *json, bool value);
void json_put_null(struct json *json);
void json_put_string(struct json *json, struct slice value);
/* A number if the text is a JSON number, else a string. */
void json_put_scalar(struct json *json, struct slice value);

/* A key with its value or its opening bracket. */
void json_member_open(struct json *json, const char *key, char bracket);
void json_member_int(struct json *json, const char *key, int64_t value);
/* null, unless it is above 0 */
void json_member_known(struct json *json, const char *key, double value);
/* Omitted if 0. */
void json_member_some(struct json *json, const char *key, int64_t value);
void json_member_bool(struct json *json, const char *key, bool value);
void json_member_string(struct json *json, const char *key, struct slice s);

#endif
