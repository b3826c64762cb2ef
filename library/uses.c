/* Uses: whether what was chosen is used for what an output answers. */
#include "library/uses.h"

/* Subjects as bits. */
enum {
#define SUBJECT(constant, settings) constant##_PLACE,
#include "library/uses.def"
  SUBJECT_COUNT
};
enum subject {
  NONE = 0,
#define SUBJECT(constant, settings) constant = 1u << constant##_PLACE,
#include "library/uses.def"
};

static const char *const subjects[SUBJECT_COUNT] = {
#define SUBJECT(constant, settings) settings,
#include "library/uses.def"
};

/* By question: with --predict the second one. */
static const struct use {
  const char *output; /* "bars.*": all that begin with "bars." */
  unsigned shows[2], refuses[2];
} uses[] = {
#define USES(output, shows, refuses, predicts, asks) \
  {output, {shows, predicts}, {refuses, asks}},
#include "library/uses.def"
};

static const struct refusal {
  unsigned subject;
  bool predict;
  const char *help;
} refusals[] = {
#define REFUSED(subject, predict, help) {subject, predict, help},
#include "library/uses.def"
};

static unsigned subjects_of(struct slice setting) {
  unsigned found = 0;
  for (int i = 0; i < SUBJECT_COUNT; i++)
    for (const char *at = subjects[i]; *at; at += *at == ' ') {
      size_t length = strcspn(at, " ");
      if (length == setting.length && memcmp(at, setting.at, length) == 0)
        found |= 1u << i;
      at += length;
    }
  return found;
}

static const struct use *use_of(const char *output) {
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
    size_t length = strcspn(uses[i].output, "*");
    if (uses[i].output[length] ? strncmp(uses[i].output, output, length) == 0
                               : strcmp(uses[i].output, output) == 0)
      return &uses[i];
  }
  return NULL;
}

/* Whether a setting has another value than when nothing is said. */
static bool differs(const struct arg_spec *specs, struct slice name,
                    const void *section, const void *usual) {
  while (specs->name && !slice_is(name, specs->name))
    specs++;
  return specs->name &&
         memcmp((const char *)section + specs->offset,
                (const char *)usual + specs->offset,
                specs->type == TYPE_INT ? sizeof(int64_t) : sizeof(int)) != 0;
}

static bool is_chosen(const struct settings *settings, struct slice name) {
  struct settings usual;
  settings_open(&usual);
  return differs(train_specs, name, &settings->train, &usual.train) ||
         differs(infer_specs, name, &settings->infer, &usual.infer);
}

static void say_ways_out(struct call *call, unsigned refused, bool predict) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    if (refusals[i].subject & refused && refusals[i].predict == predict)
      context_say_more(call->netc, "; %s", refusals[i].help);
}

static void say_unused(struct call *call, const struct kept_pair *given,
                       unsigned refused, bool predict) {
  struct text name = text_new(&call->scratch);
  for (size_t i = 0; i < given->name.length; i++)
    text_putc(&name, given->name.at[i] == '_' ? '-' : given->name.at[i]);
  context_say(call->netc, "--%.*s %s is not used here", SLICE_ARG(name),
              given->value);
  say_ways_out(call, refused, predict);
}

bool uses_all(struct call *call, const char *output, bool predict) {
  const struct netc *netc = call->netc;
  const struct use *use = use_of(output);
  for (size_t i = 0; use && i < netc->settings.count; i++) {
    const struct kept_pair *given = &netc->settings.at[i];
    unsigned of = subjects_of(given->name);
    unsigned refused = of & use->refuses[predict];
    bool shown = of & use->shows[predict] & ~use->refuses[predict];
    if (!refused || shown || !is_chosen(&netc->load->settings, given->name))
      continue;
    say_unused(call, given, refused, predict);
    call->status = NETC_USAGE;
    return false;
  }
  return true;
}

struct use_request {
  const char *output;
  bool predict;
};

static void call_uses(struct call *call) {
  const struct use_request *request = call->request;
  uses_all(call, request->output, request->predict);
}

enum netc_status netc_uses(struct netc *netc, const char *output,
                           bool predict) {
  struct use_request request = {output, predict};
  if (!netc->load) {
    context_say(netc, "nothing has been loaded");
    return NETC_USAGE;
  }
  return context_call(netc, CALL_READS, call_uses, &request);
}

struct shows_request {
  struct use_request of;
  const char *setting;
};

static void call_shows(struct call *call) {
  const struct shows_request *request = call->request;
  const struct use *use = use_of(request->of.output);
  bool predict = request->of.predict;
  struct text name = text_new(&call->scratch);
  for (const char *at = request->setting; *at; at++)
    text_putc(&name, *at == '-' ? '_' : *at);
  unsigned of = subjects_of(text_slice(&name));
  unsigned refused = use ? of & use->refuses[predict] : NONE;
  if (use && of & use->shows[predict] & ~refused)
    return;
  call->status = NETC_USAGE;
  if (refused) {
    context_say(call->netc, "it is not used here");
    say_ways_out(call, refused, predict);
  } else {
    bool other = use && of & use->shows[!predict];
    context_say(call->netc, "it changes nothing here; %s",
                !other    ? "give one value"
                : predict ? "without --predict it does"
                          : "with --predict it does");
  }
}

enum netc_status netc_shows(struct netc *netc, const char *setting,
                            const char *output, bool predict) {
  struct shows_request request = {{output, predict}, setting};
  return context_call(netc, CALL_READS, call_shows, &request);
}
