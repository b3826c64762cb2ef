/*
 * The reference for `make bench`: the same layers as JSON through jansson,
 * which builds each in memory. Prints N objects like those of a report.
 */
#include <jansson.h>
#include <stdlib.h>

static json_t *shape(void) {
  return json_pack("[i,i,i]", 32, 32, 64);
}

static json_t *layer(int index) {
  char name[32];
  snprintf(name, sizeof name, "conv%d", index);
  return json_pack(
      "{s:i, s:s, s:s, s:{s:s, s:i, s:i}, s:[i], s:[o], s:[o], s:s, s:{s:i, "
      "s:[i,i], s:s}, s:i, s:i, s:i, s:i, s:i, s:[]}",
      "index", index, "name", name, "op", "conv", "source", "file", "m.net",
      "line", 2, "col", 18, "inputs", index - 1, "in", shape(), "out", shape(),
      "axes", "HWC", "attributes", "channels", 64, "kernel", 3, 3, "pad",
      "same", "param_count", 36928, "trainable_count", 36928, "buffer_count", 0,
      "activation_count", 65536, "mac_count", 37748736, "warnings");
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 1; i <= count; i++) {
    json_t *object = layer(i);
    json_dumpf(object, stdout, JSON_REAL_PRECISION(15));
    fputs(",\n", stdout);
    json_decref(object);
  }
  return 0;
}
