/* netc verify: differences between the outputs of two parties. */
#include <inttypes.h>
#include <math.h>

#include "driver/run/verify.h"

/* Maximum difference of two, relative to an output's root mean square. */
#define BOUND 1e-4

struct apart {
  double largest, share; /* maximum; relative to the RMS */
  size_t at;             /* index of the maximum */
};

static struct apart measure(const float *a, const float *b, size_t count) {
  struct apart apart = {0};
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    bool same = a[i] == b[i] || (isnan(a[i]) && isnan(b[i]));
    double difference = same ? 0 : fabs((double)a[i] - (double)b[i]);
    if (isnan(difference))
      difference = INFINITY;
    if (difference > apart.largest) {
      apart.largest = difference;
      apart.at = i;
    }
    if (isfinite(b[i]))
      squares += (double)b[i] * (double)b[i];
  }
  double rms = count ? sqrt(squares / (double)count) : 0;
  apart.share =
      apart.largest > 0 && rms > 0 ? apart.largest / rms : apart.largest;
  return apart;
}

/* In int8, an ONNX engine may round a value differently, which then
 * propagates. */
#define STEPS 1

/* A difference in steps of an int8 output. */
static double steps_of(const struct verifying *v, uint32_t output,
                       double difference) {
  const struct netrt_port *port = &v->run->model.outputs[output];
  float scale;
  int32_t zero;
  return netrt_step(&v->run->net, port, &scale, &zero)
             ? difference / (double)scale
             : difference;
}

static bool within(const struct verifying *v, bool onnx,
                   const struct apart *worst, uint32_t output) {
  if (!v->small)
    return worst->share <= BOUND;
  return onnx ? steps_of(v, output, worst->largest) <= STEPS + 1e-3
              : worst->largest <= 0;
}

/* Prints the output with the largest difference; false if above the bound. */
static bool compare(const struct verifying *v, enum verify_party a,
                    enum verify_party b) {
  const struct netrt_model *model = &v->run->model;
  struct apart worst = {.share = -1};
  uint32_t where = 0;
  for (uint32_t i = 0; i < model->output_count; i++) {
    struct apart apart =
        measure(v->outputs[a][i], v->outputs[b][i],
                netrt_values(model, &model->outputs[i].operand));
    if (apart.share > worst.share) {
      worst = apart;
      where = i;
    }
  }
  bool right = within(v, b == PARTY_ONNX, &worst, where);
  printf("%-8s  %-8s  %10.2g  %10.2g", verify_names[a], verify_names[b],
         worst.largest, worst.share);
  if (worst.largest > 0)
    printf("  %s[%zu]", model->outputs[where].name, worst.at);
  printf("%s\n", right ? "" : "  too far");
  return right;
}

/* Reports values that are not finite; false if there are any. */
static bool is_finite(const struct verifying *v, enum verify_party party) {
  const struct netrt_model *model = &v->run->model;
  bool finite = true;
  for (uint32_t i = 0; i < model->output_count; i++) {
    size_t count = netrt_values(model, &model->outputs[i].operand), wrong = 0;
    for (size_t k = 0; k < count; k++)
      wrong += isfinite(v->outputs[party][i][k]) ? 0 : 1;
    if (wrong)
      printf("%s: %zu of %zu values of %s are NaN or infinite\n",
             verify_names[party], wrong, count, model->outputs[i].name);
    finite = finite && wrong == 0;
  }
  return finite;
}

static void name_parties(const struct verifying *v) {
  for (int i = 0; i < PARTY_COUNT; i++) {
    tell("%-8s  %s%s", verify_names[i],
         v->made[i] ? "" : "skipped: ", v->about[i]);
    putchar('\n');
  }
}

int verify_compare(struct verifying *v) {
  bool right = true;
  size_t pairs = 0;
  name_parties(v);
  for (int i = 0; i < PARTY_COUNT; i++)
    pairs += v->made[i] && i != PARTY_RUNTIME;
  if (pairs == 0) {
    finish_stdout();
    return complain(EXIT_USAGE, "nothing was compared: everything else that "
                                "could run this net was skipped");
  }
  printf("\n%-8s  %-8s  %10s  %10s\n", "", "", "difference", "of the rms");
  for (int i = 0; i < PARTY_COUNT; i++)
    for (int k = i + 1; k < PARTY_COUNT; k++)
      if (v->made[i] && v->made[k])
        right = compare(v, (enum verify_party)i, (enum verify_party)k) && right;
  for (int i = 0; i < PARTY_COUNT; i++)
    if (v->made[i])
      right = is_finite(v, (enum verify_party)i) && right;
  if (v->small)
    printf("\n%s: of int8, all bytes %s equal%s\n",
           right ? "alike" : "too far apart", right ? "are" : "must be",
           v->made[PARTY_ONNX] ? ", those of x.onnx to a step" : "");
  else
    printf("\n%s: the bound is %.0e of an output's root mean square\n",
           right ? "alike" : "too far apart", BOUND);
  int status = finish_stdout();
  return status ? status : right ? EXIT_DONE : EXIT_SOURCE;
}
