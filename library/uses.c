/* Uses: checks that the given settings affect an output. */
#include "library/uses.h"

#include <inttypes.h>

#include "base/check.h"
#include "memory/weight_format.h"
#include "sema/model/board.h"

/* Subjects, as bits. */
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

static const unsigned of_inference =
#define ASKS(inference, training) inference
#include "library/uses.def"
    ;
static const unsigned of_training =
#define ASKS(inference, training) training
#include "library/uses.def"
    ;

/* By question: training, then --predict. */
static const struct use {
  const char *output; /* "bars.*": all with the prefix "bars." */
  unsigned shows[2], refuses[2];
  unsigned judges; /* also refused with a device for a training step */
} uses[] = {
#define USES(output, shows, refuses, judges, predicts, asks) \
  {output, {shows, predicts}, {refuses, asks}, judges},
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

static const struct need {
  const char *setting;
  bool predict;
  const char *partners, *help;
} needs[] = {
#define NEEDS(setting, predict, partners, help) \
  {setting, predict, partners, help},
#include "library/uses.def"
};

/* The next word of a list separated by blanks; empty at the end. */
static struct slice next_word(const char **at) {
  *at += strspn(*at, " ");
  struct slice word = {*at, strcspn(*at, " ")};
  *at += word.length;
  return word;
}

/* `flash` is a board's if it is a size; an old name means the new one. */
static struct slice subject_name(const struct netc *netc,
                                 struct slice setting) {
  return slice_is(setting, "flash") && netc->load->settings.infer.flash > 0
             ? slice_of("ram")
             : settings_now(setting);
}

static unsigned subjects_of(struct slice setting) {
  unsigned found = 0;
  setting = settings_now(setting);
  for (int i = 0; i < SUBJECT_COUNT; i++) {
    const char *at = subjects[i];
    for (struct slice word; (word = next_word(&at)).length;)
      if (slice_equal(word, setting))
        found |= 1u << i;
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

/* True if a setting differs from its default. */
static bool differs(const struct arg_spec *specs, struct slice name,
                    const void *section, const void *usual) {
  const struct arg_spec *spec = specs;
  while (spec->name && !slice_is(name, spec->name))
    spec++;
  return spec->name && settings_differ(specs, spec, section, usual);
}

static bool is_chosen(const struct settings *settings, struct slice name) {
  struct settings usual;
  settings_open(&usual);
  return differs(train_specs, name, &settings->train, &usual.train) ||
         differs(infer_specs, name, &settings->infer, &usual.infer);
}

/* "data-parallel 8" */
static void say_option(struct call *call, const struct kept_pair *given) {
  struct text name = text_new(&call->scratch);
  for (size_t i = 0; i < given->name.length; i++)
    text_putc(&name, given->name.at[i] == '_' ? '-' : given->name.at[i]);
  context_say_more(call->netc, "%.*s %s", SLICE_ARG(name), given->value);
}

/* The first setting of a call with one of these subjects, or NULL. */
static const struct kept_pair *given_about(const struct netc *netc,
                                           unsigned asked) {
  for (size_t i = 0; i < netc->settings.count; i++)
    if (subjects_of(netc->settings.at[i].name) & asked)
      return &netc->settings.at[i];
  return NULL;
}

static void say_ways_out(struct call *call, unsigned refused, bool predict) {
  const struct kept_pair *trains = given_about(call->netc, of_training);
  if (trains && !predict && refused & of_inference) {
    context_say_more(call->netc, "; it asks about inference, but --");
    say_option(call, trains);
    context_say_more(call->netc, " about training: leave out one of them");
    return;
  }
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    if (refusals[i].subject & refused && refusals[i].predict == predict)
      context_say_more(call->netc, "; %s", refusals[i].help);
}

static void say_unused(struct call *call, const struct kept_pair *given) {
  context_say(call->netc, "--");
  say_option(call, given);
  context_say_more(call->netc, " is not used here");
  call->status = NETC_USAGE;
}

static unsigned refused_by(const struct netc *netc, const struct use *use,
                           bool predict) {
  const struct train_settings *train = &netc->load->settings.train;
  bool judges = !predict && (train->gpu || train->memory);
  return use->refuses[predict] | (judges ? use->judges : NONE);
}

static bool is_given(const struct netc *netc, struct slice setting) {
  for (size_t i = 0; i < netc->settings.count; i++)
    if (slice_equal(netc->settings.at[i].name, setting))
      return true;
  return is_chosen(&netc->load->given, setting);
}

/* The row of `needs` without any of its partners, or NULL. */
static const struct need *lacks(const struct netc *netc, struct slice setting,
                                bool predict) {
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
    const char *at = needs[i].partners;
    if (needs[i].predict != predict || !slice_is(setting, needs[i].setting))
      continue;
    for (struct slice word; (word = next_word(&at)).length;)
      if (is_given(netc, word))
        return NULL;
    return &needs[i];
  }
  return NULL;
}

/* Refuses two words for the same thing on the command line. */
static bool excludes(struct call *call, const struct use *use) {
  static const struct {
    const char *setting, *other, *help;
  } rows[] = {
#define EXCLUDES(setting, section, other, help) {#setting, #other, help},
#include "library/uses.def"
  };
  for (size_t i = 0; use->judges && i < sizeof rows / sizeof *rows; i++)
    if (context_is_set(call->netc, rows[i].setting) &&
        context_is_set(call->netc, rows[i].other)) {
      context_say(call->netc, "%s", rows[i].help);
      call->status = NETC_USAGE;
      return false;
    }
  return true;
}

/* Hours and cost need a predicted time. */
static bool costs(struct call *call, const char *output, bool predict) {
  struct netc *netc = call->netc;
  const struct train_settings *train = &netc->load->settings.train;
  struct model model = netc->load->model;
  struct slice word = slice_of(train->tokens ? "tokens" : "samples");
  struct step_time time;
  bool given = false;
  for (size_t i = 0; i < netc->settings.count; i++)
    given |= slice_equal(netc->settings.at[i].name, word);
  if (!given || predict || strcmp(output, "place") == 0 ||
      !(train->tokens || train->samples))
    return true;
  model.arena = &call->scratch;
  memory_time(&model, &netc->load->settings, &netc->load->compiled.memory,
              &time);
  if (time.predicted > 0)
    return true;
  context_say(netc, "--%.*s needs a predicted time: %s", SLICE_ARG(word),
              time.missing ? time.missing : "name the card with `--gpu`");
  call->status = NETC_USAGE;
  return false;
}

/* False: a part that `--weight-dtype` names has no matrix. */
static bool parts(struct call *call) {
  struct netc *netc = call->netc;
  struct model model = netc->load->model;
  const struct weights_list *list = netc->load->settings.infer.weights;
  struct weight_roles roles;
  if (!list || !is_given(netc, slice_of("weight_dtype")))
    return true;
  model.arena = &call->scratch;
  weight_roles_find(&model, &call->scratch, &roles);
  int64_t last = max_i64(roles.blocks - 1, 0);
  for (int i = 0; i < list->count; i++) {
    const struct weights_other *other = &list->at[i];
    bool beyond = other->last > last && other->last != INT64_MAX;
    if (!beyond &&
        other->parts & weight_parts(&model, &roles, other->first, other->last))
      continue;
    unsigned there = weight_parts(&model, &roles, 0, last);
    context_say(netc,
                "--weight-dtype: `%.*s` is no part of this net, which has",
                SLICE_ARG(other->word));
    for (int part = 1; part < WEIGHTS_OF_COUNT; part++)
      if (there & 1U << part)
        context_say_more(netc, " %s",
                         weights_part_word((enum weights_part)part));
    context_say_more(netc, ", in blocks from 0 to %" PRId64, last);
    call->status = NETC_USAGE;
    return false;
  }
  return true;
}

bool uses_all(struct call *call, const char *output, bool predict) {
  const struct netc *netc = call->netc;
  const struct use *use = use_of(output);
  if (!use)
    return true;
  unsigned refuses = refused_by(netc, use, predict);
  for (size_t i = 0; i < netc->settings.count; i++) {
    const struct kept_pair *given = &netc->settings.at[i];
    if (!is_chosen(&netc->load->given, given->name))
      continue;
    struct slice name = subject_name(netc, given->name);
    unsigned of = subjects_of(name);
    bool shown = of & use->shows[predict] & ~refuses;
    const struct need *need = use->judges && !netc->compared.count
                                  ? lacks(netc, name, predict)
                                  : NULL;
    if (of & refuses && !shown) {
      say_unused(call, given);
      say_ways_out(call, of & refuses, predict);
      return false;
    }
    if (need) {
      say_unused(call, given);
      context_say_more(call->netc, "; %s", need->help);
      return false;
    }
  }
  return excludes(call, use) && costs(call, output, predict) && parts(call);
}

bool uses_of_inference(struct slice setting) {
  return subjects_of(setting) & of_inference;
}

/* True if a call gave a setting of these subjects. */
static bool is_about(const struct netc *netc, unsigned asked) {
  return given_about(netc, asked) != NULL;
}

bool uses_serves(const struct netc *netc) {
  return is_about(netc, of_inference) && !is_about(netc, of_training);
}

bool netc_asks_inference(const struct netc *netc) {
  if (!netc->load || !netc->load->compiled.model)
    return false;
  int runtime = netc->load->settings.infer.runtime;
  return ((runtime && runtime != RUNTIME_PYTORCH) ||
          is_about(netc, of_inference)) &&
         !is_about(netc, of_training);
}

bool uses_prediction(const struct netc *netc, bool asked) {
  return asked || (netc->load && board_asked(&netc->load->settings));
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
  struct use_request request = {output, uses_prediction(netc, predict)};
  if (!netc->load) {
    context_say(netc, "no net has been loaded");
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
                !other    ? "give only one value"
                : predict ? "it applies to training: leave out --predict"
                          : "it applies to inference: add --predict");
  }
}

enum netc_status netc_shows(struct netc *netc, const char *setting,
                            const char *output, bool predict) {
  struct shows_request request = {{output, predict}, setting};
  return context_call(netc, CALL_READS, call_shows, &request);
}
