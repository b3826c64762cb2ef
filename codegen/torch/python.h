/* Inside `-o x.py`: common declarations of its files. */
#ifndef NETC_CODEGEN_TORCH_PYTHON_H
#define NETC_CODEGEN_TORCH_PYTHON_H

#include "base/map.h"
#include "codegen/backend.h"
#include "codegen/torch/form.h"

/* The code of a node. */
struct made {
  struct torch_code make, call; /* from its form */
  struct torch_seen seen;
  int8_t joins; /* `call` is a list to join along this axis */
  bool loose, repeats, adds;
  bool opens, closes; /* the loop of experts: form.h */
  bool list;          /* it stays a list, which readers join */
  uint64_t helpers;   /* bits of enum helper */
  int taken;          /* layers that need it joined */
  int64_t real;      /* the node that makes this value: itself, or an input's */
  int64_t like;      /* of node.repeated: a value with samples */
  int64_t readers;   /* of the value, including outputs of the net */
  int64_t unit;      /* unit whose class has it */
  struct slice path; /* of its module in the class: conv1, convs[2] */
};

/* A row of layers, or the call of a group's module. */
struct python_piece {
  int64_t first, end; /* nodes */
  int64_t unit;       /* the unit that is called; -1: a row */
};

/* A module that a piece makes. */
struct python_own {
  int64_t node;           /* or unit_as_node() */
  struct slice base;      /* conv, before numbering */
  struct torch_code make; /* nn.Conv2d(..) */
  /* With a given name, which `base` is then: features["0"]. */
  bool given;
  struct slice list; /* list that may contain it: features; or empty */
  int64_t place;     /* index in the list */
};

/* A piece in Python: its modules, and lines of forward with their '\n'. */
struct python_item {
  VEC(struct python_own) own;
  struct torch_code run;
  bool calls; /* it calls a unit */
};

/* Items [first, first + period), `times` times. */
struct python_turn {
  size_t first, period, times;
};

/* A unit has a module: a group with parameters, an iteration, or the net. */
struct python_unit {
  int64_t group, parent;    /* parent: a unit; -1: none */
  const struct frame *turn; /* an iteration; NULL: the group itself */
  struct slice path;        /* in the outer class: stem, blocks[3] */
  int64_t first, end;       /* nodes */
  bool stage;               /* it contains iterations of another loop */
  int64_t again;            /* the unit whose module it calls again, or 0 */
  int height;               /* above inner units */
  VEC(struct python_piece) pieces;
  VEC(int64_t) inputs, outputs; /* arguments and results, in order */
  VEC(int64_t) modules;         /* nodes whose modules are arguments */
  VEC(struct slice) names;      /* of inputs, then of modules */
  struct python_item *items;    /* by piece, and the end */
  size_t item_count;
  VEC(struct python_turn) turns;
  struct torch_code make, run; /* bodies, with holes for values only */
  struct slice given;          /* prefix of all names in it: layer1.0 */
  int64_t class_index;
  struct slice *values; /* for the parameters of its class */
};

/* Units whose code differs only in numbers. */
struct class {
  struct slice name;
  int64_t first; /* the first unit */
  VEC(int64_t) units;
  struct slice *params; /* names, each followed by a NUL */
  bool *param_flags;    /* by parameter: it is True or False */
  size_t param_count;
  int64_t *hole_param; /* by hole of __init__, then forward; -1: none */
};

struct python {
  const struct compiled *c;
  const struct model *model;
  struct arena *arena;
  struct file_maps maps;
  const struct module_name *given; /* by node; NULL: names are made here */
  int64_t *owner;                  /* by parameter: the node that owns it */
  const bool *in_place; /* by node: it may overwrite its first input */
  const int64_t *reads; /* by node: readers, including outputs of the net */
  struct made *made;
  int element; /* enum element of the net if layers have others; or 0 */
  VEC(struct python_unit) units; /* the net first, outer before inner ones */
  int64_t *last, *variable;      /* by value, in the current body */
  VEC(struct class) classes;
  struct map class_names;
  uint64_t helpers;
  struct attention_class *attentions; /* by enum helper */
  const char *refuses;
};

/* Finds the forms of all nodes, or why there are none: python_forms.c */
void python_find_forms(struct python *p);

/*
 * attention.c: settles the arguments of attention classes, without those that
 * all calls give alike; writes such a class or its function.
 */
void python_settle_attention(struct python *p);
bool python_put_attention(const struct python *p, struct text *out,
                          enum helper helper);

/* The values that a node's code reads. units.c */
int python_input_count(const struct python *p, int64_t node);
int64_t python_input(const struct python *p, int64_t node, int input);

/* Finds groups with modules, their inputs and outputs: units.c */
void python_find_units(struct python *p);

/*
 * The group whose module a group without parameters calls again; 0: none. Uses
 * p->last. again.c
 */
int64_t python_group_again(const struct python *p, int64_t group);

/* A unit as the `node` of a hole for a module. */
static inline int64_t unit_as_node(int64_t unit) {
  return -1 - unit;
}

/*
 * True if a unit is around the node that makes a value, or around the module of
 * a node or unit.
 */
bool python_unit_holds(const struct python *p, int64_t unit, int64_t node);

/* Writes the items of a unit whose inner units have classes: body.c */
void python_write_items(struct python *p, int64_t unit);

/*
 * given.c, if p->given is set: whether layers can be a unit inside the prefix
 * `around`; names a module in a unit; writes its containers; whether a name is
 * in a container. p->refuses has the error of the checks.
 */
bool python_given_unit(const struct python *p, int64_t first, int64_t end,
                       struct slice around, struct slice *prefix);
void python_give_name(struct python *p, int64_t unit, struct python_own *own);
void python_put_containers(const struct python *p, int64_t index, size_t item,
                           size_t own, struct slice name,
                           struct torch_code *out);
bool python_given_in(struct slice base, struct slice container);
const char *python_misnamed(const struct python *p, int64_t node,
                            const char *tensor);
void python_check_given(struct python *p);
void python_check_keys(struct python *p);

/* Finds repeating items: loops.c */
void python_find_turns(struct python *p, struct python_unit *unit);

/* The index of a node's module in an item; -1: none. */
int64_t python_own_index(const struct python_item *item, int64_t node);

/* Write the code of a turn whose modules have names: lists.c */
void python_put_makes(struct python *p, int64_t unit,
                      const struct python_turn *turn, struct torch_code *out);
void python_put_lines_of(struct python *p, int64_t unit,
                         const struct python_turn *turn,
                         struct torch_code *out);

/* Units that become one class: its slots contain their turns. */
struct python_variants {
  const int64_t *units;
  size_t count, slots;
  int64_t **turn_at; /* by unit, then slot: the turn; -1: none */
};

/* Returns false if units have too little in common. variants.c */
bool python_align(struct python *p, struct python_variants *v);
const struct python_turn *python_turn_at(const struct python *p,
                                         const struct python_variants *v,
                                         size_t unit, size_t slot);
size_t python_first_with(const struct python *p,
                         const struct python_variants *v, size_t slot);

/*
 * units.c: the origin of a unit. Units of one def or loop with tensors in equal
 * roles become one class.
 */
struct slice python_origin(struct python *p, int64_t unit);

/* names.c: names modules; or, temporarily, gives all modules of a kind one
 * name. */
void python_name_modules(struct python *p, const struct python_variants *v);
void python_name_plainly(struct python *p, int64_t unit);

/* branches.c: writes the bodies of units; false: too many differences. */
bool python_write_units(struct python *p, const struct python_variants *v);

/* turns.c: finds groups and iterations with modules, outer ones first. */
void python_open_units(struct python *p);

/* The paths of modules: paths.c */

/* conv, bn, stem: the base of a name for the module of a node or unit. */
struct slice python_base(const struct python *p, int64_t node);

/* Writes the name of an inner module in a unit's class, or of an argument. */
void python_put_path(const struct python *p, struct text *out, int64_t unit,
                     int64_t node);

/* stem.blocks.3.conv1: the path in the state_dict() of the net. */
struct slice python_key(const struct python *p, int64_t node);

/* Writes bodies and classes of the units at a height: classes.c */
void python_find_classes(struct python *p, int height);

/* Names: words.c */

/* A name that `self.` may have; its plural, for a list of modules. */
struct slice python_attribute(struct arena *arena, struct slice name);
struct slice python_plural(struct arena *arena, struct slice name);

/* True if a name may be a variable and hides nothing. */
bool python_is_variable(struct slice name);

/* ResNet50 of res_net-50; never a keyword of Python or a helper's name. */
struct slice python_class_word(struct arena *arena, struct slice name);

/* A name for a string or comment: other characters than plain ASCII become
 * `?`. */
void python_put_plain(struct text *out, struct slice name);

/* Writes lines indented by `indent`, and breaks those over 79 columns. */
void python_put_lines(struct text *out, struct slice lines, size_t indent);

#endif
