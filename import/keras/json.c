/* Parses a Keras file with jansson, and finds where its objects begin: the n-th
 * brace of the text belongs to the n-th object of the tree. */
#include <inttypes.h>
#include <string.h>

#include "import/keras/keras.h"

/* Notes each `{` outside strings; the text is valid JSON. */
static void find_braces(struct keras *k, struct slice text) {
  VEC(struct keras_place) places = {0};
  struct keras_place at = {1, 1};
  bool string = false;
  for (size_t i = 0; i < text.length; i++, at.column++) {
    char c = text.at[i];
    if (string && c == '\\') {
      i++;
      at.column++;
    } else if (c == '"') {
      string = !string;
    } else if (c == '\n') {
      at.line++;
      at.column = 0;
    } else if (c == '{' && !string) {
      *VEC_PUSH(k->graph->arena, &places) = at;
    }
  }
  k->place = places.at;
}

static struct slice address_of(const json_t *const *object) {
  return (struct slice){(const char *)object, sizeof *object};
}

/* Skips initializers, regularizers and constraints: half of a file, unused. */
static bool is_unread(const char *name) {
  static const char *const ends[] = {"_initializer", "_regularizer",
                                     "_constraint"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    size_t length = strlen(name), end = strlen(ends[i]);
    if (length > end && strcmp(name + length - end, ends[i]) == 0)
      return true;
  }
  return false;
}

static int64_t objects_in(const json_t *value) {
  int64_t count = json_is_object(value);
  const char *name;
  json_t *member;
  size_t i;
  json_object_foreach((json_t *)value, name, member) count +=
      objects_in(member);
  json_array_foreach(value, i, member) count += objects_in(member);
  return count;
}

/* Jansson keeps the order of members and limits the depth. */
static void number_objects(struct keras *k, const json_t *value,
                           int64_t *count) {
  if (json_is_object(value)) {
    const char *at =
        arena_copy(k->graph->arena, (const char *)&value, sizeof value);
    struct slice key = {at, sizeof value};
    const char *name;
    json_t *member;
    map_add(k->graph->arena, &k->order, key)->number = (*count)++;
    void *next;
    json_object_foreach_safe((json_t *)value, next, name, member) {
      if (is_unread(name)) {
        *count += objects_in(member);
        json_object_del((json_t *)value, name);
      } else {
        number_objects(k, member, count);
      }
    }
  }
  size_t i;
  json_t *item;
  json_array_foreach(value, i, item) number_objects(k, item, count);
}

struct keras_place keras_place_of(const struct keras *k, const json_t *object) {
  const struct map_entry *entry = map_find(&k->order, address_of(&object));
  return entry && !k->contained ? k->place[entry->number]
                                : (struct keras_place){0};
}

/* The reason why a text is no JSON. */
static const char *json_mistake(const json_error_t *error) {
  switch (json_error_code(error)) {
  case json_error_premature_end_of_input:
    return "it ends too early; was it cut off?";
  case json_error_duplicate_key: return "a name is repeated in an object";
  case json_error_invalid_utf8: return "a text is not UTF-8";
  case json_error_numeric_overflow: return "a number is too large";
  case json_error_stack_overflow: return "objects are nested too deeply";
  case json_error_end_of_input_expected:
    return "the file continues after its end";
  case json_error_out_of_memory: return "out of memory";
  default: return "a comma, quote or bracket is missing or one too many";
  }
}

/* A Lambda's Python code may contain NUL. A file that was encoded twice, by
 * json.dump(model.to_json(), file), is decoded twice. */
bool keras_parse(struct keras *k, struct slice file) {
  json_error_t error;
  int64_t count = 0;
  size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY;
  k->root = json_loadb(file.at, file.length, flags, &error);
  if (json_is_string(k->root)) {
    json_t *outer = k->root;
    file = (struct slice){json_string_value(outer), json_string_length(outer)};
    file.at = arena_copy(k->graph->arena, file.at, file.length);
    json_decref(outer);
    k->root = json_loadb(file.at, file.length, flags, &error);
  }
  if (!k->root)
    return keras_refuse(
        k,
        (struct keras_place){error.line > 0 ? (size_t)error.line : 1,
                             error.column > 0 ? (size_t)error.column : 1},
        "not JSON: %s", json_mistake(&error));
  find_braces(k, file);
  number_objects(k, k->root, &count);
  return true;
}

bool keras_refuse(struct keras *k, struct keras_place place, const char *format,
                  ...) {
  struct text text = text_new(k->graph->arena);
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  if (!k->graph->failed) {
    graph_fail(k->graph, place.line, "%.*s", SLICE_ARG(text));
    k->graph->error.column = place.column;
  }
  return false;
}

json_t *keras_member(const json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  const char *type = json_string_value(json_object_get(value, "class_name"));
  if (type && strcmp(type, "__tuple__") == 0)
    value = json_object_get(value, "items");
  return json_is_null(value) ? NULL : value;
}

const char *keras_string(const json_t *object, const char *key,
                         const char *usual) {
  const char *value = json_string_value(keras_member(object, key));
  return value ? value : usual;
}

bool keras_bool(const struct keras_call *call, const char *key, bool usual) {
  const json_t *value = keras_member(call->config, key);
  if (json_is_integer(value))
    return json_integer_value(value) != 0;
  return json_is_boolean(value) ? json_is_true(value) : usual;
}

bool keras_integer(struct keras_call *call, const json_t *value,
                   const char *what, int64_t least, int64_t most,
                   int64_t *result) {
  double real = json_real_value(value);
  if (json_is_integer(value))
    *result = json_integer_value(value);
  else if (json_is_real(value) && real >= -1e15 && real <= 1e15 &&
           (double)(int64_t)real >= real && (double)(int64_t)real <= real)
    *result = (int64_t)real;
  else
    return keras_fail(call, "`%s` is not an integer", what);
  if (*result < least || *result > most)
    return keras_fail(call,
                      "`%s` is %" PRId64 ", not from %" PRId64 " to %" PRId64,
                      what, *result, least, most);
  return true;
}

int64_t keras_int(struct keras_call *call, const char *key, int64_t usual,
                  int64_t least, int64_t most) {
  const json_t *value = keras_member(call->config, key);
  int64_t result = usual;
  if (!value)
    return usual;
  return keras_integer(call, value, key, least, most, &result) ? result : usual;
}

double keras_real(struct keras_call *call, const char *key, double usual) {
  const json_t *value = keras_member(call->config, key);
  if (!value)
    return usual;
  if (!json_is_number(value)) {
    keras_fail(call, "`%s` is not a number", key);
    return usual;
  }
  return json_number_value(value);
}

bool keras_ints(struct keras_call *call, const char *key, int64_t usual,
                int64_t least, int count, int64_t *values) {
  const json_t *value = keras_member(call->config, key);
  for (int i = 0; i < count; i++)
    values[i] = usual;
  if (!value)
    return true;
  if (json_is_array(value) && json_array_size(value) != (size_t)count)
    return keras_fail(call, "`%s` has %zu numbers, not %d", key,
                      json_array_size(value), count);
  for (int i = 0; i < count; i++) {
    const json_t *item =
        json_is_array(value) ? json_array_get(value, (size_t)i) : value;
    if (!keras_integer(call, item, key, least, KERAS_MOST, &values[i]))
      return false;
  }
  return true;
}
