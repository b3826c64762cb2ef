/*
 * netc verify: a program as a device has it. Weights and inputs are files of
 * FOLDER, and outputs become files of it, c.out0 and so on; on a board without
 * an operating system it is the host that opens them (semihosting), to which an
 * exit status need not come through: what fails is printed, too.
 */
#include <stdio.h>
#include <string.h>

#include "folder.h" /* FOLDER */
#include "net.h"
#include "netrt.h"

static NETRT_ALIGNED unsigned char arena[NET_ARENA_BYTES + 1];
static NETRT_ALIGNED unsigned char weights[NET_WEIGHT_BYTES + 1];
static struct netrt net;

static FILE *open_file(const char *name, unsigned i, const char *mode) {
  char path[sizeof FOLDER + 40];
  sprintf(path, "%s/%s%u", FOLDER, name, i);
  return fopen(path, mode);
}

static int fill(const char *name, unsigned i, void *at, size_t bytes) {
  FILE *file = open_file(name, i, "rb");
  int done = file && fread(at, 1, bytes, file) == bytes;
  if (file)
    fclose(file);
  return done;
}

/* Of 8 bits: what a value stands for. */
static float small_of(const struct netrt_port *port, const void *values,
                      long place) {
  float scale = 1;
  int32_t zero = 0;
  netrt_step(&net, port, &scale, &zero);
  return (float)(((const int8_t *)values)[place] - zero) * scale;
}

static float real_of(const struct netrt_port *port, const void *values,
                     long place) {
  switch (port->operand.type) {
  case NETRT_I8: return small_of(port, values, place);
  case NETRT_I32: return (float)((const int32_t *)values)[place];
  case NETRT_I64: return (float)((const int64_t *)values)[place];
  default: return ((const float *)values)[place];
  }
}

/* An output may be a view: value by value, by its strides; floats, be it that
 * it has indices. */
static int write_output(unsigned i) {
  const struct netrt_operand *made = &net_model.outputs[i].operand;
  const int32_t *size = net_model.numbers + made->shape;
  const int32_t *stride = size + made->rank;
  const void *values = netrt_output(&net, i);
  FILE *file = open_file("c.out", i, "wb");
  int32_t at[NETRT_RANK] = {0};
  long place = 0;
  int axis = 0, done = file != NULL;
  while (done && axis >= 0) {
    float value = real_of(&net_model.outputs[i], values, place);
    done = fwrite(&value, sizeof value, 1, file) == 1;
    for (axis = made->rank - 1; axis >= 0; axis--) {
      place += stride[axis];
      if (++at[axis] < size[axis])
        break;
      place -= (long)stride[axis] * at[axis];
      at[axis] = 0;
    }
  }
  return file && fclose(file) == 0 && done;
}

static int fail(const char *why) {
  puts(why);
  return 1;
}

int main(void) {
  enum netrt_status status;
  unsigned i;
  if (!fill("weights", 0, weights, NET_WEIGHT_BYTES))
    return fail("the weights cannot be read");
  status = netrt_open(&net, &net_model, weights, NET_WEIGHT_BYTES, arena,
                      sizeof arena);
  if (status != NETRT_OK)
    return fail(netrt_status_text(status));
  for (i = 0; i < net_model.input_count; i++) {
    const struct netrt_operand *given = &net_model.inputs[i].operand;
    if (!fill("in", i, netrt_input(&net, i),
              netrt_values(&net_model, given) * netrt_type_bytes(given->type)))
      return fail("an input cannot be read");
  }
  status = netrt_run(&net);
  if (status != NETRT_OK)
    return fail(netrt_status_text(status));
  for (i = 0; i < net_model.output_count; i++)
    if (!write_output(i))
      return fail("an output cannot be written");
  netrt_close(&net);
  return 0;
}
