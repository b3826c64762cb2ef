/* HDF5: objects with their messages, groups as B-trees, texts in the heap. */
#include "import/tensors/hdf5.h"

#include <inttypes.h>

#include "base/check.h"

static const char signature[] = "\x89HDF\r\n\x1a\n";

enum {
  LONGEST = 4096,  /* bytes of a path */
  MOST_LEVELS = 8, /* of a tree, each of dozens of nodes */
  UNKNOWN_LEVEL = MOST_LEVELS + 1
};

/* An object while its messages are read. */
struct object {
  const char *path;
  bool group, stored; /* it has members, or values */
  uint64_t tree, heap;
  struct hdf5_values values;
};

/* Whoever goes in circles makes more steps than a file has room for. */
static bool step(struct hdf5 *h) {
  if (h->steps == 0)
    return bytes_fail(&h->r, "its objects refer to each other in a cycle");
  h->steps--;
  return bytes_ok(&h->r);
}

/* Types, spaces and places of values. */

static enum value_type real_of(struct byte_reader *r, uint64_t size) {
  bytes_skip(r, 5); /* bits before the number, its bits, place of exponent */
  int exponent = bytes_u8(r);
  if (size == 8 && exponent == 11)
    return VALUE_F64;
  if (size == 4 && exponent == 8)
    return VALUE_F32;
  if (size == 2)
    return exponent == 5 ? VALUE_F16 : exponent == 8 ? VALUE_BF16 : VALUE_COUNT;
  return VALUE_COUNT;
}

static enum value_type whole_of(uint64_t size, bool is_signed) {
  switch (size) {
  case 1: return is_signed ? VALUE_I8 : VALUE_U8;
  case 2: return is_signed ? VALUE_I16 : VALUE_COUNT;
  case 4: return is_signed ? VALUE_I32 : VALUE_COUNT;
  case 8: return is_signed ? VALUE_I64 : VALUE_COUNT;
  default: return VALUE_COUNT;
  }
}

static void read_type(struct byte_reader *r, struct hdf5_values *v) {
  enum { WHOLE, REAL, TEXT = 3, VARIABLE = 9 };
  int kind = bytes_u8(r) & 15;
  uint32_t bits = (uint32_t)bytes_unsigned(r, 3);
  v->size = bytes_u32(r);
  v->type = VALUE_COUNT;
  v->text = kind == TEXT || (kind == VARIABLE && (bits & 15) == 1);
  v->variable = kind == VARIABLE;
  if (kind == WHOLE)
    v->type = whole_of(v->size, bits & 8);
  else if (kind == REAL)
    v->type = real_of(r, v->size);
  if ((kind == WHOLE || kind == REAL) && (bits & 1) && v->size > 1)
    v->strange = "big-endian";
  else if (!v->text && v->type == VALUE_COUNT)
    v->strange = "of a type that netc does not read";
}

static void read_space(struct byte_reader *r, struct hdf5_values *v) {
  int version = bytes_u8(r), rank = bytes_u8(r);
  bytes_skip(r, 1);
  bool nothing = bytes_u8(r) == 2 && version == 2;
  if (version == 1)
    bytes_skip(r, 4);
  if (version < 1 || version > 2 || rank > HDF5_RANK)
    bytes_fail(r, "a data space of version %d with %d axes is not supported",
               version, rank);
  v->rank = bytes_ok(r) ? rank : 0;
  v->count = !nothing;
  for (int i = 0; i < v->rank; i++) {
    uint64_t size = bytes_u64(r);
    v->dims[i] = (int64_t)(size & INT64_MAX);
    if (!mul_i64(v->count, v->dims[i], &v->count) || size > INT64_MAX)
      bytes_fail(r, "a data set would have more than 2^63 values");
  }
}

static void read_layout(struct byte_reader *r, struct hdf5_values *v) {
  enum { INSIDE, CONTIGUOUS };
  int version = bytes_u8(r), kind = bytes_u8(r);
  if (version < 3 || version > 4) {
    v->strange = "in a layout of another version than 3";
  } else if (kind == INSIDE) {
    bytes_skip(r, 2);
    v->at = r->at;
  } else if (kind == CONTIGUOUS) {
    v->at = bytes_u64(r);
    if (v->at == UINT64_MAX)
      v->strange = "never written";
  } else if (!v->strange) {
    v->strange = "stored in chunks";
  }
}

/* Whether the values are where the file says. */
static bool are_there(struct byte_reader *r, const char *path,
                      const struct hdf5_values *v) {
  uint64_t end = r->end;
  if (v->strange || v->count == 0)
    return bytes_ok(r);
  if (v->at > end ||
      (v->size > 0 && (uint64_t)v->count > (end - v->at) / v->size))
    return bytes_fail(r, "the values of `%.64s` are beyond its end", path);
  return bytes_ok(r);
}

static void add_item(struct hdf5 *h, const char *path, bool attribute,
                     const struct hdf5_values *values) {
  if (!are_there(&h->r, path, values))
    return;
  map_add(h->arena, &h->by_path, slice_of(path))->number =
      (int64_t)h->items.count;
  *VEC_PUSH(h->arena, &h->items) = (struct hdf5_item){path, attribute, *values};
}

/* "a/b" or "a@b", in the arena. */
static const char *joined(struct hdf5 *h, const char *path, char between,
                          struct slice name) {
  size_t before = strlen(path), length = before + name.length + 1;
  if (length > LONGEST) {
    bytes_fail(&h->r, "a path of more than %d bytes is not supported", LONGEST);
    return "";
  }
  char *whole = arena_alloc(h->arena, length + 1, 1);
  memcpy(whole, path, before);
  if (before > 0 || between == '@')
    whole[before++] = between;
  memcpy(whole + before, name.at, name.length);
  return whole;
}

/* Name, type, space and values, in version 1 each padded to 8 bytes. */
static void read_attribute(struct hdf5 *h, const char *path) {
  struct byte_reader *r = &h->r;
  struct hdf5_values values = {0};
  int version = bytes_u8(r), flags = bytes_u8(r);
  uint64_t length = bytes_u16(r), type = bytes_u16(r), space = bytes_u16(r);
  uint64_t padding = version == 1 ? 7 : 0;
  if (version < 1 || version > 3 || (version > 1 && flags))
    bytes_fail(r, "an attribute of version %d is not supported", version);
  bytes_skip(r, version == 3);
  uint64_t at = r->at;
  if (length > LONGEST)
    bytes_fail(r, "an attribute's name is too long");
  struct slice name = bytes_text(r, h->arena, length);
  name.length = strlen(name.at);
  bytes_go(r, at += (length + padding) & ~padding);
  read_type(r, &values);
  bytes_go(r, at += (type + padding) & ~padding);
  read_space(r, &values);
  bytes_go(r, at += (space + padding) & ~padding);
  values.at = at;
  if (bytes_ok(r))
    add_item(h, joined(h, path, '@', name), true, &values);
}

/* Objects. */

enum hdf5_message {
  MESSAGE_SPACE = 1,
  MESSAGE_LINKS = 2,
  MESSAGE_TYPE = 3,
  MESSAGE_LAYOUT = 8,
  MESSAGE_FILTERS = 11,
  MESSAGE_ATTRIBUTE = 12,
  MESSAGE_CONTINUED = 16,
  MESSAGE_TABLE = 17,
  MESSAGE_ATTRIBUTES = 21
};

static void read_message(struct hdf5 *h, struct object *o, int kind,
                         bool shared) {
  struct byte_reader *r = &h->r;
  if (shared && (kind == MESSAGE_SPACE || kind == MESSAGE_LAYOUT ||
                 kind == MESSAGE_ATTRIBUTE))
    bytes_fail(r, "messages that objects share are not supported");
  switch (kind) {
  case MESSAGE_SPACE: read_space(r, &o->values); break;
  case MESSAGE_TYPE:
    if (shared)
      o->values.strange = "of a type that has a name";
    else
      read_type(r, &o->values);
    break;
  case MESSAGE_LAYOUT:
    o->stored = true;
    read_layout(r, &o->values);
    break;
  case MESSAGE_FILTERS: o->values.strange = "compressed"; break;
  case MESSAGE_ATTRIBUTE: read_attribute(h, o->path); break;
  case MESSAGE_TABLE:
    o->group = true;
    o->tree = bytes_u64(r);
    o->heap = bytes_u64(r);
    break;
  case MESSAGE_LINKS:
  case MESSAGE_ATTRIBUTES:
    bytes_fail(r, "groups of HDF5 1.8 and later (links and attributes in a "
                  "heap) are not supported");
    break;
  default: break;
  }
}

static bool read_group(struct hdf5 *h, const struct object *o);

/* Messages in the header and in the pieces that continue it. */
static bool read_object(struct hdf5 *h, uint64_t at, const char *path) {
  struct byte_reader *r = &h->r;
  struct object o = {.path = path};
  struct {
    uint64_t at, end;
  } later[16];
  int more = 0;
  if (!step(h) || !bytes_go(r, at))
    return false;
  if (bytes_match(r, "OHDR", 4))
    return bytes_fail(r, "object headers of version 2 are not supported");
  if (bytes_u8(r) != 1)
    return bytes_fail(r, "an address does not lead to an object");
  bytes_skip(r, 1);
  int left = bytes_u16(r);
  bytes_skip(r, 4);
  uint64_t end = bytes_u32(r);
  bytes_skip(r, 4);
  end += r->at;
  while (left-- > 0 && step(h)) {
    if (r->at >= end || end - r->at < 8) {
      if (more == 0)
        break;
      end = later[--more].end;
      bytes_go(r, later[more].at);
    }
    int kind = bytes_u16(r), length = bytes_u16(r);
    bool shared = bytes_u8(r) & 2;
    bytes_skip(r, 3);
    uint64_t next = r->at + (uint64_t)length;
    if (next > end)
      return bytes_fail(r, "a message of `%.64s` is longer than its header",
                        path);
    if (kind == MESSAGE_CONTINUED && more < 16) {
      later[more].at = bytes_u64(r);
      uint64_t count = bytes_u64(r);
      later[more].end = later[more].at + count;
      if (count > r->end || later[more].at > r->end)
        return bytes_fail(r, "the rest of `%.64s` is beyond its end", path);
      more++;
    } else {
      read_message(h, &o, kind, shared);
    }
    bytes_go(r, next);
  }
  if (!bytes_ok(r))
    return false;
  if (o.stored)
    add_item(h, path, false, &o.values);
  return o.group ? read_group(h, &o) : bytes_ok(r);
}

/* Groups: a B-tree of nodes of symbols, whose names are in a heap. */

static struct slice read_name(struct hdf5 *h, uint64_t at) {
  uint64_t count = 0, end = h->r.end;
  bytes_go(&h->r, at);
  while (bytes_ok(&h->r) && h->r.at < end && count < LONGEST &&
         bytes_u8(&h->r) != 0)
    count++;
  bytes_go(&h->r, at);
  return bytes_text(&h->r, h->arena, count);
}

static bool read_symbols(struct hdf5 *h, const char *path, uint64_t names) {
  struct byte_reader *r = &h->r;
  if (!bytes_match(r, "SNOD", 4))
    return bytes_fail(r, "an address does not lead to a group's node");
  bytes_skip(r, 2);
  int count = bytes_u16(r);
  for (int i = 0; i < count && step(h); i++) {
    uint64_t name = bytes_u64(r), object = bytes_u64(r);
    bool link = bytes_u32(r) == 2;
    bytes_skip(r, 20);
    uint64_t next = r->at;
    if (link)
      continue;
    if (name > r->end)
      return bytes_fail(r, "a name is beyond its end");
    const char *whole = joined(h, path, '/', read_name(h, names + name));
    if (!bytes_ok(r) || !read_object(h, object, whole))
      return false;
    bytes_go(r, next);
  }
  return bytes_ok(r);
}

/* Levels count down to the symbols' 0. */
static bool read_tree(struct hdf5 *h, uint64_t at, int level, const char *path,
                      uint64_t names) {
  struct byte_reader *r = &h->r;
  if (!step(h) || !bytes_go(r, at))
    return false;
  if (level < 0)
    return read_symbols(h, path, names);
  if (!bytes_match(r, "TREE", 4) || bytes_u8(r) != 0)
    return bytes_fail(r, "an address does not lead to a group's tree");
  int found = bytes_u8(r), count = bytes_u16(r);
  if (level == UNKNOWN_LEVEL ? found > MOST_LEVELS : found != level)
    return bytes_fail(r, "a group's tree has too many levels, or in a wrong "
                         "order");
  bytes_skip(r, 16 + 8);
  for (int i = 0; i < count && bytes_ok(r); i++) {
    uint64_t child = bytes_u64(r), next = r->at + 8;
    if (!read_tree(h, child, found - 1, path, names))
      return false;
    bytes_go(r, next);
  }
  return bytes_ok(r);
}

static bool read_group(struct hdf5 *h, const struct object *o) {
  struct byte_reader *r = &h->r;
  if (!bytes_enter(r) || !bytes_go(r, o->heap))
    return false;
  if (!bytes_match(r, "HEAP", 4))
    return bytes_fail(r, "an address does not lead to a group's names");
  bytes_skip(r, 4 + 16);
  uint64_t names = bytes_u64(r);
  if (names > r->end)
    return bytes_fail(r, "a group's names are beyond its end");
  bool read = read_tree(h, o->tree, UNKNOWN_LEVEL, o->path, names);
  bytes_leave(r);
  return read;
}

/* Files. */

bool hdf5_open(struct hdf5 *h, struct byte_store *store, struct arena *arena) {
  struct byte_reader *r = &h->r;
  *h = (struct hdf5){.arena = arena};
  bytes_open(r, store, 0, store->size);
  h->steps = (r->end < 1 << 26 ? r->end : 1 << 26) * 4 + 4096;
  if (!bytes_match(r, signature, sizeof signature - 1))
    return bytes_fail(r, "not HDF5");
  int version = bytes_u8(r);
  if (bytes_ok(r) && version != 0)
    return bytes_fail(r, "a superblock of version %d is not supported",
                      version);
  bytes_skip(r, 4);
  int address = bytes_u8(r), length = bytes_u8(r);
  if (bytes_ok(r) && (address != 8 || length != 8))
    return bytes_fail(r, "addresses of %d bytes are not supported", address);
  bytes_skip(r, 1 + 4 + 4);
  uint64_t base = bytes_u64(r);
  bytes_skip(r, 8);
  uint64_t end = bytes_u64(r);
  bytes_skip(r, 8 + 8);
  uint64_t root = bytes_u64(r);
  if (bytes_ok(r) && base != 0)
    return bytes_fail(
        r,
        "a superblock that is not at the start of the file is not supported");
  if (bytes_ok(r) && end > r->end)
    return bytes_fail(r,
                      "it is cut off: %" PRIu64 " of %" PRIu64 " bytes are "
                      "present",
                      r->end, end);
  return read_object(h, root, "");
}

const struct hdf5_item *hdf5_find(const struct hdf5 *h, const char *path) {
  const struct map_entry *entry = map_find(&h->by_path, slice_of(path));
  return entry ? &h->items.at[entry->number] : NULL;
}

/* A text of the heap: its length, the collection, its number there. */
static bool read_heap(struct hdf5 *h, struct slice *text) {
  struct byte_reader *r = &h->r;
  uint64_t length = bytes_u32(r), at = bytes_u64(r), number = bytes_u32(r);
  *text = (struct slice){"", 0};
  if (length == 0)
    return bytes_ok(r);
  bytes_go(r, at);
  if (!bytes_match(r, "GCOL", 4))
    return bytes_fail(r, "an address does not lead to a text's heap");
  bytes_skip(r, 4);
  uint64_t size = bytes_u64(r), end = at + size;
  while (bytes_ok(r) && size <= r->end && r->at < end && step(h)) {
    uint64_t index = bytes_u16(r);
    bytes_skip(r, 6);
    uint64_t count = bytes_u64(r);
    if (index == number && number > 0) {
      *text = bytes_text(r, h->arena, length < count ? length : count);
      return bytes_ok(r);
    }
    if (index == 0 || count > r->end)
      break;
    bytes_skip(r, (count + 7) & ~(uint64_t)7);
  }
  return bytes_fail(r, "a text is not in its heap");
}

bool hdf5_text(struct hdf5 *h, const struct hdf5_values *v, int64_t index,
               struct slice *text) {
  if (!v->text || v->strange || index >= v->count)
    return false;
  bytes_go(&h->r, v->at + (uint64_t)index * v->size);
  if (v->variable)
    return read_heap(h, text);
  *text = bytes_text(&h->r, h->arena, v->size);
  while (text->length > 0 && (text->at[text->length - 1] == '\0' ||
                              text->at[text->length - 1] == ' '))
    text->length--;
  return bytes_ok(&h->r);
}
