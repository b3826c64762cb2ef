/* Replaces `netc import` in a program that was built without it. */
#include "driver/opening.h"

int command_import(int argc, char **argv) {
  (void)argc;
  (void)argv;
  return complain(EXIT_USAGE,
                  "this netc was built without `import` (`make IMPORT=0`); "
                  "`make` builds it with readers of other frameworks' files");
}

int opening_import(struct opened_file *opening,
                   const struct option_given *given, size_t count) {
  (void)given;
  (void)count;
  return complain_of(EXIT_SOURCE, opening->path,
                     "`make` builds netc with readers of other frameworks' "
                     "files; this one was built with `make IMPORT=0`",
                     "this is %s, which this netc does not read",
                     file_kind(opening->kind)->name);
}

int opening_pipeline(struct opened_file *opening, const char *folder) {
  opening->kind = KIND_CONFIG;
  opening->path = folder;
  return opening_import(opening, NULL, 0);
}

int opening_adapter(struct opened_file *opening) {
  return opening_refuse(opening, KIND_ADAPTER);
}

int opening_lora(const char *path, struct opening_lora *lora) {
  *lora = (struct opening_lora){.values = -1};
  return opening_refuse_file(path, KIND_ADAPTER, "");
}

bool opening_has_modules(struct opened_file *opening) {
  (void)opening;
  return false;
}

bool opening_knows_names(const struct tensor_file *file) {
  (void)file;
  return false;
}

int opening_recognise(struct opened_file *opening, bool guess, bool say) {
  (void)guess;
  return say ? opening_refuse_file(opening->path, opening->kind, "")
             : EXIT_SOURCE;
}
