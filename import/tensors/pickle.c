/* Pickles of tensors: a machine with a stack and a memo, which runs nothing. */
#include "import/tensors/pickle.h"

#include <inttypes.h>

struct pickling {
  struct byte_reader *r;
  struct arena *arena;
  VEC(struct pickle_value *) stack;
  VEC(struct pickle_value *) memo;
  VEC(size_t) marks;                  /* heights of the stack */
  VEC(struct pickle_value *) unknown; /* globals that are not allowed yet */
};

/* The stack */

static struct pickle_value *put(struct pickling *p, enum pickle_kind kind) {
  struct pickle_value *value = ARENA_NEW(p->arena, struct pickle_value);
  value->kind = kind;
  *VEC_PUSH(p->arena, &p->stack) = value;
  return value;
}

/* The height below which a mark is not passed. */
static size_t floor_of(const struct pickling *p) {
  return p->marks.count ? p->marks.at[p->marks.count - 1] : 0;
}

/* NULL, with an error: there is none above the last mark. */
static struct pickle_value *pop(struct pickling *p) {
  if (p->stack.count <= floor_of(p)) {
    bytes_fail(p->r, "its stack is empty");
    return NULL;
  }
  return p->stack.at[--p->stack.count];
}

static struct pickle_value *top(struct pickling *p) {
  struct pickle_value *value = pop(p);
  p->stack.count += value != NULL;
  return value;
}

/* What lies above the last mark, which is taken away: its first place. */
static size_t pop_mark(struct pickling *p) {
  if (!p->marks.count) {
    bytes_fail(p->r, "its stack has no mark");
    return p->stack.count;
  }
  return p->marks.at[--p->marks.count];
}

/* Moves what lies on the stack from `first` on to the end of some items. */
static void move_items(struct pickling *p, struct pickle_value *to,
                       size_t first) {
  for (size_t i = first; i < p->stack.count; i++)
    *VEC_PUSH(p->arena, &to->items) = p->stack.at[i];
  p->stack.count = first;
}

static void put_mark(struct pickling *p) {
  *VEC_PUSH(p->arena, &p->marks) = p->stack.count;
}

static void drop(struct pickling *p) {
  pop(p);
}

static void drop_marked(struct pickling *p) {
  p->stack.count = pop_mark(p);
}

/* Values */

static void put_none(struct pickling *p) {
  put(p, PICKLE_NONE);
}

static void put_true(struct pickling *p) {
  put(p, PICKLE_BOOL)->integer = 1;
}

static void put_false(struct pickling *p) {
  put(p, PICKLE_BOOL);
}

static void put_int1(struct pickling *p) {
  put(p, PICKLE_INTEGER)->integer = bytes_u8(p->r);
}

static void put_int2(struct pickling *p) {
  put(p, PICKLE_INTEGER)->integer = bytes_u16(p->r);
}

static void put_int4(struct pickling *p) {
  put(p, PICKLE_INTEGER)->integer = bytes_signed(p->r, 4);
}

static void put_text(struct pickling *p, uint64_t length) {
  put(p, PICKLE_TEXT)->text = bytes_text(p->r, p->arena, length);
}

static void put_text1(struct pickling *p) {
  put_text(p, bytes_u8(p->r));
}

static void put_text4(struct pickling *p) {
  put_text(p, bytes_u32(p->r));
}

static void put_text8(struct pickling *p) {
  put_text(p, bytes_u64(p->r));
}

/* Of over 64 bits: the magic number of torch.save is one. */
static void put_long(struct pickling *p) {
  int length = bytes_u8(p->r);
  if (length > 8)
    put_text(p, (uint64_t)length);
  else
    put(p, PICKLE_INTEGER)->integer = length ? bytes_signed(p->r, length) : 0;
}

static void put_real(struct pickling *p) {
  uint64_t bits = bytes_unsigned_big(p->r, 8);
  memcpy(&put(p, PICKLE_REAL)->real, &bits, sizeof bits);
}

static void put_dict(struct pickling *p) {
  put(p, PICKLE_DICT);
}

static void put_list(struct pickling *p) {
  put(p, PICKLE_LIST);
}

static void put_tuple_from(struct pickling *p, size_t first) {
  struct pickle_value *tuple = ARENA_NEW(p->arena, struct pickle_value);
  tuple->kind = PICKLE_LIST;
  move_items(p, tuple, first);
  *VEC_PUSH(p->arena, &p->stack) = tuple;
}

static void put_tuple(struct pickling *p) {
  put_tuple_from(p, pop_mark(p));
}

static void put_tuple_of(struct pickling *p, size_t count) {
  if (p->stack.count - floor_of(p) < count)
    bytes_fail(p->r, "its stack is empty");
  else
    put_tuple_from(p, p->stack.count - count);
}

static void put_tuple1(struct pickling *p) {
  put_tuple_of(p, 1);
}

static void put_tuple2(struct pickling *p) {
  put_tuple_of(p, 2);
}

static void put_tuple3(struct pickling *p) {
  put_tuple_of(p, 3);
}

/* Items */

/* What lies from `first` on belongs to the list or dictionary before it. */
static void add_items(struct pickling *p, size_t first, bool pairs) {
  struct pickle_value *to = first > floor_of(p) ? p->stack.at[first - 1] : NULL;
  bool holds = to && (to->kind == PICKLE_OBJECT || to->kind == PICKLE_CALL ||
                      to->kind == (pairs ? PICKLE_DICT : PICKLE_LIST));
  if (!holds || (pairs && (p->stack.count - first) % 2)) {
    bytes_fail(p->r, "items are added to an object that cannot hold any");
    return;
  }
  move_items(p, to, first);
}

static void append_one(struct pickling *p) {
  if (top(p))
    add_items(p, p->stack.count - 1, false);
}

static void append_all(struct pickling *p) {
  add_items(p, pop_mark(p), false);
}

static void set_one(struct pickling *p) {
  if (p->stack.count - floor_of(p) < 2)
    bytes_fail(p->r, "its stack is empty");
  else
    add_items(p, p->stack.count - 2, true);
}

static void set_all(struct pickling *p) {
  add_items(p, pop_mark(p), true);
}

/* The memo: numbers count up, so that none is larger than its place. */

static void memo_at(struct pickling *p, uint64_t index) {
  struct pickle_value *value = top(p);
  if (!value)
    return;
  if (index > p->r->at - p->r->begin) {
    bytes_fail(p->r, "memo %" PRIu64 " is not the next", index);
    return;
  }
  while (p->memo.count <= index)
    *VEC_PUSH(p->arena, &p->memo) = NULL;
  p->memo.at[index] = value;
}

static void memo1(struct pickling *p) {
  memo_at(p, bytes_u8(p->r));
}

static void memo4(struct pickling *p) {
  memo_at(p, bytes_u32(p->r));
}

static void memo_next(struct pickling *p) {
  memo_at(p, p->memo.count);
}

static void get_at(struct pickling *p, uint64_t index) {
  if (index >= p->memo.count || !p->memo.at[index])
    bytes_fail(p->r, "memo %" PRIu64 " does not exist", index);
  else
    *VEC_PUSH(p->arena, &p->stack) = p->memo.at[index];
}

static void get1(struct pickling *p) {
  get_at(p, bytes_u8(p->r));
}

static void get4(struct pickling *p) {
  get_at(p, bytes_u32(p->r));
}

/* Globals */

struct pickle_row {
  const char *module, *names;
  enum pickle_role role;
};

static const struct pickle_row rows[] = {
#define GLOBAL(module, names, role) {module, names, PICKLE_ROLE_##role},
#include "import/tensors/globals.def"
#undef GLOBAL
};

static bool has_name(const char *names, struct slice name) {
  while (*names) {
    size_t length = strcspn(names, " ");
    if (slice_equal(name, (struct slice){names, length}))
      return true;
    names += length + (names[length] == ' ');
  }
  return false;
}

static enum pickle_role role_of(struct slice module, struct slice name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct slice row = slice_of(rows[i].module);
    bool below = slice_ends(row, ".");
    if (below ? module.length > row.length &&
                    memcmp(module.at, row.at, row.length) == 0
              : slice_equal(module, row) && has_name(rows[i].names, name))
      return rows[i].role;
    if (below && slice_equal(module, slice_less(row, 1)))
      return rows[i].role;
  }
  return PICKLE_UNKNOWN;
}

static void add_global(struct pickling *p, struct slice module,
                       struct slice name) {
  struct pickle_value *value = put(p, PICKLE_GLOBAL);
  struct text text = text_new(p->arena);
  text_puts(&text, module);
  text_putc(&text, '.');
  text_puts(&text, name);
  value->text = text_slice(&text);
  value->name = module.length + 1;
  value->role = role_of(module, name);
  if (value->role == PICKLE_UNKNOWN)
    *VEC_PUSH(p->arena, &p->unknown) = value;
}

static void put_global(struct pickling *p) {
  struct slice module = bytes_line(p->r, p->arena, '\n');
  struct slice name = bytes_line(p->r, p->arena, '\n');
  if (bytes_ok(p->r))
    add_global(p, module, name);
}

static void put_stack_global(struct pickling *p) {
  struct pickle_value *name = pop(p), *module = pop(p);
  if (!pickle_is(name, PICKLE_TEXT) || !pickle_is(module, PICKLE_TEXT))
    bytes_fail(p->r, "a global has no name");
  else
    add_global(p, module->text, name->text);
}

static void refuse_global(struct pickling *p,
                          const struct pickle_value *value) {
  int length = value->text.length < 100 ? (int)value->text.length : 100;
  bytes_fail(p->r, "`%.*s` is not allowed in a file of weights", length,
             value->text.at);
}

/* Calls and objects */

/* OrderedDict([[key, value], ...]), as Python 2 wrote it. */
static void take_pairs(struct pickling *p, struct pickle_value *dict,
                       const struct pickle_value *pairs) {
  for (size_t i = 0; pairs && i < pairs->items.count; i++)
    for (size_t k = 0; k < 2; k++) {
      struct pickle_value *item = pickle_item(pairs->items.at[i], k);
      if (!item) {
        bytes_fail(p->r, "a dictionary is not made of pairs");
        return;
      }
      *VEC_PUSH(p->arena, &dict->items) = item;
    }
}

static void put_call(struct pickling *p) {
  struct pickle_value *args = pop(p), *head = pop(p);
  if (!args || !head)
    return;
  if (args->kind != PICKLE_LIST || head->kind != PICKLE_GLOBAL) {
    bytes_fail(p->r, "a called object has no name");
  } else if (head->role == PICKLE_UNKNOWN || head->role == PICKLE_ROLE_CLASS) {
    refuse_global(p, head);
  } else if (head->role == PICKLE_ROLE_DICT) {
    const struct pickle_value *pairs = pickle_item(args, 0);
    take_pairs(p, put(p, PICKLE_DICT),
               pickle_is(pairs, PICKLE_LIST) ? pairs : NULL);
  } else if (head->role == PICKLE_ROLE_OBJECT) {
    put(p, PICKLE_OBJECT)->head = pickle_item(args, 0);
  } else {
    struct pickle_value *call = put(p, PICKLE_CALL);
    call->head = head;
    call->args = args;
  }
}

static void put_object(struct pickling *p) {
  struct pickle_value *args = pop(p), *head = pop(p);
  if (!args || !head)
    return;
  if (head->kind == PICKLE_PERSISTENT) /* before 1.6: a class, its source */
    head = pickle_item(head->head, 1);
  if (!pickle_is(head, PICKLE_GLOBAL))
    bytes_fail(p->r, "the class of an object has no name");
  else
    put(p, PICKLE_OBJECT)->head = head;
}

/* A class that only a module of a net may have. */
static void allow_module(struct pickling *p, struct pickle_value *object) {
  struct pickle_value *class = object->head;
  if (!pickle_is(class, PICKLE_GLOBAL) || class->role != PICKLE_UNKNOWN)
    return;
  if (pickle_is(pickle_get(object, "_modules"), PICKLE_DICT) &&
      pickle_is(pickle_get(object, "_parameters"), PICKLE_DICT))
    class->role = PICKLE_ROLE_CLASS;
  else
    refuse_global(p, class);
}

static void build(struct pickling *p) {
  struct pickle_value *state = pop(p), *object = top(p);
  if (!state || !object)
    return;
  if (object->kind != PICKLE_OBJECT && object->kind != PICKLE_CALL &&
      object->kind != PICKLE_DICT) {
    bytes_fail(p->r, "the target of a state is not an object");
    return;
  }
  object->state = state;
  if (object->kind == PICKLE_OBJECT)
    allow_module(p, object);
}

static void put_persistent(struct pickling *p) {
  struct pickle_value *id = pop(p);
  if (id)
    put(p, PICKLE_PERSISTENT)->head = id;
}

/* Frames */

static void read_protocol(struct pickling *p) {
  int protocol = bytes_u8(p->r);
  if (protocol > 5)
    bytes_fail(p->r, "protocol %d is not supported", protocol);
}

static void skip_frame(struct pickling *p) {
  bytes_u64(p->r);
}

/* The machine */

struct pickle_opcode {
  char byte;
  const char *name;
  void (*carry)(struct pickling *p);
};

static const struct pickle_opcode *find_opcode(char byte) {
  static const struct pickle_opcode opcodes[] = {
#define OPCODE(byte, name, carry) {byte, name, carry},
#define REFUSED(byte, name) {byte, name, NULL},
#include "import/tensors/opcodes.def"
#undef OPCODE
#undef REFUSED
  };
  for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
    if (opcodes[i].byte == byte)
      return &opcodes[i];
  return NULL;
}

/* What is left and was never the class of a module. */
static struct pickle_value *finish(struct pickling *p) {
  struct pickle_value *result = pop(p);
  for (size_t i = 0; i < p->unknown.count; i++)
    if (p->unknown.at[i]->role == PICKLE_UNKNOWN)
      refuse_global(p, p->unknown.at[i]);
  return bytes_ok(p->r) ? result : NULL;
}

struct pickle_value *pickle_read(struct byte_reader *r, struct arena *arena) {
  struct pickling p = {.r = r, .arena = arena};
  uint64_t begin = r->at;
  while (bytes_ok(r)) {
    char byte = (char)bytes_u8(r);
    const struct pickle_opcode *opcode = bytes_ok(r) ? find_opcode(byte) : NULL;
    if (opcode && opcode->carry)
      opcode->carry(&p);
    else if (opcode && byte == '.')
      return finish(&p);
    else if (opcode)
      bytes_fail(r, "opcode %s is not allowed in a file of weights",
                 opcode->name);
    else
      bytes_fail(r, "0x%02X is not an opcode of a pickle", (unsigned char)byte);
    if (r->at - begin > PICKLE_MOST)
      bytes_fail(r, "a pickle of more than %d MiB is not supported",
                 PICKLE_MOST >> 20);
  }
  return NULL;
}

static struct pickle_value *find_key(const struct pickle_value *dict,
                                     const char *key) {
  for (size_t i = 0; i + 1 < dict->items.count; i += 2)
    if (dict->items.at[i]->kind == PICKLE_TEXT &&
        slice_is(dict->items.at[i]->text, key))
      return dict->items.at[i + 1];
  return NULL;
}

struct pickle_value *pickle_get(const struct pickle_value *dict,
                                const char *key) {
  if (pickle_is(dict, PICKLE_DICT))
    return find_key(dict, key);
  if (pickle_is(dict, PICKLE_OBJECT) && pickle_is(dict->state, PICKLE_DICT))
    return find_key(dict->state, key);
  return NULL;
}
