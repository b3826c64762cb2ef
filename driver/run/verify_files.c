/*
 * netc verify: files for the other programs. Arrays have netc's order of axes
 * and no header; `ends` has a line for each, such as "in f32 2x9x7x3 in0".
 */
#include "driver/run/verify.h"

#include <errno.h>
#include <stdlib.h>

#include "driver/export.h"
#include "import/tensors/safetensors.h"

struct verify_path verify_path(const struct verifying *v, const char *name) {
  struct verify_path path;
  snprintf(path.text, sizeof path.text, "%s/%s", v->folder, name);
  return path;
}

static FILE *create(const struct verifying *v, const char *name) {
  return fopen(verify_path(v, name).text, "wb");
}

static int finish(const struct verifying *v, const char *name, FILE *file) {
  bool written = file && !ferror(file);
  if (file && fclose(file) != 0)
    written = false;
  return written ? EXIT_DONE
                 : complain(EXIT_IO, "cannot write %s: %s",
                            verify_path(v, name).text, strerror(errno));
}

static int write_bytes(const struct verifying *v, const char *name,
                       const void *bytes, size_t count) {
  FILE *file = create(v, name);
  if (file)
    fwrite(bytes, 1, count, file);
  return finish(v, name, file);
}

/* An ONNX model has reals for netc's int8; its inputs have separate files. */
static void put_end(const struct verifying *v, const struct netrt_port *port,
                    const char *what, bool real, uint32_t i, FILE *file) {
  static const char *const types[] = {[NETRT_F32] = "f32",
                                      [NETRT_I32] = "i32",
                                      [NETRT_I64] = "i64",
                                      [NETRT_I8] = "i8"};
  const struct netrt_operand *operand = &port->operand;
  real = real && operand->type == NETRT_I8;
  fprintf(file, "%s %s ", what, types[real ? NETRT_F32 : operand->type]);
  for (int axis = 0; axis < operand->rank; axis++)
    fprintf(file, "%s%d", axis ? "x" : "",
            (int)v->run->model.numbers[operand->shape + (uint32_t)axis]);
  bool own = real && strcmp(what, "in") == 0;
  fprintf(file, " %s%s%u\n", what, own ? "_real" : "", (unsigned)i);
}

static int write_ends(const struct verifying *v, bool real) {
  const struct netrt_model *model = &v->run->model;
  FILE *file = create(v, "ends");
  for (uint32_t i = 0; file && i < model->input_count; i++)
    put_end(v, &model->inputs[i], "in", real, i, file);
  for (uint32_t i = 0; file && i < model->output_count; i++)
    put_end(v, &model->outputs[i], "out", real, i, file);
  return finish(v, "ends", file);
}

static int write_tensors(const struct verifying *v, const char *name) {
  FILE *file = create(v, name);
  if (file)
    weight_set_write(&v->run->set, file);
  return finish(v, name, file);
}

/* Escapes the directory as a C string. */
static int write_folder(const struct verifying *v) {
  FILE *file = create(v, "folder.h");
  if (file)
    fputs("#define FOLDER \"", file);
  for (const char *c = v->folder; file && *c; c++)
    fprintf(file, "\\%03o", (unsigned)(unsigned char)*c);
  if (file)
    fputs("\"\n", file);
  return finish(v, "folder.h", file);
}

int verify_write_files(struct verifying *v) {
  const struct running *r = v->run;
  int status =
      write_bytes(v, "weights0", r->weight_block, r->model.weight_bytes);
  for (uint32_t i = 0; i < r->model.input_count && status == EXIT_DONE; i++) {
    const struct netrt_operand *operand = &r->model.inputs[i].operand;
    char name[32];
    snprintf(name, sizeof name, "in%u", (unsigned)i);
    status = write_bytes(v, name, r->given[i],
                         netrt_values(&r->model, operand) *
                             netrt_type_bytes(operand->type));
  }
  if (status == EXIT_DONE)
    status = write_ends(v, false);
  if (status == EXIT_DONE)
    status = write_folder(v);
  if (status == EXIT_DONE)
    status = write_tensors(v, "net.safetensors");
  return status;
}

/* What netc writes of the net */

int verify_emit(struct verifying *v, enum verify_party party, const char *kind,
                const char *name) {
  struct netc *netc = v->run->options.netc;
  struct netc_options look = {.size = sizeof look, .prefix = "net"};
  FILE *file = create(v, name);
  enum netc_status made =
      file ? netc_emit(netc, kind, &look, file_sink, file) : NETC_OK;
  int status = finish(v, name, file);
  if (status != EXIT_DONE)
    return status;
  if (made == NETC_ERROR) /* only for this output */
    snprintf(v->about[party], sizeof *v->about, "%s", netc_message(netc));
  v->asked[party] = made == NETC_OK;
  return made == NETC_ERROR ? EXIT_DONE : exit_status_of(netc, made);
}

/* Uses the names that x.py gives its tensors. */
int verify_write_torch(struct verifying *v) {
  int status = verify_emit(v, PARTY_TORCH, "py", "net.py");
  if (status == EXIT_DONE && v->asked[PARTY_TORCH])
    status = weight_set_rename(&v->run->set, "py");
  if (status == EXIT_DONE && v->asked[PARTY_TORCH])
    status = write_tensors(v, "py.safetensors");
  return status;
}

/* Writes the real values of int8 inputs. */
static int write_reals(const struct verifying *v, uint32_t i) {
  struct running *r = v->run;
  const struct netrt_port *port = &r->model.inputs[i];
  size_t count = netrt_values(&r->model, &port->operand);
  const int8_t *from = r->given[i];
  float *reals = arena_alloc(&r->arena, count + 1, sizeof *reals), scale;
  int32_t zero;
  char name[32];
  if (!netrt_step(&r->net, port, &scale, &zero))
    return EXIT_DONE;
  for (size_t k = 0; k < count; k++)
    reals[k] = (float)(from[k] - zero) * scale;
  snprintf(name, sizeof name, "in_real%u", (unsigned)i);
  return write_bytes(v, name, reals, count * sizeof *reals);
}

/* For int8, where the model begins with QuantizeLinear. */
static int write_real_ends(const struct verifying *v) {
  int status = write_ends(v, true);
  for (uint32_t i = 0; i < v->run->model.input_count && status == EXIT_DONE;
       i++)
    status = write_reals(v, i);
  return status;
}

int verify_write_onnx(struct verifying *v) {
  struct verify_path path = verify_path(v, "net.onnx");
  struct verify_path weights = verify_path(v, "net.safetensors");
  char *about = v->about[PARTY_ONNX];
  FILE *file = create(v, "net.onnx");
  struct export_request request = {.netc = v->run->options.netc,
                                   .net = v->run->options.files.at[0],
                                   .path = path.text,
                                   .file = file,
                                   .weights = weights.text,
                                   .opset = OPSET_USUAL,
                                   .refused = about,
                                   .refused_room = sizeof *v->about};
  int status = file ? export_onnx(&request) : EXIT_DONE;
  int finished = finish(v, "net.onnx", file);
  v->asked[PARTY_ONNX] = !*about;
  if (v->small && finished == EXIT_DONE)
    finished = write_real_ends(v);
  return status ? status : finished;
}
