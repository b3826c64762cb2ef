/* The options of `netc import`. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/import/request.h"

/* "NAME=224x224x3" or "224x224x3" */
int request_take_input(struct import_request *r, char *value) {
  char *equals = strchr(value, '='), *at = equals ? equals + 1 : value;
  if (r->options.input_count == REQUEST_INPUTS)
    return complain(EXIT_USAGE, "--input can be given at most %d times",
                    REQUEST_INPUTS);
  struct import_input *input = &r->inputs[r->options.input_count++];
  r->options.inputs = r->inputs;
  if (equals) {
    *equals = '\0';
    input->name = value;
  }
  for (bool more = true; more; at++) {
    char *end;
    errno = 0;
    int64_t size = isdigit((unsigned char)*at) ? strtoll(at, &end, 10) : 0;
    if (size < 1 || size > (1 << 30) || errno ||
        input->shape.rank == LIMIT_RANK || (*end && *end != 'x'))
      return complain(EXIT_USAGE, "--input takes sizes as 224x224x3, and "
                                  "NAME=224x224x3 where there are several");
    input->shape.size[input->shape.rank++] = size;
    more = *end == 'x';
    at = end;
  }
  return EXIT_DONE;
}

/* Cuts "NAME=VALUE" into two; NULL after an error with the option's example. */
static char *take_pair(char *text, const char *option, size_t count,
                       const char *example) {
  char *equals = strchr(text, '=');
  if (count == REQUEST_SIZES) {
    complain(EXIT_USAGE, "--%s can be given at most %d times", option,
             REQUEST_SIZES);
    return NULL;
  }
  if (!equals || equals == text) {
    complain(EXIT_USAGE, "--%s takes %s", option, example);
    return NULL;
  }
  *equals = '\0';
  return equals + 1;
}

static int take_size(struct import_request *r, char *text) {
  static const char example[] = "NAME=VALUE: --dim sequence=128";
  char *value = take_pair(text, "dim", r->options.size_count, example), *end;
  if (!value)
    return EXIT_USAGE;
  errno = 0;
  int64_t size = isdigit((unsigned char)*value) ? strtoll(value, &end, 10) : 0;
  if (size < 1 || size > (1 << 30) || errno || *end)
    return complain(EXIT_USAGE, "--dim takes %s", example);
  r->sizes[r->options.size_count++] = (struct import_size){text, size};
  r->options.sizes = r->sizes;
  return EXIT_DONE;
}

static int take_arg(struct import_request *r, char *text) {
  char *value = take_pair(text, "arg", r->options.arg_count,
                          "NAME=VALUE: --arg n_classes=10");
  if (!value)
    return EXIT_USAGE;
  r->args[r->options.arg_count++] = (struct import_arg){text, value};
  r->options.args = r->args;
  return EXIT_DONE;
}

static int take_scalar(struct import_request *r, char *text) {
  static const char example[] = "NAME=NUMBER: --value sr=16000";
  char *value = take_pair(text, "value", r->options.scalar_count, example);
  if (!value)
    return EXIT_USAGE;
  char *end;
  double number = strtod(value, &end);
  if (end == value || *end || !(fabs(number) <= 9e15))
    return complain(EXIT_USAGE, "--value takes %s", example);
  r->scalars[r->options.scalar_count++] = (struct import_scalar){text, number};
  r->options.scalars = r->scalars;
  return EXIT_DONE;
}

static int take_parameter(struct import_request *r, const char *name) {
  if (r->options.parameter_count == REQUEST_SIZES)
    return complain(EXIT_USAGE, "--parameter can be given at most %d times",
                    REQUEST_SIZES);
  r->parameters[r->options.parameter_count++] = name;
  r->options.parameters = r->parameters;
  return EXIT_DONE;
}

int request_take(void *user, enum option_id option, const char *name,
                 char *value) {
  struct import_request *r = user;
  (void)name;
  switch (option) {
  case OPTION_OUTPUT: r->output = value; break;
  case OPTION_INPUT_SIZE: return request_take_input(r, value);
  case OPTION_DIM: return take_size(r, value);
  case OPTION_ARG: return take_arg(r, value);
  case OPTION_VALUE: return take_scalar(r, value);
  case OPTION_PARAMETER: return take_parameter(r, value);
  case OPTION_WEIGHTS:
    r->weights = value;
    r->options.weights = true;
    break;
  case OPTION_FROM: r->from = value; break;
  case OPTION_FLAT: r->options.flat = true; break;
  case OPTION_ASSUME_BN: r->options.assume_bn = true; break;
  case OPTION_AS: r->options.as = value; break;
  case OPTION_TYPES: r->types = true; break;
  default: r->options.allow_unknown = true;
  }
  return EXIT_DONE;
}
