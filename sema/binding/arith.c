/* Arithmetic by the rules of the language, without reports. */
#include "sema/binding/arith.h"

#include <math.h>

#include "base/check.h"
#include "base/real.h"

static bool power(int64_t base, int64_t exponent, int64_t *result) {
  *result = 1;
  while (exponent > 0) {
    if (exponent % 2 && !mul_i64(*result, base, result))
      return false;
    exponent /= 2;
    if (exponent > 0 && !mul_i64(base, base, &base))
      return false;
  }
  return true;
}

static enum arith_fault real(double value, struct arith *result) {
  *result = (struct arith){.is_real = true, .real = value};
  return ARITH_RIGHT;
}

/* As in Python: rounds down, and a remainder has the divisor's sign. */
static bool divide(enum op op, int64_t a, int64_t b, int64_t *result) {
  *result = 0;
  if (b == -1)
    return op == OP_MOD || sub_i64(0, a, result);
  if (op != OP_MOD)
    *result = floor_div_i64(a, b);
  else if ((*result = a % b) != 0 && (*result < 0) != (b < 0))
    *result += b;
  return true;
}

enum arith_fault arith_integers(enum op op, int64_t a, int64_t b,
                                struct arith *result) {
  int64_t value = 0;
  bool fits = true;
  switch (op) {
  case OP_ADD: fits = add_i64(a, b, &value); break;
  case OP_SUB: fits = sub_i64(a, b, &value); break;
  case OP_MUL: fits = mul_i64(a, b, &value); break;
  case OP_POW:
    if (b < 0)
      return real(real_pow((double)a, (double)b), result);
    fits = power(a, b, &value);
    break;
  default: /* OP_DIV, OP_FLOOR, OP_MOD */
    if (b == 0)
      return ARITH_BY_ZERO;
    if (op == OP_DIV && b != -1 && a % b != 0)
      return real((double)a / (double)b, result);
    fits = divide(op, a, b, &value);
    break;
  }
  *result = (struct arith){.integer = value};
  return fits ? ARITH_RIGHT : ARITH_OVERFLOW;
}

enum arith_fault arith_reals(enum op op, double a, double b,
                             struct arith *result) {
  switch (op) {
  case OP_ADD: return real(a + b, result);
  case OP_SUB: return real(a - b, result);
  case OP_MUL: return real(a * b, result);
  case OP_POW: return real(real_pow(a, b), result);
  default: break;
  }
  if (b == 0)
    return ARITH_BY_ZERO;
  return real(op == OP_MOD     ? a - floor(a / b) * b
              : op == OP_FLOOR ? floor(a / b)
                               : a / b,
              result);
}
