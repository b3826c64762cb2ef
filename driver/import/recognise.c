/* Recognises the net that a file of tensors belongs to. */
#include "import/recognise.h"

#include <string.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/shown.h"
#include "driver/opening.h"
#include "driver/zoo.h"

struct recognising {
  struct opened_file *opening;
  bool guess, say;
  struct arena arena;
  struct tensor_file file;
  struct netc *netc;
  int status;
};

static bool read_zoo(void *user, const char *net, struct slice *source) {
  struct recognising *r = user;
  struct text file = text_new(&r->arena); /* its params are the papers' */
  text_printf(&file, "%s/zoo/%s.net", zoo_examples(&r->arena), net);
  const char *path = text_string(&file);
  return file_read(&r->arena, path, source) == FILE_OK;
}

/* The file's name, escaped for a comment. */
static const char *shown_name(struct recognising *r) {
  const char *slash = strrchr(r->opening->path, '/');
  struct text name = text_new(&r->arena);
  shown_put(&name, slice_of(slash ? slash + 1 : r->opening->path), 0);
  return text_string(&name);
}

static const char *shape_text(struct recognising *r,
                              const struct stored_tensor *t) {
  struct text text = text_new(&r->arena);
  text_putc(&text, '`');
  shown_put(&text, slice_of(t->name), 0);
  text_put(&text, "` ");
  for (int i = 0; i < t->rank; i++)
    text_printf(&text, "%s%lld", i ? "x" : "", (long long)t->dims[i]);
  return text_string(&text);
}

static int refuse(struct recognising *r) {
  size_t count = r->file.tensors.count;
  struct text why = text_new(&r->arena);
  if (!r->say)
    return EXIT_SOURCE;
  text_printf(&why, "its %zu tensors do not match any net that netc knows",
              count);
  if (count)
    text_printf(&why, ": %s to %s", shape_text(r, &r->file.tensors.at[0]),
                shape_text(r, &r->file.tensors.at[count - 1]));
  return opening_refuse_file(r->opening->path, r->opening->kind,
                             text_string(&why));
}

static void note_net(const struct recognising *r,
                     const struct recognised *found) {
  char classes[64] = "";
  if (found->classes)
    snprintf(classes, sizeof classes, "; classes %lld",
             (long long)found->classes);
  say_note(
      r->opening->path, NULL, "the file is recognised as %s by %zu names%s%s",
      found->label, found->names, classes,
      found->guess ? "; activations, strides and the input are guessed" : "");
}

static void run(void *user) {
  struct recognising *r = user;
  struct opened_file *o = r->opening;
  struct recognised found;
  if (!tensors_open(&r->file, o->path, &r->arena)) {
    r->status = r->say ? opening_refuse_file(o->path, o->kind, r->file.fault)
                       : EXIT_SOURCE;
    return;
  }
  recognise_zoo(&r->file, shown_name(r), r->netc, read_zoo, r, &r->arena,
                &found);
  if (!found.label && r->guess)
    recognise_chain(&r->file, shown_name(r), r->netc, &r->arena, &found);
  if (!found.label) {
    r->status = refuse(r);
    return;
  }
  note_net(r, &found);
  o->text = (struct slice){
      arena_copy(&o->arena, found.source.at, found.source.length),
      found.source.length};
}

bool opening_knows_names(const struct tensor_file *file) {
  return recognise_names(file);
}

int opening_recognise(struct opened_file *opening, bool guess, bool say) {
  struct recognising r = {.opening = opening,
                          .guess = guess,
                          .say = say,
                          .file.store.file = -1,
                          .netc = netc_open(NULL, NULL)};
  struct arena *const arenas[GUARD_ARENAS] = {&r.arena, &opening->arena};
  arena_open(&r.arena, NULL, NULL);
  if (!r.netc || !guard_run(arenas, run, &r))
    r.status = complain(EXIT_IO, "out of memory");
  tensors_close(&r.file);
  arena_close(&r.arena);
  netc_close(r.netc);
  return r.status;
}
