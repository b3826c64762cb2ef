/* Arithmetic by the rules of the language. */
#ifndef NETC_SEMA_BINDING_ARITH_H
#define NETC_SEMA_BINDING_ARITH_H

#include <stdbool.h>
#include <stdint.h>

#include "parser/ast.h"

enum arith_fault { ARITH_RIGHT, ARITH_OVERFLOW, ARITH_BY_ZERO };

/* An integer, or a real number, which may be infinite or NaN. */
struct arith {
  bool is_real;
  int64_t integer;
  double real;
};

/* Computes + - * / // % and **. Exact quotients of integers are integers. */
enum arith_fault arith_integers(enum op op, int64_t a, int64_t b,
                                struct arith *result);
enum arith_fault arith_reals(enum op op, double a, double b,
                             struct arith *result);

#endif
