/* Inside of `-o x.py`: what its files share. */
#ifndef NETC_CODEGEN_TORCH_PYTHON_H
#define NETC_CODEGEN_TORCH_PYTHON_H

#include "base/map.h"
#include "codegen/backend.h"
#include "codegen/torch/form.h"

/* What a node becomes. */
struct made {
  struct torch_code make, call; /* of its form */
  struct torch_seen seen;
  int8_t joins; /* `call` is a list, to be joined along this axis */
  bool loose, repeats;
  bool list;         /* it stays one, and readers join it */
  unsigned helpers;  /* bits of enum helper */
  int taken;         /* layers that want it joined */
  int64_t real;      /* the node whose value this is: itself, or its input's */
  int64_t readers;   /* of the value, and outputs of the net */
  int64_t unit;      /* whose class has it */
  struct slice path; /* of its module, in the class: conv1, convs[2] */
};

/* A row of layers, or the call of a group's module. */
struct python_piece {
  int64_t first, end; /* nodes */
  int64_t unit;       /* that is called; -1: a row */
};

/* A module that a piece makes. */
struct python_own {
  int64_t node;           /* or unit_as_node() */
  struct slice base;      /* conv, before it is counted */
  struct torch_code make; /* nn.Conv2d(..) */
  /* Of a name that is given, which `base` is then: features["0"]; */
  bool given;
  struct slice list; /* what it may be in a list of: features; or nothing */
  int64_t place;     /* in the list */
};

/* A piece as Python: its modules, and lines of forward, each with its '\n'. */
struct python_item {
  VEC(struct python_own) own;
  struct torch_code run;
  bool calls; /* a unit */
};

/* Items [first, first + period), `times` times. */
struct python_turn {
  size_t first, period, times;
};

/* A group with parameters, a turn of a loop, or the net: it has a module. */
struct python_unit {
  int64_t group, parent;    /* parent: a unit; -1: none */
  const struct frame *turn; /* of a loop in the group; NULL: the group itself */
  struct slice path;        /* in the class around: stem, blocks[3] */
  int64_t first, end;       /* nodes */
  bool stage;               /* turns of another loop are inside */
  int64_t again;            /* the unit whose module it calls once more, or 0 */
  int height;               /* over the units inside */
  VEC(struct python_piece) pieces;
  VEC(int64_t) inputs, outputs; /* values, as it takes and gives them */
  VEC(int64_t) modules;         /* nodes whose modules it is given */
  VEC(struct slice) names;      /* of inputs, then of modules */
  struct python_item *items;    /* of its pieces, and the end */
  size_t item_count;
  VEC(struct python_turn) turns;
  struct torch_code make, run; /* the bodies, with holes for values only */
  struct slice given; /* what begins the names of all in it: layer1.0 */
  int64_t class_index;
  struct slice *values; /* for the parameters of its class */
};

/* Units that are written alike, but for numbers. */
struct class {
  struct slice name;
  int64_t first; /* a unit of it */
  VEC(int64_t) units;
  struct slice *params; /* their names, each before a NUL */
  bool *param_flags;    /* by parameter: it is True or False */
  size_t param_count;
  int64_t *hole_param; /* by hole of __init__, then of forward; -1: the same */
};

struct python {
  const struct compiled *c;
  const struct model *model;
  struct arena *arena;
  struct file_maps maps;
  const struct module_name *given; /* by node; NULL: they get names here */
  int64_t *owner; /* by parameter: the node whose module has it */
  struct made *made;
  VEC(struct python_unit) units; /* the net first, outer before inner ones */
  int64_t *last, *variable;      /* by value, for the current body */
  VEC(struct class) classes;
  struct map class_names;
  unsigned helpers;
  struct attention_class *attentions; /* by enum helper */
  const char *refuses;
};

/* Forms of all nodes; or why there are none: python_forms.c */
void python_find_forms(struct python *p);

/*
 * The classes of attentions: what all calls of one give alike is no argument;
 * and its text, or a function's of it: attention.c
 */
void python_settle_attention(struct python *p);
bool python_put_attention(const struct python *p, struct text *out,
                          enum helper helper);

/* Groups with modules, what they read and give: units.c */
void python_find_units(struct python *p);

/*
 * The group whose module a group without parameters of its own calls once
 * more; 0: none. Asks p->last: again.c
 */
int64_t python_group_again(const struct python *p, int64_t group);

/* Holes for modules have a node, or by this a unit. */
static inline int64_t unit_as_node(int64_t unit) {
  return -1 - unit;
}

/*
 * Whether a unit is around a node, whose value is seen there; or around the
 * module of a node or unit.
 */
bool python_unit_holds(const struct python *p, int64_t unit, int64_t node);

/* The items of a unit whose inner ones have their classes: body.c */
void python_write_items(struct python *p, int64_t unit);

/*
 * Names that are given, if p->given is set: given.c. Whether these layers may
 * be a unit inside of what is called `around`; what a unit calls a module;
 * what makes the containers that it lies in; whether a name is of one that
 * lies in a container; what is said of a tensor that its module cannot call so.
 * Of both checks p->refuses tells.
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

/* Which items repeat: loops.c */
void python_find_turns(struct python *p, struct python_unit *unit);

/* Which of an item's modules that is; -1: none. */
int64_t python_own_index(const struct python_item *item, int64_t node);

/* What a turn makes and does, when its modules have names: lists.c */
void python_put_makes(struct python *p, int64_t unit,
                      const struct python_turn *turn, struct torch_code *out);
void python_put_lines_of(struct python *p, int64_t unit,
                         const struct python_turn *turn,
                         struct torch_code *out);

/* Units that are to be one class: their turns lie in slots of it. */
struct python_variants {
  const int64_t *units;
  size_t count, slots;
  int64_t **turn_at; /* by unit, then slot: its turn; -1: it has none there */
};

/* False: they have too little in common. variants.c */
bool python_align(struct python *p, struct python_variants *v);
const struct python_turn *python_turn_at(const struct python *p,
                                         const struct python_variants *v,
                                         size_t unit, size_t slot);
size_t python_first_with(const struct python *p,
                         const struct python_variants *v, size_t slot);

/*
 * Where in the source a unit comes from: those of one def, or one loop, whose
 * tensors go in and out alike, are to be one class. units.c
 */
struct slice python_origin(struct python *p, int64_t unit);

/* Modules get their names: names.c; for a while, all those of a kind one */
void python_name_modules(struct python *p, const struct python_variants *v);
void python_name_plainly(struct python *p, int64_t unit);

/* The bodies of units; false: they differ in too many ways. branches.c */
bool python_write_units(struct python *p, const struct python_variants *v);

/* Groups and turns of loops that have modules, outer ones first: turns.c */
void python_open_units(struct python *p);

/* The paths of modules: paths.c */

/* conv, bn, stem: what the module of a node or unit is called after. */
struct slice python_base(const struct python *p, int64_t node);

/* How a unit's class calls a module in it, or that it is given. */
void python_put_path(const struct python *p, struct text *out, int64_t unit,
                     int64_t node);

/* stem.blocks.3.conv1: as in the state_dict() of the net. */
struct slice python_key(const struct python *p, int64_t node);

/* Bodies and classes of the units of that height: classes.c */
void python_find_classes(struct python *p, int height);

/* Names: words.c */

/* A name that `self.` may have, and one of many modules. */
struct slice python_attribute(struct arena *arena, struct slice name);
struct slice python_plural(struct arena *arena, struct slice name);

/* A variable that hides nothing. */
bool python_is_variable(struct slice name);

/* ResNet50 of res_net-50; no word of Python, nor a helper's. */
struct slice python_class_word(struct arena *arena, struct slice name);

/* A name inside a string or comment: others than plain letters become `?`. */
void python_put_plain(struct text *out, struct slice name);

/* Writes lines, `indent` blanks in front, and breaks those over 79 columns. */
void python_put_lines(struct text *out, struct slice lines, size_t indent);

#endif
