/* JSON: a streaming writer; large reports are not built in memory. */
#include "base/json.h"

#include <math.h>

#include "base/utf8.h"

struct json json_writer(struct text *out, int inline_depth) {
  return (struct json){.out = out, .inline_depth = inline_depth, .first = true};
}

static void new_line(struct json *json) {
  text_putc(json->out, '\n');
  text_fill(json->out, ' ', (size_t)json->depth);
}

/* Writes the comma or line end before a value or a key. */
static void separate(struct json *json) {
  if (json->after_key) {
    json->after_key = false;
    return;
  }
  bool inside = json->depth > 0;
  bool same_line = json->depth >= json->inline_depth;
  if (!json->first)
    text_put(json->out, same_line ? ", " : ",");
  if (inside && !same_line)
    new_line(json);
  json->first = false;
}

void json_put_open(struct json *json, char bracket) {
  separate(json);
  text_putc(json->out, bracket);
  json->depth++;
  json->first = true;
}

void json_put_close(struct json *json, char bracket) {
  bool empty = json->first;
  bool same_line = json->depth >= json->inline_depth;
  json->depth--;
  if (!empty && !same_line)
    new_line(json);
  text_putc(json->out, bracket);
  json->first = false;
}

static void put_key(struct text *out, const char *key, size_t length) {
  text_putc(out, '"');
  text_bytes(out, key, length);
  text_bytes(out, "\": ", 3);
}

/* Most of a large report are keys on one line: fast path. */
void json_put_key(struct json *json, const char *key) {
  struct text *out = json->out;
  size_t length = strlen(key);
  bool within = !json->first && json->depth >= json->inline_depth &&
                out->room - out->length > length + 6;
  if (within) {
    char *at = out->at + out->length;
    memcpy(at, ", \"", 3);
    memcpy(at + 3, key, length);
    memcpy(at + 3 + length, "\": ", 3);
    out->length += length + 6;
  } else {
    separate(json);
    put_key(out, key, length);
  }
  json->after_key = true;
}

void json_put_int(struct json *json, int64_t value) {
  separate(json);
  text_int(json->out, value);
}

void json_put_millionths(struct json *json, int64_t value) {
  separate(json);
  text_millionths(json->out, value);
}

void json_put_real(struct json *json, double value) {
  if (!isfinite(value)) {
    json_put_null(json);
    return;
  }
  separate(json);
  text_real(json->out, value);
}

void json_put_bool(struct json *json, bool value) {
  separate(json);
  text_put(json->out, value ? "true" : "false");
}

void json_put_null(struct json *json) {
  separate(json);
  text_put(json->out, "null");
}

static void escape(struct text *out, unsigned char c) {
  switch (c) {
  case '"': text_put(out, "\\\""); break;
  case '\\': text_put(out, "\\\\"); break;
  case '\n': text_put(out, "\\n"); break;
  case '\t': text_put(out, "\\t"); break;
  default: /* a control character, or not UTF-8 */
    text_printf(out, "\\u%04x", c < 0x80 ? c : 0xFFFDu);
    break;
  }
}

/*
 * True if none of eight bytes needs escaping. A byte is 0 if subtracting 1
 * borrows from its highest bit, which was not set.
 */
static bool are_plain(const char *at) {
  const uint64_t ones = UINT64_MAX / 255, high = ones << 7;
  uint64_t bytes;
  memcpy(&bytes, at, sizeof bytes);
  uint64_t quote = bytes ^ ones * '"', back = bytes ^ ones * '\\';
  uint64_t control = bytes & ones * 0xE0; /* 0 for bytes below 0x20 */
  uint64_t found = ((quote - ones) & ~quote) | ((back - ones) & ~back) |
                   ((control - ones) & ~control) | bytes;
  return !(found & high);
}

/* Number of bytes at `at` that need no escaping; 0: the first needs it. */
static size_t plain_bytes(const char *at, size_t length) {
  size_t plain = 0;
  while (length - plain >= 8 && are_plain(at + plain))
    plain += 8;
  for (; plain < length; plain++) {
    unsigned char c = (unsigned char)at[plain];
    if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
      break;
  }
  bool ascii = (unsigned char)*at < 0x80;
  return plain || ascii ? plain : utf8_length(at, length);
}

void json_put_string(struct json *json, struct slice value) {
  separate(json);
  text_putc(json->out, '"');
  size_t done = 0, i = 0;
  if (!value.at)
    value = slice_of("");
  while (i < value.length) {
    size_t plain = plain_bytes(value.at + i, value.length - i);
    if (plain) {
      i += plain;
      continue;
    }
    text_bytes(json->out, value.at + done, i - done);
    escape(json->out, (unsigned char)value.at[i]);
    done = ++i;
  }
  text_bytes(json->out, value.at + done, value.length - done);
  text_putc(json->out, '"');
}

static size_t digits(struct slice value, size_t from) {
  size_t i = from;
  while (i < value.length && value.at[i] >= '0' && value.at[i] <= '9')
    i++;
  return i - from;
}

/* -12 or 0.75; no leading zeros, no exponents. */
static bool is_number(struct slice value) {
  size_t at = value.length && *value.at == '-';
  size_t whole = digits(value, at);
  if (whole == 0 || (whole > 1 && value.at[at] == '0'))
    return false;
  at += whole;
  if (at == value.length)
    return true;
  size_t fraction = value.at[at] == '.' ? digits(value, at + 1) : 0;
  return fraction > 0 && at + 1 + fraction == value.length;
}

void json_put_scalar(struct json *json, struct slice value) {
  if (!is_number(value)) {
    json_put_string(json, value);
    return;
  }
  separate(json);
  text_puts(json->out, value);
}

void json_member_open(struct json *json, const char *key, char bracket) {
  json_put_key(json, key);
  json_put_open(json, bracket);
}

void json_member_int(struct json *json, const char *key, int64_t value) {
  json_put_key(json, key);
  json->after_key = false;
  text_int(json->out, value);
}

void json_member_known(struct json *json, const char *key, double value) {
  json_put_key(json, key);
  if (value > 0)
    json_put_real(json, value);
  else
    json_put_null(json);
}

void json_member_some(struct json *json, const char *key, int64_t value) {
  if (value)
    json_member_int(json, key, value);
}

void json_member_bool(struct json *json, const char *key, bool value) {
  json_put_key(json, key);
  json_put_bool(json, value);
}

void json_member_string(struct json *json, const char *key, struct slice s) {
  json_put_key(json, key);
  json_put_string(json, s);
}
