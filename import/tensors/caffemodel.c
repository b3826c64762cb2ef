/*
 * Caffe's .caffemodel: a NetParameter (src/caffe/proto/caffe.proto), whose
 * layers have blobs. The tensors are called by layer and place: "conv1.0".
 */
#include <inttypes.h>

#include "base/check.h"
#include "import/tensors/tensors.h"

struct caffemodel_reading {
  struct tensor_file *file;
  struct arena *arena;
  int64_t *dims; /* of the blob that is being read */
};

/* A field of a message, as protocol buffers are written. */
struct caffemodel_field {
  uint64_t number;
  int wire;            /* VARINT or BYTES; others are passed */
  uint64_t value;      /* of a VARINT */
  uint64_t begin, end; /* of BYTES, in the store */
};

enum { VARINT = 0, FIXED_64 = 1, BYTES = 2, FIXED_32 = 5 };

static uint64_t varint(struct byte_reader *r) {
  uint64_t value = 0, byte = 0x80;
  for (int shift = 0; byte & 0x80 && bytes_ok(r); shift += 7) {
    if (shift > 63) {
      bytes_fail(r, "a number has more than 64 bits");
      return 0;
    }
    byte = bytes_u8(r);
    value |= (byte & 0x7f) << shift;
  }
  return value;
}

/* The next field; false: there is none, or something is wrong. */
static bool next_field(struct byte_reader *r, struct caffemodel_field *f) {
  if (!bytes_ok(r) || r->at == r->end)
    return false;
  uint64_t tag = varint(r);
  *f = (struct caffemodel_field){.number = tag >> 3, .wire = (int)(tag & 7)};
  switch (f->wire) {
  case VARINT: f->value = varint(r); break;
  case FIXED_64: bytes_skip(r, 8); break;
  case FIXED_32: bytes_skip(r, 4); break;
  case BYTES: {
    uint64_t count = varint(r);
    f->begin = r->at;
    bytes_skip(r, count);
    f->end = r->at;
    break;
  }
  default: bytes_fail(r, "field %" PRIu64 " has an unknown type", f->number);
  }
  return bytes_ok(r);
}

static bool is_bytes(const struct caffemodel_field *f, uint64_t number) {
  return f->wire == BYTES && f->number == number;
}

/* A message's own bytes. */
static void enter(struct caffemodel_reading *g,
                  const struct caffemodel_field *f, struct byte_reader *r) {
  bytes_open(r, &g->file->store, f->begin, f->end);
}

static bool leave(struct caffemodel_reading *g, const struct byte_reader *r) {
  return bytes_ok(r) || tensors_fail(g->file, g->arena, "%s", r->fault);
}

static bool push_dim(struct caffemodel_reading *g, struct stored_tensor *t,
                     uint64_t dim) {
  if (t->rank == TENSOR_RANK || dim > INT64_MAX)
    return tensors_fail(g->file, g->arena,
                        "blob `%s` has more than %d axes, or an invalid axis",
                        t->name, TENSOR_RANK);
  g->dims[t->rank++] = (int64_t)dim;
  return true;
}

/* BlobShape { repeated int64 dim = 1 [packed]; } */
static bool read_shape(struct caffemodel_reading *g,
                       const struct caffemodel_field *shape,
                       struct stored_tensor *t) {
  struct byte_reader r, dims;
  struct caffemodel_field f;
  t->rank = 0;
  enter(g, shape, &r);
  while (next_field(&r, &f)) {
    if (f.number != 1)
      continue;
    if (f.wire == VARINT && !push_dim(g, t, f.value))
      return false;
    if (f.wire != BYTES)
      continue;
    enter(g, &f, &dims);
    while (bytes_ok(&dims) && dims.at < dims.end)
      if (!push_dim(g, t, varint(&dims)))
        return false;
    if (!leave(g, &dims))
      return false;
  }
  return leave(g, &r);
}

/* Values that lie in one piece, as all of Caffe's do. */
static bool read_data(struct caffemodel_reading *g,
                      const struct caffemodel_field *f,
                      struct stored_tensor *t) {
  if (f->wire != BYTES || t->at)
    return tensors_fail(g->file, g->arena,
                        "the values of blob `%s` are not contiguous", t->name);
  t->type = f->number == 5 ? VALUE_F32 : VALUE_F64;
  t->at = f->begin;
  t->bytes = f->end - f->begin;
  return true;
}

/* Its shape and its data; before 2014 the shape was four numbers. */
static bool read_blob_fields(struct caffemodel_reading *g,
                             const struct caffemodel_field *blob,
                             struct stored_tensor *t) {
  struct byte_reader r;
  struct caffemodel_field f;
  bool shaped = false;
  enter(g, blob, &r);
  while (next_field(&r, &f)) {
    bool old = f.wire == VARINT && f.number >= 1 && f.number <= 4;
    bool data = f.number == 5 || f.number == 8;
    if (old && !shaped && !push_dim(g, t, f.value))
      return false;
    if (is_bytes(&f, 7) && !read_shape(g, &f, t))
      return false;
    shaped = shaped || is_bytes(&f, 7);
    if (data && !read_data(g, &f, t))
      return false;
  }
  return leave(g, &r);
}

static bool read_blob(struct caffemodel_reading *g,
                      const struct caffemodel_field *blob, const char *layer,
                      int place) {
  struct text name = text_new(g->arena);
  text_printf(&name, "%s.%d", layer, place);
  g->dims = arena_alloc(g->arena, TENSOR_RANK, sizeof *g->dims);
  struct stored_tensor t = {
      .name = text_string(&name), .type = VALUE_F32, .dims = g->dims};
  int64_t bytes;
  if (!read_blob_fields(g, blob, &t) || !tensors_count(g->file, g->arena, &t))
    return false;
  t.word = value_word(t.type);
  if (!mul_i64(t.count, value_bytes(t.type), &bytes) ||
      (uint64_t)bytes != t.bytes)
    return tensors_fail(g->file, g->arena,
                        "blob `%s` has %" PRIu64 " bytes for %" PRId64 " "
                        "values, which do not match",
                        t.name, t.bytes, t.count);
  *VEC_PUSH(g->arena, &g->file->tensors) = t;
  return true;
}

/* LayerParameter: its name in one field, its blobs in another. */
static bool read_layer(struct caffemodel_reading *g,
                       const struct caffemodel_field *layer,
                       uint64_t name_field, uint64_t blobs) {
  struct byte_reader r, text;
  struct slice name = {"", 0};
  struct caffemodel_field f;
  int place = 0;
  enter(g, layer, &r);
  while (next_field(&r, &f))
    if (is_bytes(&f, name_field)) {
      enter(g, &f, &text);
      name = bytes_text(&text, g->arena, f.end - f.begin);
    }
  if (!leave(g, &r))
    return false;
  enter(g, layer, &r);
  while (next_field(&r, &f)) {
    if (is_bytes(&f, 1) && name_field != 1)
      return tensors_fail(g->file, g->arena,
                          "its layers have the format of 2013; Caffe's "
                          "upgrade_net_proto_binary converts them");
    if (is_bytes(&f, blobs) && !read_blob(g, &f, name.at, place++))
      return false;
  }
  return leave(g, &r);
}

bool caffemodel_read(struct tensor_file *file, struct arena *arena) {
  struct caffemodel_reading g = {.file = file, .arena = arena};
  struct byte_reader r;
  struct caffemodel_field f;
  bytes_open(&r, &file->store, 0, UINT64_MAX);
  while (next_field(&r, &f)) {
    if (is_bytes(&f, 100) && !read_layer(&g, &f, 1, 7))
      return false;
    if (is_bytes(&f, 2) && !read_layer(&g, &f, 4, 6)) /* before 2015 */
      return false;
  }
  return leave(&g, &r);
}
