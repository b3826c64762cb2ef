/* Inside of `-o x.py`: what its files share. */
#ifndef NETC_CODEGEN_TORCH_PYTHON_H
#define NETC_CODEGEN_TORCH_PYTHON_H

#include "base/map.h"
#include "codegen/backend.h"
#include "codegen/torch/form.h"

enum { PYTHON_MOST = 200000 }; /* layers of a file that PyTorch can build */

/* What a node becomes. */
struct made {
  struct torch_code make, call; /* of its form */
  struct torch_seen seen;
  bool loose, repeats;
  int64_t real;    /* the node whose value this is: itself, or its input's */
  int64_t readers; /* of the value, and outputs of the net */
  int64_t unit;    /* whose class has it */
};

/* A row of layers, or the call of a group's module. */
struct python_piece {
  int64_t first, end; /* nodes */
  int64_t unit;       /* that is called; -1: a row */
};

/* A piece as Python: lines of __init__ and of forward, each with its '\n'. */
struct python_item {
  struct torch_code make, run;
};

/* A group with parameters, or the net: it has a module. */
struct python_unit {
  int64_t group, parent; /* parent: a unit; -1: none */
  int64_t first, end;    /* nodes */
  int64_t again;         /* the unit whose module it calls once more, or 0 */
  int height;            /* over the units inside */
  VEC(struct python_piece) pieces;
  VEC(int64_t) inputs, outputs; /* values, as it takes and gives them */
  VEC(int64_t) modules;         /* nodes whose modules it is given */
  VEC(struct slice) names;      /* of inputs, then of modules */
  struct torch_code make, run;  /* the bodies, with holes for values only */
  int64_t class_index;
  struct slice *values; /* for the parameters of its class */
};

/* Units that are written alike, but for numbers. */
struct class {
  struct slice name;
  int64_t first; /* a unit of it */
  VEC(int64_t) units;
  struct slice *params; /* their names, each before a NUL */
  size_t param_count;
  int64_t *hole_param; /* by hole of __init__, then of forward; -1: the same */
};

struct python {
  const struct compiled *c;
  const struct model *model;
  struct arena *arena;
  struct file_maps maps;
  int64_t *owner; /* by parameter: the node whose module has it */
  struct made *made;
  VEC(struct python_unit)
  units;                    /* the net first, groups before what is inside */
  int64_t *last, *variable; /* by value, for the current body */
  VEC(struct class) classes;
  struct map class_names;
  unsigned helpers;
  const char *refuses;
};

/* Forms of all nodes; or why there are none: python_forms.c */
void python_find_forms(struct python *p);

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

/* The bodies of a unit whose inner ones have their classes: body.c */
void python_write_body(struct python *p, int64_t unit);

/* Puts items together, those that repeat as loops: loops.c */
void python_put_items(struct python *p, struct python_unit *unit,
                      const struct python_item *items, size_t count);

/* Classes of the units of that height: classes.c */
void python_find_classes(struct python *p, int height);

/* Names: words.c */

/* `self.name` may be a module. */
bool python_is_attribute(struct slice name);

/* A variable that hides nothing. */
bool python_is_variable(struct slice name);

/* ResNet50 of res_net-50; no word of Python, nor a helper's. */
struct slice python_class_word(struct arena *arena, struct slice name);

/* A name inside a string or comment: others than plain letters become `?`. */
void python_put_plain(struct text *out, struct slice name);

/* Writes lines, `indent` blanks in front, and breaks those over 79 columns. */
void python_put_lines(struct text *out, struct slice lines, size_t indent);

#endif
