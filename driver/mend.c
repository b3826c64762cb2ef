/* netc check --fix: applies the edits that diagnostics offer. */
#include "driver/mend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/output.h"

/* Fixes may reveal further diagnostics. */
enum { MOST_ROUNDS = 8 };

struct edit {
  struct netc_fixit fix;
  const char *message, *slug; /* the diagnostic that it fixes */
};

struct edits {
  struct edit *at;
  size_t count;
};

static int by_place(const void *a, const void *b) {
  const struct netc_place *x = &((const struct edit *)a)->fix.place;
  const struct netc_place *y = &((const struct edit *)b)->fix.place;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

/* Collects the edits of one file, sorted; false: out of memory. */
static bool find_edits(struct netc *netc, const char *file,
                       struct edits *edits) {
  struct netc_diagnostic d = {.size = sizeof d};
  size_t most = 0;
  for (size_t i = 0; netc_diagnostic(netc, i, &d) == NETC_OK; i++)
    most += d.fixit_count;
  *edits = (struct edits){malloc((most + 1) * sizeof *edits->at), 0};
  if (!edits->at)
    return false;
  for (size_t i = 0; netc_diagnostic(netc, i, &d) == NETC_OK; i++)
    for (size_t k = 0; k < d.fixit_count; k++)
      if (strcmp(d.fixits[k].place.file, file) == 0)
        edits->at[edits->count++] =
            (struct edit){d.fixits[k], d.message, d.slug};
  qsort(edits->at, edits->count, sizeof *edits->at, by_place);
  return true;
}

/* Writes the text with the edits; of overlapping ones only the first. */
static void put_edits(FILE *out, struct slice text, struct edits *edits) {
  size_t at = 0, put = 0;
  for (size_t i = 0; i < edits->count; i++) {
    const struct netc_place *place = &edits->at[i].fix.place;
    if (place->begin < at || (put && place->begin == at))
      continue;
    fwrite(text.at + at, 1, place->begin - at, out);
    fputs(edits->at[i].fix.text, out);
    at = place->end;
    edits->at[put++] = edits->at[i];
  }
  fwrite(text.at + at, 1, text.length - at, out);
  edits->count = put;
}

/* True if a file still has the bytes that were compiled. */
static bool is_unchanged(const char *path, struct slice text) {
  char piece[4096];
  size_t at = 0, count;
  bool same = true;
  FILE *file = fopen(path, "rb");
  if (!file)
    return false;
  while (same && (count = fread(piece, 1, sizeof piece, file)) > 0) {
    same = count <= text.length - at && memcmp(piece, text.at + at, count) == 0;
    at += count;
  }
  same = same && at == text.length && !ferror(file);
  fclose(file);
  return same;
}

static int write_edits(const char *path, struct slice text,
                       struct edits *edits) {
  struct output_file output;
  if (!output_open(&output, path))
    return output_failed(path, errno);
  put_edits(output.file, text, edits);
  if (!is_unchanged(path, text)) {
    output_abandon(&output);
    return complain(
        EXIT_IO, "%s has changed since it was read; nothing was written", path);
  }
  if (!output_commit(&output, false))
    return output_failed(path, errno);
  for (size_t i = 0; i < edits->count; i++)
    fprintf(stderr, "%s:%u:%u: mended: %s [%s]\n", path,
            (unsigned)edits->at[i].fix.place.line,
            (unsigned)edits->at[i].fix.place.column, edits->at[i].message,
            edits->at[i].slug);
  return EXIT_DONE;
}

/* One round over all files; prints each edit and counts them in *put. */
static int mend_files(struct netc *netc, size_t *put) {
  const char *path;
  int status = EXIT_DONE;
  for (size_t i = 0; status == EXIT_DONE && (path = netc_source(netc, i));
       i++) {
    struct edits edits;
    struct slice text;
    text.at = netc_source_text(netc, i, &text.length);
    if (!find_edits(netc, path, &edits))
      status = complain(EXIT_IO, "out of memory");
    else if (text.at && edits.count)
      status = write_edits(path, text, &edits);
    *put += edits.count;
    free(edits.at);
  }
  return status;
}

int mend(struct net_options *o, struct netc *netc, const char *operand) {
  size_t put = 1;
  int status = EXIT_DONE;
  for (int round = 0; put && status == EXIT_DONE && round < MOST_ROUNDS;
       round++) {
    enum netc_status loaded;
    put = 0;
    opening_close(&o->opening); /* its text may have changed */
    status = net_options_try(o, netc, operand, &loaded);
    if (status == EXIT_DONE &&
        (o->opening.kind != KIND_COUNT ||
         strcmp(o->opening.path, operand) != 0 || strcmp(operand, "-") == 0))
      status = complain(EXIT_USAGE,
                        "--fix changes sources; `%s` is another kind of file, "
                        "or comes with netc",
                        operand);
    if (status == EXIT_DONE && (loaded == NETC_OK || loaded == NETC_ERROR))
      status = mend_files(netc, &put);
  }
  opening_close(&o->opening);
  return status;
}
