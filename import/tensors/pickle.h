/*
 * Pickles of tensors (pickletools.py): the opcodes that torch.save writes, as
 * a tree of values. Nothing is executed: a call is a value with its
 * arguments, and what may be named stands in globals.def.
 */
#ifndef NETC_IMPORT_TENSORS_PICKLE_H
#define NETC_IMPORT_TENSORS_PICKLE_H

#include "import/bytes/bytes.h"

enum { PICKLE_MOST = 16 << 20 }; /* bytes of one: they are all in memory */

enum pickle_kind {
  PICKLE_NONE,
  PICKLE_BOOL,
  PICKLE_INTEGER,
  PICKLE_REAL,
  PICKLE_TEXT, /* of bytes, too, and integers of over 64 bits */
  PICKLE_LIST, /* a tuple or set, too */
  PICKLE_DICT, /* keys and values alternate */
  PICKLE_GLOBAL,
  PICKLE_CALL,      /* of `head` with `args` */
  PICKLE_OBJECT,    /* of the class `head`; `items` as of a dictionary */
  PICKLE_PERSISTENT /* what `head` says lies elsewhere */
};

enum pickle_role {
  PICKLE_UNKNOWN,
  PICKLE_ROLE_DICT,
  PICKLE_ROLE_TENSOR,
  PICKLE_ROLE_PARAMETER,
  PICKLE_ROLE_STORAGE,
  PICKLE_ROLE_TYPE,
  PICKLE_ROLE_OBJECT,
  PICKLE_ROLE_INERT,
  PICKLE_ROLE_CLASS,
};

struct pickle_value {
  enum pickle_kind kind;
  enum pickle_role role; /* of a global */
  int64_t integer;
  double real;
  struct slice text; /* of a global "torch.nn.modules.conv.Conv2d" */
  size_t name;       /* of a global: where its own name begins */
  VEC(struct pickle_value *) items;
  struct pickle_value *head, *args;
  struct pickle_value *state; /* what an object or call was filled with */
};

/*
 * Reads one, up to its STOP. NULL: the reader's fault says why, by the name
 * of an opcode or a global that is not allowed.
 */
struct pickle_value *pickle_read(struct byte_reader *r, struct arena *arena);

/* Of a dictionary, or of a module's or object's state; NULL: none. */
struct pickle_value *pickle_get(const struct pickle_value *dict,
                                const char *key);

static inline bool pickle_is(const struct pickle_value *value,
                             enum pickle_kind kind) {
  return value && value->kind == kind;
}

/* An item of a list; NULL: it has fewer, or it is none. */
static inline struct pickle_value *pickle_item(const struct pickle_value *list,
                                               size_t index) {
  return pickle_is(list, PICKLE_LIST) && index < list->items.count
             ? list->items.at[index]
             : NULL;
}

#endif
