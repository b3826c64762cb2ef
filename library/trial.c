/* Trials: parses and expands a source with edits. */
#include "library/mend.h"
#include "parser/parse.h"
#include "sema/expand.h"

enum {
  TRIALS = 120,          /* limit for a load */
  TRIAL_BYTES = 4 << 20, /* bytes to parse in all trials */
  TRIAL_NODES = 20000,   /* for each trial */
  TRIAL_STEPS = 200000,  /* for each trial */
  TRIAL_ERRORS = 400     /* for each trial */
};

static struct mend_trial *trial_of(void *user) {
  return user;
}

/* Used files are not read again; the source being mended is replaced. */
static int trial_use(void *user, struct slice path, struct span named,
                     const struct block **program, struct slice *reason) {
  struct mend_trial *t = trial_of(user);
  struct loader loader = load_loader(t->m->netc);
  if (named.begin >= t->base)
    named.begin = named.end = t->m->base;
  static const struct block nothing = {0};
  int source = loader.load(loader.user, path, named, program, reason);
  if (source < 0) { /* not read in a trial */
    *program = &nothing;
    return (int)t->sources.all.count;
  }
  if (source != t->m->unit->source)
    return source;
  *program = t->program;
  return t->source;
}

struct slice mend_put(struct arena *arena, struct slice text, uint32_t base,
                      const struct offer *edits, size_t count) {
  struct text out = text_new(arena);
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    const struct offer *edit = &edits[i];
    size_t begin = edit->span.begin - base, end = edit->span.end - base;
    text_bytes(&out, text.at + at, begin - at);
    text_puts(&out, edit->text);
    at = end;
  }
  text_puts(&out, slice_from(text, at));
  return text_slice(&out);
}

static void copy_sources(struct mend_trial *t, struct arena *arena) {
  const struct sources *known = &t->m->load->sources;
  t->sources.arena = arena;
  for (size_t i = 0; i < known->all.count; i++)
    *VEC_PUSH(arena, &t->sources.all) = known->all.at[i];
}

static void run_trial(struct mend_trial *t, struct arena *arena) {
  struct load *load = t->m->load;
  struct define *defines =
      arena_alloc(arena, load->defines.count + 1, sizeof *defines);
  struct define *inputs =
      arena_alloc(arena, load->inputs.count + 1, sizeof *inputs);
  for (size_t i = 0; i < load->defines.count; i++)
    defines[i] = load->defines.at[i];
  for (size_t i = 0; i < load->inputs.count; i++)
    inputs[i] = load->inputs.at[i];
  const struct unit *first = &load->units.at[0];
  bool main = t->m->unit == first;
  struct expansion expansion = {.arena = arena,
                                .diags = &t->diags,
                                .source = main ? t->source : first->source,
                                .loader = {trial_use, t},
                                .settings = &t->settings,
                                .defines = defines,
                                .define_count = load->defines.count,
                                .inputs = inputs,
                                .input_count = load->inputs.count,
                                .ignore_marks = load->inputs.count > 0,
                                .node_budget = TRIAL_NODES,
                                .step_budget = TRIAL_STEPS,
                                .strict = t->strict};
  settings_open(&t->settings);
  const struct block *program = main ? t->program : first->program;
  if (program)
    expand_program(&expansion, program, &t->model);
}

int64_t mend_syntax_errors(const struct diags *diags, int source) {
  const struct source *text = &diags->sources->all.at[source];
  int64_t count = 0;
  for (size_t i = 0; i < diags->all.count; i++)
    count += mend_is_syntax(diags->all.at[i]->slug) &&
             mend_is_in(text, diags->all.at[i]->span);
  return count;
}

bool mend_try(struct mender *m, struct arena *arena, struct mend_trial *t,
              const struct mend_edits *edits, int64_t most) {
  *t = (struct mend_trial){
      .m = m, .statements = m->load->statements, .strict = m->strict};
  m->bytes += m->text.length;
  if (m->trials++ >= TRIALS || m->bytes > TRIAL_BYTES)
    return false;
  struct slice text =
      mend_put(arena, m->text, m->base, edits->at.at, edits->at.count);
  copy_sources(t, arena);
  t->source = sources_add(&t->sources, m->unit->path, text);
  if (t->source < 0)
    return false;
  t->base = t->sources.all.at[t->source].base;
  diags_open(&t->diags, arena, &t->sources);
  for (int slug = 0; slug < SLUG_COUNT; slug++)
    if (slug_info((enum slug)slug)->severity != SEVERITY_ERROR)
      t->diags.level[slug] = SEVERITY_OFF;
  t->diags.limit = TRIAL_ERRORS;
  t->model.name = m->load->model.name;
  t->program = parse(arena, &t->diags, t->source, &t->statements);
  if (mend_syntax_errors(&t->diags, t->source) > most)
    return false;
  run_trial(t, arena);
  return t->diags.errors < TRIAL_ERRORS;
}
