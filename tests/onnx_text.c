/* Models of ONNX from lines of text: put together byte by byte. */
#define _XOPEN_SOURCE 700
#include "tests/onnx_text.h"

#include <ctype.h>

/* Messages of protobuf. */
struct bytes {
  unsigned char at[32768];
  size_t length;
};

static void put(struct bytes *to, const void *at, size_t length) {
  assert_in_range(to->length + length, 0, sizeof to->at);
  memcpy(to->at + to->length, at, length);
  to->length += length;
}

static void put_varint(struct bytes *to, uint64_t value) {
  for (; value > 127; value >>= 7)
    put(to, &(unsigned char){(unsigned char)(value | 128)}, 1);
  put(to, &(unsigned char){(unsigned char)value}, 1);
}

static void put_int(struct bytes *to, unsigned field, int64_t value) {
  put_varint(to, field << 3);
  put_varint(to, (uint64_t)value);
}

static void put_field(struct bytes *to, unsigned field, const void *at,
                      size_t length) {
  put_varint(to, field << 3 | 2);
  put_varint(to, length);
  put(to, at, length);
}

static void put_text(struct bytes *to, unsigned field, const char *text) {
  put_field(to, field, text, strlen(text));
}

static void put_message(struct bytes *to, unsigned field,
                        const struct bytes *message) {
  put_field(to, field, message->at, message->length);
}

/* The type of a constant, by the numbers of onnx.proto. */
static int type_of(char letter) {
  static const char letters[] = "fwrhdinb";
  static const int types[] = {1, 1, 1, 10, 11, 7, 6, 9};
  const char *at = strchr(letters, letter);
  assert_non_null(at);
  return types[at - letters];
}

/* A value in raw_data; halves of small whole numbers and 0.5. */
static void put_value(struct bytes *data, int type, double value) {
  uint16_t half = (uint16_t)(value < 0 ? 1U << 15 : 0);
  int exponent = 15;
  double rest = value < 0 ? -value : value;
  for (; rest >= 2; rest /= 2)
    exponent++;
  for (; rest > 0 && rest < 1; rest *= 2)
    exponent--;
  if (rest > 0)
    half |=
        (uint16_t)((unsigned)exponent << 10 | (unsigned)((rest - 1) * 1024));
  switch (type) {
  case 1: put(data, &(float){(float)value}, 4); break;
  case 6: put(data, &(int32_t){(int32_t)value}, 4); break;
  case 7: put(data, &(int64_t){(int64_t)value}, 8); break;
  case 9: put(data, &(uint8_t){value != 0}, 1); break;
  case 10: put(data, &half, 2); break;
  default: put(data, &value, 8);
  }
}

/* TensorProto: dims, data_type, name and raw_data. */
static void put_tensor(struct bytes *to, unsigned field, const char *name,
                       const char *text) {
  struct bytes *tensor = calloc(2, sizeof *tensor), *data = tensor + 1;
  int type = type_of(*text);
  const char *at = text + 1;
  int64_t count = 0;
  assert_non_null(tensor);
  if (*text == 'w' || *text == 'r') {
    for (count = 1; *at; at += *at == 'x') {
      int64_t size = strtoll(at, (char **)&at, 10);
      put_int(tensor, 1, size);
      count *= size;
    }
    for (int64_t i = 0; i < count; i++)
      put_value(data, type, *text == 'w' ? 0 : (double)i);
  } else {
    for (; *at; count++, at += *at == ',')
      put_value(data, type, strtod(at, (char **)&at));
    if (count != 1 || *text == 'i' || at[-1] == ',')
      put_int(tensor, 1, count);
  }
  put_int(tensor, 2, type);
  put_text(tensor, 8, name);
  put_message(tensor, 9, data);
  put_message(to, field, tensor);
  free(tensor);
}

static void put_attribute(struct bytes *node, char *text) {
  struct bytes attribute = {.length = 0};
  char *value = strchr(text, '=');
  *value++ = '\0';
  put_text(&attribute, 1, text);
  if (*value == '\'') {
    put_field(&attribute, 4, value + 1, strlen(value) - 2);
    put_int(&attribute, 20, 3);
  } else if (*value == '#') {
    put_tensor(&attribute, 5, "", value + 1);
    put_int(&attribute, 20, 4);
  } else if (strchr(value, ',')) {
    bool real = strchr(value, '.');
    for (; *value; value += *value == ',')
      if (real)
        put_varint(&attribute, 7 << 3 | 5),
            put(&attribute, &(float){strtof(value, &value)}, sizeof(float));
      else
        put_int(&attribute, 8, strtoll(value, &value, 10));
    put_int(&attribute, 20, real ? 6 : 7);
  } else if (strchr(value, '.')) {
    put_varint(&attribute, 2 << 3 | 5);
    put(&attribute, &(float){strtof(value, NULL)}, sizeof(float));
    put_int(&attribute, 20, 1);
  } else {
    put_int(&attribute, 3, strtoll(value, NULL, 10));
    put_int(&attribute, 20, 2);
  }
  put_message(node, 5, &attribute);
}

/* ValueInfoProto: a name and, where it is an input, a type. */
static void put_info(struct bytes *graph, unsigned field, const char *name,
                     const char *sizes) {
  struct bytes shape = {.length = 0}, tensor = shape, type = shape,
               info = shape;
  put_text(&info, 1, name);
  for (; sizes && *sizes && *sizes != '@'; sizes += *sizes == 'x') {
    struct bytes dim = {.length = 0};
    put_int(&dim, 1, strtoll(sizes, (char **)&sizes, 10));
    put_message(&shape, 1, &dim);
  }
  if (sizes) {
    put_int(&tensor, 1, 1);
    put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_message(&info, 2, &type);
  }
  put_message(graph, field, &info);
}

/* A constant: a letter of its kind, then numbers. */
static bool is_constant(const char *word) {
  return strchr("fwrhdinb", *word) && (word[1] == '-' || isdigit(word[1]));
}

/* A line of the text; the results of the `last` are outputs. */
static void put_node(struct bytes *graph, char *text, int number, bool last) {
  struct bytes node = {.length = 0};
  char *rest, name[32], *word = strtok_r(text, " \n", &rest);
  int count = 0;
  for (; strcmp(word, "=") != 0; word = strtok_r(NULL, " \n", &rest)) {
    put_text(&node, 2, strcmp(word, "-") == 0 ? "" : word);
    if (count++ == 0)
      put_text(&node, 3, word);
    if (last && strcmp(word, "-") != 0)
      put_info(graph, 12, word, NULL);
  }
  word = strtok_r(NULL, " \n", &rest);
  if (strncmp(word, "ms.", 3) == 0) {
    put_text(&node, 7, "com.microsoft");
    word += 3;
  }
  put_text(&node, 4, word);
  count = 0;
  while ((word = strtok_r(NULL, " \n", &rest))) {
    if (strchr(word, '=')) {
      put_attribute(&node, word);
      continue;
    }
    snprintf(name, sizeof name, number ? "w%d_%d" : "w%d%.0d", count++, number);
    if (is_constant(word))
      put_tensor(graph, 5, name, word);
    if (*word == 'p' && isdigit(word[1])) {
      char *sizes = strtok(word + 1, ":");
      word = strtok(NULL, ":");
      put_info(graph, 11, word, sizes);
    }
    put_text(&node, 1, *word == '-' ? "" : is_constant(word) ? name : word);
  }
  put_message(graph, 1, &node);
}

void write_onnx_text(const char *path, const char *lines) {
  struct bytes *m = calloc(3, sizeof *m), *graph = m + 1, *opset = m + 2;
  char *text = strdup(lines), *rest = text, *node, *next;
  const char *shape = "1x8x6x10";
  int number = 0;
  assert_non_null(m);
  node = strtok_r(text, "\n", &rest);
  if (node && strncmp(node, "shape ", 6) == 0) {
    shape = node + 6;
    node = strtok_r(NULL, "\n", &rest);
  }
  const char *at = strchr(shape, '@');
  put_info(graph, 11, "x", shape);
  for (; node; node = next) {
    next = strtok_r(NULL, "\n", &rest);
    put_node(graph, node, number++, !next);
  }
  put_text(graph, 2, "g");
  put_int(opset, 2, at ? strtoll(at + 1, NULL, 10) : 17);
  put_int(m, 1, 8);
  put_message(m, 8, opset);
  put_message(m, 7, graph);
  write_text(path, (const char *)m->at, m->length);
  free(text);
  free(m);
}
