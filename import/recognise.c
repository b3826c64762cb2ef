/* Recognises nets of the zoo by torchvision's names of their tensors. */
#include "import/recognise.h"

#include <ctype.h>

#include "base/check.h"

struct recognised_net {
  const char *label, *net, *params, *classifier, *telltales;
};

static const struct recognised_net nets[] = {
#define NET(label, net, params, classifier, telltales) \
  {label, net, params, classifier, telltales},
#include "import/recognised.def"
#undef NET
};

/* Counts */

static bool is_statistic(const char *name) {
  struct slice s = slice_of(name);
  return slice_ends(s, "running_mean") || slice_ends(s, "running_var");
}

/* Sums the tensors' sizes; false if the sums pass what a net can have. */
static bool add_stored(const struct tensor_file *file, int64_t *parameters,
                       int64_t *statistics) {
  *parameters = *statistics = 0;
  for (size_t i = 0; i < file->tensors.count; i++) {
    const struct stored_tensor *t = &file->tensors.at[i];
    int64_t *sum = is_statistic(t->name) ? statistics : parameters;
    if (t->shared || (sum == parameters && tensor_is_buffer(t)))
      continue;
    if (!add_i64(*sum, t->count, sum))
      return false;
  }
  return true;
}

/* Parameters that the file has in addition to the source's net; false if the
 * statistics differ. */
static bool count_more(const struct tensor_file *file, struct netc *netc,
                       struct slice source, int64_t *more) {
  struct netc_weight weight = {.size = sizeof weight};
  int64_t parameters, statistics, ours = 0, buffers = 0;
  if (!add_stored(file, &parameters, &statistics) ||
      netc_load_text(netc, "recognised", source.at, source.length) != NETC_OK)
    return false;
  for (size_t i = 0; netc_weight(netc, i, &weight) == NETC_OK; i++)
    *(weight.buffer ? &buffers : &ours) += weight.count;
  *more = parameters - ours;
  return buffers == statistics;
}

bool recognise_holds(const struct tensor_file *file, struct netc *netc,
                     struct slice source) {
  int64_t more;
  return count_more(file, netc, source, &more) && more == 0;
}

/* The number of input channels that explains `more` parameters than those of
 * the loaded net, whose first convolution has 3 channels; 0 if none does. */
static int64_t find_channels(const struct tensor_file *file, struct netc *netc,
                             int64_t more) {
  struct netc_weight first = {.size = sizeof first};
  if (netc_weight(netc, 0, &first) != NETC_OK || first.rank != 4 ||
      first.dims[1] != 3 || more % (first.count / 3) != 0)
    return 0;
  int64_t channels = 3 + more / (first.count / 3);
  for (size_t i = 0; i < file->tensors.count && channels > 0; i++) {
    const struct stored_tensor *t = &file->tensors.at[i];
    if (t->rank == 4 && t->dims[0] == first.dims[0] && t->dims[1] == channels &&
        t->dims[2] == first.dims[2] && t->dims[3] == first.dims[3])
      return channels;
  }
  return 0;
}

/* Sources */

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* The next occurrence of a word, or NULL. */
static const char *find_word(const char *from, const char *end,
                             struct slice word) {
  for (const char *at = from; (size_t)(end - at) >= word.length; at++)
    if (memcmp(at, word.at, word.length) == 0 &&
        (at == from || !is_word(at[-1])) &&
        (at + word.length == end || !is_word(at[word.length])))
      return at;
  return NULL;
}

/* Sets the value of a param, which may have none before its `in`. */
static bool put_param(struct text *out, struct slice source, struct slice name,
                      struct slice value) {
  static const struct slice param = {"param", 5}, in = {"in", 2};
  const char *end = source.at + source.length, *at = source.at, *found = NULL;
  while ((at = find_word(at, end, param)) != NULL) {
    at += param.length;
    while (at < end && *at == ' ')
      at++;
    found = find_word(at, end, name) == at ? at : found;
  }
  if (!found)
    return false;
  size_t length = strcspn(found, ";\n");
  const char *stop = found + length;
  const char *list = find_word(found, stop, in);
  stop = list ? list : stop;
  const char *equals = memchr(found, '=', (size_t)(stop - found));
  const char *before = equals ? equals : stop;
  while (before > found && before[-1] == ' ')
    before--;
  text_bytes(out, source.at, (size_t)(before - source.at));
  text_put(out, " = ");
  text_puts(out, value);
  text_put(out, list ? " " : "");
  text_bytes(out, stop, (size_t)(end - stop));
  return true;
}

bool recognise_set_params(struct arena *arena, const char *params,
                          struct slice *source) {
  while (*params) {
    size_t length = strcspn(params, " "), name = strcspn(params, "=");
    struct text out = text_new(arena);
    if (!put_param(&out, *source, (struct slice){params, name},
                   (struct slice){params + name + 1, length - name - 1}))
      return false;
    text_putc(&out, '\0');
    *source = slice_less(text_slice(&out), 1);
    params += length + (params[length] == ' ');
  }
  return true;
}

enum { USUAL_CLASSES = 1000 }; /* of ImageNet */

void recognise_put_classes(struct text *out, struct slice source,
                           int64_t classes) {
  static const struct slice usual = {"1000", 4};
  const char *at = source.at, *end = at + source.length, *next;
  while ((next = find_word(at, end, usual)) != NULL) {
    text_bytes(out, at, (size_t)(next - at));
    text_int(out, classes);
    at = next + usual.length;
  }
  text_bytes(out, at, (size_t)(end - at));
}

/* Replaces the channels in `input 224x224x3`; false if the line differs. */
static bool put_channels(struct text *source, int64_t channels) {
  static const char line[] = "\ninput ";
  struct text rest = text_new(source->arena);
  for (size_t i = 0; channels && i + sizeof line <= source->length; i++) {
    if (memcmp(source->at + i, line, sizeof line - 1) != 0)
      continue;
    size_t end = i + 1;
    while (end < source->length && source->at[end] != '\n')
      end++;
    if (memcmp(source->at + end - 2, "x3", 2) != 0)
      return false;
    text_bytes(&rest, source->at + end, source->length - end);
    source->length = end - 1;
    text_int(source, channels);
    text_puts(source, text_slice(&rest));
    return true;
  }
  return false;
}

/* Candidates */

static bool has_telltale(const struct tensor_file *file,
                         const char *telltales) {
  char name[128];
  while (*telltales) {
    size_t length = strcspn(telltales, "|");
    if (length < sizeof name) {
      memcpy(name, telltales, length);
      name[length] = '\0';
      if (tensors_find(file, name))
        return true;
    }
    telltales += length + (telltales[length] == '|');
  }
  return false;
}

bool recognise_names(const struct tensor_file *file) {
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
    if (has_telltale(file, nets[i].telltales))
      return true;
  return false;
}

/* Outputs of the last layer; 0 if the file has no such layer. */
static int64_t count_classes(const struct tensor_file *file,
                             const char *classifier, struct arena *arena) {
  struct text name = text_new(arena);
  text_printf(&name, "%s.weight", classifier);
  const struct stored_tensor *t = tensors_find(file, text_string(&name));
  return t && t->rank >= 2 ? t->dims[0] : 0;
}

static bool try_net(const struct tensor_file *file, const char *name,
                    const struct recognised_net *net, struct netc *netc,
                    struct slice zoo, struct arena *arena,
                    struct recognised *result) {
  int64_t classes = count_classes(file, net->classifier, arena), more;
  struct text source = text_new(arena);
  if (classes < 1 || !recognise_set_params(arena, net->params, &zoo))
    return false;
  text_printf(&source,
              "# guessed from the names and shapes of the %zu tensors of "
              "%s:\n# %s, %lld classes\n",
              file->tensors.count, name, net->label, (long long)classes);
  if (classes == USUAL_CLASSES)
    text_puts(&source, zoo);
  else
    recognise_put_classes(&source, zoo, classes);
  if (!count_more(file, netc, text_slice(&source), &more))
    return false;
  if (more && !put_channels(&source, find_channels(file, netc, more)))
    return false;
  if (more && !recognise_holds(file, netc, text_slice(&source)))
    return false;
  *result = (struct recognised){source, net->label, file->tensors.count,
                                classes, false};
  return true;
}

void recognise_zoo(const struct tensor_file *file, const char *name,
                   struct netc *netc, recognise_zoo_fn *zoo, void *user,
                   struct arena *arena, struct recognised *result) {
  struct slice source;
  *result = (struct recognised){.label = NULL};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
    if (has_telltale(file, nets[i].telltales) &&
        zoo(user, nets[i].net, &source) &&
        try_net(file, name, &nets[i], netc, source, arena, result))
      return;
}
