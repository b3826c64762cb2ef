/*
 * Configs of other libraries: timm's name a net of the zoo, those of open_clip
 * and Mistral have sizes under names of their own.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/suggest.h"
#include "import/huggingface/huggingface.h"
#include "import/recognise.h"
#include "layers/foreign/words.h"

static const struct timm_net {
  const char *name, *net, *params;
} nets[] = {
#define TIMM(name, net, params) {name, net, params},
#include "import/huggingface/huggingface.def"
};

/* Sizes that follow from others */

static int64_t number(const struct hugging *h, const char *name) {
  const struct fact *f = fact_of(h->facts, name);
  return f && f->kind == FACT_INT && f->integer > 0 && f->integer < HUGGING_MOST
             ? f->integer
             : 0;
}

static double real(const struct hugging *h, const char *name, double usual) {
  const struct fact *f = fact_of(h->facts, name);
  bool right = f && (f->kind == FACT_REAL || f->kind == FACT_INT);
  double value =
      right ? strtod(graph_text(h->graph, "%.*s", SLICE_ARG(f->text)), NULL)
            : usual;
  return value > 0 && value < HUGGING_MOST ? value : usual;
}

static void put(struct hugging *h, const char *name, double value) {
  if (value >= 1 && value < HUGGING_MOST)
    fact_put_text(h->facts, slice_of(name),
                  slice_of(graph_text(h->graph, "%" PRId64, (int64_t)value)));
}

#define TEXT "model_cfg_text_cfg_"
#define VISION "model_cfg_vision_cfg_"

/* open_clip's model.py: heads of 64 features, mlp_ratio 4. */
static void put_clip(struct hugging *h) {
  int64_t text = number(h, TEXT "width"), vision = number(h, VISION "width");
  put(h, "text_inner", (double)text * real(h, TEXT "mlp_ratio", 4));
  put(h, "vision_inner", (double)vision * real(h, VISION "mlp_ratio", 4));
  put(h, "vision_heads", (double)vision / real(h, VISION "head_width", 64));
}

/* Llama 3's params.json has no hidden_dim: FeedForward of its model.py. */
static void put_hidden(struct hugging *h) {
  int64_t dim = number(h, "dim"), multiple = number(h, "multiple_of");
  if (fact_of(h->facts, "hidden_dim") || !dim || !multiple)
    return;
  double hidden =
      floor(real(h, "ffn_dim_multiplier", 1) * floor(8.0 * (double)dim / 3));
  put(h, "hidden_dim", ceil(hidden / (double)multiple) * (double)multiple);
}

const char *hugging_other_type(struct hugging *h) {
  if (fact_of(h->facts, "model_type") || fact_of(h->facts, "_class_name") ||
      fact_of(h->facts, "architectures"))
    return NULL;
  if (fact_of(h->facts, "model_cfg_text_cfg")) {
    put_clip(h);
    return "open_clip";
  }
  if (!fact_of(h->facts, "n_kv_heads") || !fact_of(h->facts, "dim"))
    return NULL;
  put_hidden(h);
  return "params.json";
}

/* timm */

bool hugging_is_timm(const struct hugging *h) {
  const struct fact *f = fact_of(h->facts, "architecture");
  return f && f->kind == FACT_WORD && !h->options->as &&
         !fact_of(h->facts, "model_type");
}

/* "resnet50.a1_in1k" is resnet50, with values of its own. */
static const struct timm_net *find(struct slice name) {
  name.length = slice_find(name, ".");
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
    if (slice_is(name, nets[i].name))
      return &nets[i];
  return NULL;
}

static bool unknown(struct hugging *h, const struct fact *fact) {
  struct suggestion s = suggest_begin(fact->text);
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
    suggest_offer(&s, slice_of(nets[i].name));
  fact_fail(h->facts, fact, "the architecture `%.*s` of timm is not in the zoo",
            SLICE_ARG(fact->text));
  return graph_help(h->graph,
                    "in Python, model = timm.create_model(\"%.*s\"), then "
                    "torch.export.save(torch.export.export(model.eval(), "
                    "(torch.rand(1, 3, 224, 224),)), \"model.pt2\"), and `netc "
                    "model.pt2`%s%.*s",
                    SLICE_ARG(fact->text),
                    s.best.at ? "; the nearest that the zoo has is " : "",
                    SLICE_ARG(s.best));
}

bool hugging_make_timm(struct hugging *h) {
  const struct fact *fact = fact_of(h->facts, "architecture");
  const struct fact *classes = fact_of(h->facts, "num_classes");
  const struct timm_net *net = find(fact->text);
  struct slice source;
  int64_t params = 0, all = 0;
  if (!net)
    return unknown(h, fact);
  if (classes && !number(h, "num_classes"))
    return hugging_refuse(h, classes, "from 1 to 2^30");
  h->type = &(struct template_type){net->name, net->net, ""};
  if (!import_example(h->graph, h->options,
                      graph_text(h->graph, "zoo/%s", net->net), &source) ||
      !recognise_set_params(h->graph->arena, net->params, &source))
    return graph_fail(h->graph, 0, "%s.net cannot be read", net->net);
  struct text text = text_new(h->graph->arena);
  if (classes)
    recognise_put_classes(&text, source, classes->integer);
  else
    text_puts(&text, source);
  if (hugging_count(text_slice(&text), &params, &all)) {
    h->dtype = h->stored.dtype ? h->stored.dtype : "f32";
    if (!hugging_check(h, params, all))
      return false;
  }
  h->graph->source = text;
  return true;
}
