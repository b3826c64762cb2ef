/* Recognises a file's kind by its first bytes, with the rows of kinds.def. */
#define _GNU_SOURCE /* memmem */
#include "import/kinds.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Tests for rows that need more than a word. */

static bool has_prefix(struct slice text, const char *prefix) {
  size_t length = strlen(prefix);
  return text.length >= length && memcmp(text.at, prefix, length) == 0;
}

static bool has_word(struct slice text, const char *word, size_t length) {
  return memmem(text.at, text.length, word, length) != NULL;
}

static struct slice without_blanks(struct slice text) {
  while (text.length && strchr(" \t\r\n\f\v", *text.at))
    text = slice_from(text, *text.at ? 1 : text.length);
  return text;
}

/* Takes the next line, without surrounding blanks; false at the end. */
static bool next_line(struct slice *text, struct slice *line) {
  if (text->length == 0)
    return false;
  const char *end = memchr(text->at, '\n', text->length);
  size_t length = end ? (size_t)(end - text->at) : text->length;
  *line = (struct slice){text->at, length};
  *text = slice_from(*text, length + 1);
  while (line->length && (*line->at == ' ' || *line->at == '\t'))
    *line = slice_from(*line, 1);
  while (line->length && strchr(" \t\r", line->at[line->length - 1]))
    line->length--;
  return true;
}

static bool kind_none(struct slice head) {
  (void)head;
  return false;
}

static bool kind_utf16(struct slice head) {
  return has_prefix(head, "\xff\xfe") || has_prefix(head, "\xfe\xff");
}

static unsigned byte_at(struct slice head, size_t at) {
  return at < head.length ? (unsigned char)head.at[at] : 0;
}

/* An 8-byte size, then JSON of that size. */
static bool kind_safetensors(struct slice head) {
  return head.length > 9 && byte_at(head, 8) == '{' &&
         byte_at(head, 4) + byte_at(head, 5) + byte_at(head, 6) +
                 byte_at(head, 7) ==
             0 &&
         strchr(" \"}\n\t", head.at[9]);
}

static bool kind_pickle(struct slice head) {
  return byte_at(head, 0) == 0x80 && byte_at(head, 1) >= 2 &&
         byte_at(head, 1) <= 5 &&
         memchr("}c]\x95(\x8a\x8c", (int)byte_at(head, 2), 7);
}

/* The length of a protobuf varint in bytes. */
static size_t varint_length(struct slice head, size_t at) {
  size_t length = 1;
  while (byte_at(head, at) & 0x80 && length < 10)
    at++, length++;
  return length;
}

/* The offset of the content of a field with this tag, which begins with a tag
 * or a text; 0 if it is another. */
static size_t field_at(struct slice head, size_t at, unsigned tag) {
  if (byte_at(head, at) != tag || byte_at(head, at + 1) == 0)
    return 0;
  return at + 1 + varint_length(head, at + 1);
}

static bool is_name_at(struct slice head, size_t at) {
  return isalnum((int)byte_at(head, at)) && isprint((int)byte_at(head, at + 1));
}

/* SavedModel { schema version 1; MetaGraphDef { MetaInfoDef {. */
static bool kind_saved_model(struct slice head) {
  size_t meta = has_prefix(head, "\x08\x01") ? field_at(head, 2, 0x12) : 0;
  return meta && byte_at(head, meta) == 0x0a;
}

/* GraphDef { NodeDef { its name, then its operation. */
static bool kind_frozen_graph(struct slice head) {
  size_t node = field_at(head, 0, 0x0a);
  size_t name = node ? field_at(head, node, 0x0a) : 0;
  return name && is_name_at(head, name) && memchr(head.at, 0x12, head.length);
}

/*
 * NetDef { its name; OperatorDef { inputs and outputs, a name, a type as text.
 * A layer of Caffe's has another field first, and a number as its type.
 */
static bool kind_caffe2(struct slice head) {
  size_t at = field_at(head, 0, 0x0a);
  at = at == 2 && is_name_at(head, at) ? at + byte_at(head, 1) : at;
  size_t op = field_at(head, at, 0x12);
  for (at = op; at && (byte_at(head, at) == 0x0a || byte_at(head, at) == 0x12);)
    at += 2 + byte_at(head, at + 1);
  if (at > op && byte_at(head, at) == 0x1a)
    at += 2 + byte_at(head, at + 1);
  return op && at > op && byte_at(head, at) == 0x22 &&
         isupper((int)byte_at(head, at + 2));
}

/* Model { specification version; ModelDescription { FeatureDescription {. */
static bool kind_coreml(struct slice head) {
  size_t at = field_at(head, 2, 0x12);
  return byte_at(head, 0) == 8 && byte_at(head, 1) >= 2 &&
         byte_at(head, 1) < 32 && at && byte_at(head, at) == 0x0a;
}

/* NetParameter { a name, then field 100 or 2 (layers) or 3 (an input); without
 * a name, a layer's name. */
static bool kind_caffemodel(struct slice head) {
  size_t at = field_at(head, 0, 0x0a), end = at + byte_at(head, 1);
  if (has_prefix(head, "\xa2\x06"))
    return byte_at(head, 2 + varint_length(head, 2)) == 0x0a;
  return at == 2 && is_name_at(head, at) &&
         (byte_at(head, end) == 0x12 || byte_at(head, end) == 0x1a ||
          (byte_at(head, end) == 0xa2 && byte_at(head, end + 1) == 6));
}

/* A small ir_version, then a text or message. */
static bool kind_onnx(struct slice head) {
  return head.length > 8 && byte_at(head, 0) == 8 && byte_at(head, 1) >= 3 &&
         byte_at(head, 1) < 32 && (byte_at(head, 2) & 7) == 2;
}

/* Tests the first line that is neither empty nor a comment. */
static bool kind_darknet(struct slice head) {
  struct slice line;
  while (next_line(&head, &line))
    if (line.length && !strchr("#;", *line.at))
      return slice_is(line, "[net]") || slice_is(line, "[network]");
  return false;
}

/* The columns that `netc plan` needs, in any order. */
static bool kind_buffers(struct slice head) {
  static const char *const columns[] = {"id", "lower", "upper", "size"};
  struct slice line, rest;
  size_t found = 0;
  do
    if (!next_line(&head, &line))
      return false;
  while (!line.length || *line.at == '#');
  for (rest = line; rest.length;) {
    const char *comma = memchr(rest.at, ',', rest.length);
    size_t length = comma ? (size_t)(comma - rest.at) : rest.length;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
      found += slice_is((struct slice){rest.at, length}, columns[i]);
    rest = slice_from(rest, length + 1);
  }
  return found == sizeof columns / sizeof *columns;
}

/* `layer {` or `layers{` at the start of a line. */
static bool kind_caffe(struct slice head) {
  struct slice line;
  for (const char *at = head.at; next_line(&head, &line); at = head.at) {
    if (line.at != at || !has_prefix(line, "layer"))
      continue;
    line = slice_from(line, 5 + (byte_at(line, 5) == 's'));
    while (line.length && *line.at == ' ')
      line = slice_from(line, 1);
    if (has_prefix(line, "{"))
      return true;
  }
  return false;
}

/* True if a line belongs to SolverParameter and none to a net. */
static bool kind_solver(struct slice head) {
  static const char *const fields[] = {
      "base_lr:",   "lr_policy:", "max_iter:",
      "train_net:", "test_iter:", "solver_mode:"};
  struct slice line;
  while (next_line(&head, &line))
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
      if (has_prefix(line, fields[i]))
        return true;
  return false;
}

static struct slice name_of(struct slice text) {
  size_t length = 0;
  while (length < text.length &&
         (isalnum((unsigned char)text.at[length]) || text.at[length] == '_'))
    length++;
  return (struct slice){text.at, length};
}

/* The module that a line imports: `import torch.nn as nn`, `from torch import
 * nn`; empty if it imports none. netc has a `from`, too. */
static struct slice imported_by(struct slice line) {
  if (has_prefix(line, "import ") && !memchr(line.at, '"', line.length))
    return name_of(slice_from(line, 7));
  if (has_prefix(line, "from ") && has_word(line, " import ", 8))
    return name_of(slice_from(line, 5));
  return slice_from(line, line.length);
}

static bool imports(struct slice head, const char *const *names) {
  struct slice line;
  while (next_line(&head, &line)) {
    struct slice name = imported_by(line);
    for (size_t i = 0; name.length && names[i]; i++)
      if (slice_is(name, names[i]))
        return true;
  }
  return false;
}

/* A class of modules, or an import of a file beside: other files of the
 * program import torch. */
static bool is_part_of_program(struct slice head) {
  struct slice line;
  while (next_line(&head, &line))
    if ((has_prefix(line, "class ") && has_word(line, "Module)", 7)) ||
        (has_prefix(line, "from .") && has_word(line, " import ", 8)))
      return true;
  return false;
}

static bool kind_torch_source(struct slice head) {
  static const char *const names[] = {
      "torch", "torchvision",  "pytorch_lightning", "lightning",
      "timm",  "transformers", "ultralytics",       NULL};
  return imports(head, names) || is_part_of_program(head);
}

static bool kind_keras_source(struct slice head) {
  static const char *const names[] = {"keras", "tensorflow", "tf_keras", NULL};
  return imports(head, names) && !kind_torch_source(head);
}

static bool kind_python(struct slice head) {
  struct slice line;
  while (next_line(&head, &line))
    if (imported_by(line).length)
      return true;
  return false;
}

/* "Net(", then "  (conv1): Conv2d(3, 64, ...". */
static bool kind_printed(struct slice head) {
  struct slice line, rest = without_blanks(head);
  rest = slice_from(rest, name_of(rest).length);
  if (!has_prefix(rest, "(\n") && !has_prefix(rest, "(\r"))
    return false;
  while (next_line(&head, &line)) {
    rest = slice_from(line, 1);
    while (rest.length && (name_of(rest).length || *rest.at == '.'))
      rest = slice_from(rest, 1);
    if (has_prefix(line, "(") && has_prefix(rest, "): ") &&
        isupper((int)byte_at(rest, 3)))
      return true;
  }
  return false;
}

/* "backbone:", then "  - [-1, 1, Conv, [64, 3, 2]]" or a list of such lists. */
static bool kind_yolo(struct slice head) {
  struct slice line;
  bool backbone = false;
  while (next_line(&head, &line)) {
    if (backbone && (has_prefix(line, "- [") || has_prefix(line, "[[")))
      return true;
    backbone = backbone || slice_is(line, "backbone:");
  }
  return false;
}

/* True if many bytes are control characters. With a few, the compiler can
 * report their place. */
static bool kind_binary(struct slice head) {
  size_t controls = 0;
  for (size_t i = 0; i < head.length; i++)
    controls +=
        (unsigned char)head.at[i] < ' ' && !memchr("\t\n\v\f\r", head.at[i], 5);
  return controls > head.length / 16;
}

/* The table */

#define BYTES(text) \
  { text, sizeof(text) - 1 }
#define PROGRAM            \
  EXPORT_PROGRAM           \
  "; before PyTorch 2.1, " \
  "torch.onnx.export(model, input, \"model.onnx\")"
#define EXPORT PROGRAM "; of Keras, model.to_json() to a .json file"
#define LISTED                                                               \
  "`netc weights %s` lists its tensors; `netc weights MODEL.net --from %s` " \
  "loads them into a net"
#define LOADED "for the net load it in Python: " PROGRAM
#define READABLE                                                           \
  "netc reads its own sources, ONNX, torch.export's .pt2, PyTorch's .py, " \
  "Keras' .json, .h5 and .keras, "                                         \
  "TensorFlow Lite's .tflite, OpenVINO's .xml, GGUF, Hugging Face's "      \
  "config.json, Caffe's .prototxt and Darknet's .cfg"
#define PICTURE                                               \
  "netc writes pictures, `netc MODEL.net -o MODEL.svg`, and " \
  "reads none"

static const struct file_kind kinds[] = {
#define READ(constant, reader, label, suffix, ...) \
  {.name = label, .suffixes = suffix, .read = true, __VA_ARGS__},
#define TOLD(constant, label, suffix, ...) \
  {.name = label, .suffixes = suffix, __VA_ARGS__},
#include "import/kinds.def"
#undef READ
#undef TOLD
};

const struct file_kind *file_kind(enum file_kind_id kind) {
  return &kinds[kind];
}

/* Takes the next alternative of "a|b|c". */
static struct slice next_choice(const char **choices) {
  size_t length = strcspn(*choices, "|");
  struct slice choice = {*choices, length};
  *choices += length + ((*choices)[length] == '|');
  return choice;
}

static bool opens_with(struct slice head, const char *choices) {
  head = without_blanks(head);
  while (*choices) {
    struct slice choice = next_choice(&choices);
    if (head.length >= choice.length &&
        strncasecmp(head.at, choice.at, choice.length) == 0)
      return true;
  }
  return false;
}

static bool has_one_of(struct slice head, const char *choices) {
  while (*choices) {
    struct slice choice = next_choice(&choices);
    if (has_word(head, choice.at, choice.length))
      return true;
  }
  return false;
}

static bool has_line(struct slice head, const char *prefix) {
  struct slice line;
  if (!has_word(head, prefix, strlen(prefix)))
    return false; /* most texts; avoids a search line by line */
  while (next_line(&head, &line))
    if (has_prefix(line, prefix))
      return true;
  return false;
}

static bool begins_as(const struct file_kind *k, struct slice head) {
  struct slice there = slice_from(head, k->at);
  if (k->magic.length && (there.length < k->magic.length ||
                          memcmp(there.at, k->magic.at, k->magic.length) != 0))
    return false;
  return !k->knows || k->knows(head);
}

static bool is_of(const struct file_kind *k, struct slice head) {
  return (!k->opens || opens_with(head, k->opens)) &&
         (!k->has || has_one_of(head, k->has)) &&
         (!k->line || has_line(head, k->line)) && begins_as(k, head);
}

static bool has_suffix(const char *path, const char *suffixes) {
  const char *slash = strrchr(path, '/');
  const char *dot = strrchr(slash ? slash : path, '.');
  for (const char *at = suffixes; dot && *at;) {
    size_t length = strcspn(at, " ");
    if (strlen(dot) == length && strncasecmp(dot, at, length) == 0)
      return true;
    at += length + (at[length] == ' ');
  }
  return false;
}

enum { KIND_VAGUE = KIND_ZIP }; /* rows from here on */

static enum file_kind_id vague_kind(struct slice head) {
  for (int i = KIND_VAGUE; i < KIND_COUNT; i++)
    if (is_of(&kinds[i], head))
      return (enum file_kind_id)i;
  return KIND_COUNT;
}

/* The kind of a suffix, unless the bytes show another. */
static enum file_kind_id named_kind(enum file_kind_id named,
                                    struct slice head) {
  const struct file_kind *k = &kinds[named];
  if (head.length && k->always && !begins_as(k, head)) {
    enum file_kind_id vague = vague_kind(head);
    return vague == KIND_COUNT || vague == KIND_BINARY ? named : vague;
  }
  return k->text && kind_binary(head) ? KIND_BINARY : named;
}

enum file_kind_id file_kind_of(const char *path, struct slice head) {
  static const char mark[] = "\xef\xbb\xbf"; /* byte order mark */
  if (has_prefix(head, mark))
    head = slice_from(head, sizeof mark - 1);
  bool source = has_suffix(path, ".net");
  for (int i = 0; i < KIND_VAGUE; i++)
    if (!(source && kinds[i].lines) && is_of(&kinds[i], head))
      return (enum file_kind_id)i;
  for (int i = 0; i < KIND_COUNT; i++)
    if (has_suffix(path, kinds[i].suffixes))
      return named_kind((enum file_kind_id)i, head);
  return vague_kind(head);
}

bool file_kind_fits(enum file_kind_id kind, struct slice head) {
  const struct file_kind *k = &kinds[kind];
  return head.length > 0 && (!k->always || begins_as(k, head));
}
