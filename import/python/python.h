/*
 * Reads modules of PyTorch from their source. Nothing of the file is executed
 * by Python: its constructor and forward() are evaluated here on sizes instead
 * of values, in bounded steps and memory. What PyTorch's classes and functions
 * do is written in torch.py, in the same language: which call of ATen each
 * makes, and of what sizes the result is. The calls are the program that
 * torch.export would write, and import/exported reads them.
 */
#ifndef NETC_IMPORT_PYTHON_PYTHON_H
#define NETC_IMPORT_PYTHON_PYTHON_H

#include "base/file.h"
#include "import/exported/exported.h"
#include "import/python/library.h"
#include "import/python/syntax.h"

enum py_type {
  PY_NONE,
  PY_BOOL,     /* integer */
  PY_INT,      /* integer, times the batch if power is 1 */
  PY_REAL,     /* real */
  PY_TEXT,     /* text */
  PY_LIST,     /* items */
  PY_TUPLE,    /* items */
  PY_DICT,     /* items: key, value, .. */
  PY_SLICE,    /* items: start, stop, step */
  PY_FUNCTION, /* node, scope, usual values as items; owner: its class */
  PY_BUILTIN,  /* builtin */
  PY_BOUND,    /* self, callee */
  PY_CLASS,    /* text; attributes as items; bases */
  PY_OBJECT,   /* owner; attributes as items */
  PY_SUPER,    /* self, owner: the class whose bases are meant */
  PY_SPACE,    /* text: a library that is known: "torch.nn"; or scope, file */
  PY_TENSOR,   /* tensor */
  PY_UNKNOWN   /* text: why it is not known */
};

struct py;
struct py_file;
struct py_value;

struct py_list {
  struct py_value **at;
  size_t count, room;
};

/* Arguments of a call: those with names are name, value, .. */
struct py_args {
  struct py_list by_place, by_name;
};

typedef struct py_value *py_builtin_fn(struct py *p, struct py_args *a);

struct py_scope {
  struct map names;
  struct py_scope *outer;
  struct py_list stars; /* libraries of `from .. import *` */
};

struct py_size {
  int64_t count;
  int power; /* of the batch */
};

struct py_tensor {
  const char *name;  /* in the program */
  struct slice path; /* of a parameter or buffer: "features.0.weight" */
  int rank;          /* -1: an input whose sizes are not known */
  struct py_size sizes[MOST_AXES];
  int type;     /* scalar type of torch/_export/serde/schema.py */
  bool trained; /* a parameter */
  bool frozen;  /* one with requires_grad=False */
  bool live;    /* computed from an input or a parameter */
  bool used;    /* an output depends on it */
  bool leaf;    /* no call makes it */
  int input;    /* which of the program's inputs, from 1; 0: none */
};

struct py_value {
  enum py_type type;
  int power;
  int64_t integer;
  double real;
  struct slice text;
  struct py_list items;
  struct py_list bases;
  const struct py_node *node;
  struct py_scope *scope;
  py_builtin_fn *builtin;
  struct py_value *self, *callee, *owner;
  struct py_tensor *tensor;
  struct py_file *file;
  enum { WAY_PLAIN, WAY_STATIC, WAY_CLASS, WAY_PROPERTY } way;
  bool fields; /* of a class: @dataclass */
};

/* An input, as far as attempts have found out about it. */
struct py_input {
  struct slice name;
  bool whole;          /* its values are indices */
  bool steps_first;    /* length, batch, features */
  bool channels_first; /* two sizes are channels, length in PyTorch */
  bool settled;
  struct graph_shape shape; /* without the batch, in PyTorch's order */
};

/*
 * A file of the program: the one that is given, or one that it imports. Lines
 * of all files are one sequence, so that a line tells its file.
 */
struct py_file {
  const char *path, *folder; /* "unet/parts.py", "unet" */
  const char *inside;        /* folder of a package's modules; NULL: none */
  struct file_id id;
  struct py_node *tree; /* NULL: a folder without __init__.py */
  size_t bytes;
  int first, count;       /* its lines */
  struct py_value *space; /* NULL: it has not run in this attempt */
};

typedef VEC(struct py_file *) py_files;

/* A call of ATen, with the tensors that it reads and makes. */
struct py_traced {
  json_t *json;
  bool needed; /* an output depends on it */
  VEC(struct py_tensor *) reads, makes;
};

enum { PY_INPUTS = 16 };

struct py {
  struct graph *graph;
  struct arena *arena;
  const struct import_options *options;
  py_files *files;
  struct py_scope library; /* torch.py, and what is built in */
  struct py_scope globals; /* the file's */
  struct py_value *none, *yes, *no, *training, *dots;
  int line; /* of the file's statement that runs */
  int64_t steps;
  size_t made;
  int depth;
  struct py_value *function, *first; /* that runs, and its first argument */
  struct py_value *returned;
  const char *error; /* NULL: none */
  const char *help;
  int error_line;
  bool building;  /* a constructor runs */
  bool again;     /* an input is known better now: evaluate again */
  bool sequences; /* a call has got length, batch, features */
  struct py_input inputs[PY_INPUTS];
  size_t input_count;
  /* The program */
  json_t *about, *specs;
  VEC(struct py_traced) calls;
  int64_t parameters;             /* that outputs depend on */
  VEC(struct py_tensor *) leaves; /* parameters, buffers, constants */
  struct map lines;               /* of calls, by their names */
  size_t names;
  size_t absent; /* imports of libraries that netc does not have */
  struct slice absent_name;
  struct slice module, class; /* path and class of the module that runs */
};

/* Fails at the current line; returns NULL. The first error is kept. */
struct py_value *py_fail(struct py *p, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* values.c */
struct py_value *py_make(struct py *p, enum py_type type);
struct py_value *py_int(struct py *p, int64_t value);
struct py_value *py_real(struct py *p, double value);
struct py_value *py_text(struct py *p, struct slice text);
struct py_value *py_bool(struct py *p, bool value);
void py_push(struct py *p, struct py_list *list, struct py_value *value);
bool py_charge(struct py *p, size_t steps);
/* True if evaluating has taken too long: no error of it can be passed over. */
bool py_is_spent(const struct py *p);
/* "an int": of messages */
const char *py_what(const struct py_value *v);
/* Adds an item that the list does not have; false with an error. */
bool py_add_once(struct py *p, struct py_list *list, struct py_value *value);
/* 1: true, 0: false, -1: not known, with an error */
int py_truth(struct py *p, const struct py_value *v);
/* Python's ==; -1 with an error */
int py_equal(struct py *p, const struct py_value *a, const struct py_value *b);
struct py_value **py_slot(struct py *p, struct py_list *dict, struct slice key,
                          bool make);
/* Items of what a loop goes through; false with an error. */
bool py_items(struct py *p, struct py_value *v, struct py_list *to);
const char *py_shown(struct py *p, const struct py_value *v);
bool py_is_a(const struct py_value *class, const struct py_value *base);
bool py_is_module(struct py *p, const struct py_value *v);

/* attributes.c */
struct py_value *py_attribute(struct py *p, struct py_value *v,
                              struct slice name, bool must);
bool py_set_attribute(struct py *p, struct py_value *v, struct slice name,
                      struct py_value *to);
/* A name of torch.py; NULL: there is none. */
struct py_value *py_library(struct py *p, struct slice name);
/* True if a library is known: "torch". */
bool py_knows_library(struct slice root);
/* The value that `import a.b` gives. */
struct py_value *py_imported(struct py *p, struct slice path);
struct py_value *py_find_in_class(struct py *p, struct py_value *class,
                                  struct slice name, struct py_value **owner);

/* operators.c */
struct py_value *py_binary(struct py *p, int op, struct py_value *a,
                           struct py_value *b);
struct py_value *py_unary(struct py *p, int op, struct py_value *a);
struct py_value *py_compare(struct py *p, int op, struct py_value *a,
                            struct py_value *b);
struct py_value *py_index(struct py *p, struct py_value *v,
                          struct py_value *index);
bool py_set_index(struct py *p, struct py_value *v, struct py_value *index,
                  struct py_value *to);
/* `del v[key]`, or del v.key. */
bool py_delete(struct py *p, struct py_value *v, struct py_value *key,
               bool attribute);

/* evaluate.c */
struct py_value *py_evaluate(struct py *p, const struct py_node *node,
                             struct py_scope *scope);
bool py_assign(struct py *p, const struct py_node *target,
               struct py_value *value, struct py_scope *scope);

/* run.c */
enum py_end { END_NONE, END_BREAK, END_CONTINUE, END_RETURN, END_ERROR };

enum py_end py_run(struct py *p, const struct py_node *node,
                   struct py_scope *scope);
/* A file's own statements: what fails makes its names unknown. */
void py_run_file(struct py *p, const struct py_node *block,
                 struct py_scope *scope);
struct py_value *py_function(struct py *p, const struct py_node *node,
                             struct py_scope *scope);

/* files.c */

/* Begins the list of files with the one that is read, parsed. */
void py_open_files(struct py *p, struct slice text);
/* Runs the file that is read. */
void py_run_given(struct py *p);
/* The file of a line. */
struct py_file *py_file_of(const struct py *p, int line);
/* `import` and `from`: sets their names. */
bool py_import(struct py *p, const struct py_node *node,
               struct py_scope *scope);
/* A name of a file, or a module of a package; NULL: there is none. */
struct py_value *py_file_name(struct py *p, struct py_value *space,
                              struct slice name);

/* call.c */
struct py_value *py_call(struct py *p, struct py_value *callee,
                         struct py_args *a);
struct py_value *py_call_with(struct py *p, struct py_value *callee,
                              struct py_value *first, struct py_value *second);
/* A function of torch.py. */
struct py_value *py_call_library(struct py *p, const char *name,
                                 struct py_value *first,
                                 struct py_value *second);

/* builtins.c, methods.c */
struct py_value *py_builtin(struct py *p, struct slice name);
struct py_value *py_method(struct py *p, struct py_value *v, struct slice name);

/* Functions that torch.py calls: rows of primitives.def, in trace.c. */
#define PRIMITIVE(name, function) py_builtin_fn function;
#include "import/python/primitives.def"
#undef PRIMITIVE

/* trace.c */
struct py_value *py_tensor_copy(struct py *p, const struct py_value *v);
struct py_value *py_tensor(struct py *p, int rank, const struct py_size *sizes,
                           int type);
struct py_value *py_input(struct py *p, size_t index);
struct py_value *py_shape(struct py *p, struct py_value *tensor);
/* Fails: the sizes of an input are not known. */
struct py_value *py_ask(struct py *p, struct py_value *tensor);
/* Puts the batch second in all inputs; false: they are not all sequences. */
bool py_put_steps_first(struct py *p, struct py_input *inputs);
/* Registers names of the tree of modules. */
bool py_name_modules(struct py *p, struct py_value *root);
/* The program of torch.export. */
json_t *py_program(struct py *p, struct py_value *out);

#endif
