/*
 * Reports as tests read them: nets are compiled by the library with settings
 * written as on a command line, numbers are found in the JSON.
 */
#ifndef NETC_TESTS_REPORT_H
#define NETC_TESTS_REPORT_H

#include <jansson.h>

#include "tests/nets.h"

struct buffer {
  char *at;
  size_t length;
};

static inline bool collect(void *user, const char *bytes, size_t length) {
  struct buffer *buffer = user;
  buffer->at = realloc(buffer->at, buffer->length + length + 1);
  assert_non_null(buffer->at);
  memcpy(buffer->at + buffer->length, bytes, length);
  buffer->length += length;
  buffer->at[buffer->length] = '\0';
  return true;
}

/* "batch=8 profile=torch1-cpu": settings; "-Ddepth=18": a `param`. */
static inline void choose(struct netc *netc, const char *options) {
  char text[256];
  snprintf(text, sizeof text, "%s", options);
  for (char *word = text; *(word += strspn(word, " "));) {
    char *value = strchr(word, '='), *next;
    assert_non_null(value);
    *value++ = '\0';
    bool quoted = *value == '\''; /* cache='q8_0 q4_0' */
    value += quoted;
    next = value + strcspn(value, quoted ? "'" : " ");
    bool last = !*next;
    *next = '\0';
    enum netc_status status = strncmp(word, "-D", 2) == 0
                                  ? netc_define(netc, word + 2, value)
                                  : netc_set(netc, word, value);
    if (status != NETC_OK)
      print_error("%s=%s: %s\n", word, value, netc_message(netc));
    assert_int_equal(status, NETC_OK);
    word = next + !last;
  }
}

static inline json_t *report_of(struct netc *netc, enum netc_status loaded,
                                bool predict) {
  struct buffer out = {0};
  struct netc_options options = {
      .size = sizeof options, .timeline = true, .predict = predict};
  assert_int_equal(show_errors(netc, loaded), NETC_OK);
  assert_int_equal(netc_emit(netc, "json", &options, collect, &out), NETC_OK);
  json_t *json = json_loads(out.at, 0, NULL);
  assert_non_null(json);
  free(out.at);
  netc_close(netc);
  return json;
}

static inline json_t *report(struct netc *netc, enum netc_status loaded) {
  return report_of(netc, loaded, false);
}

static inline json_t *compile(const char *net, const char *options) {
  struct netc *netc = netc_open(NULL, NULL);
  choose(netc, options);
  return report(netc, netc_load_text(netc, "test.net", net, strlen(net)));
}

/* Asked about a prediction, or what is served. */
static inline json_t *predict(const char *net, const char *options) {
  struct netc *netc = netc_open(NULL, NULL);
  choose(netc, options);
  return report_of(netc, netc_load_text(netc, "test.net", net, strlen(net)),
                   true);
}

static inline json_t *compile_file(const char *path, const char *options) {
  struct netc *netc = netc_open(NULL, NULL);
  choose(netc, options);
  return report(netc, netc_load_file(netc, path));
}

static inline json_t *predict_file(const char *path, const char *options) {
  struct netc *netc = netc_open(NULL, NULL);
  choose(netc, options);
  return report_of(netc, netc_load_file(netc, path), true);
}

/* "training.parallel.stages.0.peak_bytes" */
static inline json_t *find(json_t *json, const char *path) {
  char text[256];
  snprintf(text, sizeof text, "%s", path);
  for (char *word = strtok(text, "."); word && json; word = strtok(NULL, "."))
    json = json_is_array(json) ? json_array_get(json, (size_t)atol(word))
                               : json_object_get(json, word);
  return json;
}

static inline int64_t number(json_t *json, const char *path) {
  json_t *at = find(json, path);
  if (!json_is_integer(at))
    print_error("no number at %s\n", path);
  assert_true(json_is_integer(at));
  return json_integer_value(at);
}

static inline int64_t training(json_t *json, const char *name) {
  return number(json_object_get(json, "training"), name);
}

static inline int64_t inference(json_t *json, const char *name) {
  return number(json_object_get(json, "inference"), name);
}

/* One number of a block of a report, which is then freed. */
static inline int64_t
take(json_t *json, int64_t (*block)(json_t *, const char *), const char *name) {
  int64_t result = block(json, name);
  json_decref(json);
  return result;
}

/* One number of a training step. */
static inline int64_t ask(const char *net, const char *options,
                          const char *name) {
  return take(compile(net, options), training, name);
}

static inline int64_t ask_file(const char *path, const char *options,
                               const char *name) {
  return take(compile_file(path, options), training, name);
}

#define CPU " profile=torch1-cpu"

#endif
