/* Parses the XML of OpenVINO's IR: layers, their ports, edges. */
#include "import/openvino/openvino.h"

#include <expat.h>
#include <string.h>

/* <net>, <layers>, <layer>, <input>, <port>, <dim>. */
enum { AT_NET = 1, AT_PART, AT_LAYER, AT_SIDE, AT_PORT, AT_DIM };

struct ir_xml {
  struct ir *ir;
  XML_Parser parser;
  int depth;
  bool layers, edges, dim; /* the element that the parser is in */
  bool blobs;
  struct ir_layer *layer;
  struct ir_ports *ports;
  const char *precision; /* of the layer, in old versions */
  struct text text;      /* content of a <dim> */
};

static bool fail(struct ir_xml *x, const char *what) {
  XML_StopParser(x->parser, XML_FALSE);
  return graph_fail(x->ir->graph, XML_GetCurrentLineNumber(x->parser),
                    "invalid OpenVINO IR: %s", what);
}

static const char *copy(struct ir *ir, const char *text) {
  return arena_copy(ir->arena, text, strlen(text));
}

/* The value of `name` in a list of names and values; or NULL. */
static const char *find(const char **names, const char *name) {
  for (; *names; names += 2)
    if (strcmp(*names, name) == 0)
      return names[1];
  return NULL;
}

static bool open_net(struct ir_xml *x, const char *element,
                     const char **names) {
  const char *version = find(names, "version"), *name = find(names, "name");
  int64_t number;
  if (strcmp(element, "net") != 0 || !version)
    return fail(x, "the file has no <net> with a version");
  if (ir_numbers(version, &number, 1) != 1 || number < 3) {
    XML_StopParser(x->parser, XML_FALSE);
    graph_fail(x->ir->graph, XML_GetCurrentLineNumber(x->parser),
               "IR version %.20s is not supported; versions from 3 are",
               version);
    return graph_help(
        x->ir->graph,
        "convert the original model again, with OpenVINO 2020 or later");
  }
  x->ir->old = number < 10;
  x->ir->name = copy(x->ir, name ? name : "");
  return true;
}

static bool open_layer(struct ir_xml *x, const char **names) {
  const char *id = find(names, "id"), *type = find(names, "type");
  const char *name = find(names, "name");
  struct ir *ir = x->ir;
  if (!id || !type)
    return fail(x, "a layer has no `id` or no `type`");
  struct ir_layer *layer = ARENA_NEW(ir->arena, struct ir_layer);
  struct map_entry *entry =
      map_add(ir->arena, &ir->by_id, slice_of(copy(ir, id)));
  if (entry->number)
    return fail(x, "two layers have the same `id`");
  *VEC_PUSH(ir->arena, &ir->layers) = layer;
  entry->number = (int64_t)ir->layers.count;
  *layer = (struct ir_layer){.index = ir->layers.count - 1,
                             .name = copy(ir, name ? name : id),
                             .type = copy(ir, type),
                             .line = XML_GetCurrentLineNumber(x->parser)};
  x->layer = layer;
  const char *precision = find(names, "precision");
  x->precision = copy(ir, precision ? precision : "");
  return true;
}

static struct ir_port *port_of(struct ir_ports *ports, const char *id) {
  for (size_t i = 0; i < ports->all.count; i++)
    if (strcmp(ports->all.at[i].id, id) == 0)
      return &ports->all.at[i];
  return NULL;
}

static struct ir_layer *layer_of(struct ir *ir, const char *id) {
  struct map_entry *entry = map_find(&ir->by_id, slice_of(id));
  return entry ? ir->layers.at[entry->number - 1] : NULL;
}

static bool open_edge(struct ir_xml *x, const char **names) {
  static const char *const keys[] = {"from-layer", "from-port", "to-layer",
                                     "to-port"};
  const char *value[4];
  for (int i = 0; i < 4; i++)
    if (!(value[i] = find(names, keys[i])))
      return fail(x, "an edge lacks one of its four ends");
  struct ir_layer *from = layer_of(x->ir, value[0]);
  struct ir_layer *to = layer_of(x->ir, value[2]);
  struct ir_port *port = to ? port_of(&to->in, value[3]) : NULL;
  if (!from || !port || !port_of(&from->out, value[1]) || port->from)
    return fail(x, "an edge joins ports that do not exist or are taken");
  port->from = from;
  port->from_port = copy(x->ir, value[1]);
  return true;
}

/* <weights offset="0" size="12"/>: attributes weights.offset and weights.size
 * of the layer. Const has one, <custom>: offset and size. */
static void open_blob(struct ir_xml *x, const char *element,
                      const char **names) {
  struct ir *ir = x->ir;
  bool custom = strcmp(element, "custom") == 0;
  for (; *names; names += 2)
    *VEC_PUSH(ir->arena, &x->layer->attributes) = (struct ir_attribute){
        custom ? copy(ir, names[0])
               : graph_text(ir->graph, "%s.%s", element, names[0]),
        copy(ir, names[1])};
}

static void open_side(struct ir_xml *x, const char *element,
                      const char **names) {
  struct ir *ir = x->ir;
  if (strcmp(element, "input") == 0)
    x->ports = &x->layer->in;
  else if (strcmp(element, "output") == 0)
    x->ports = &x->layer->out;
  else if (strcmp(element, "data") == 0)
    for (; *names; names += 2)
      *VEC_PUSH(ir->arena, &x->layer->attributes) =
          (struct ir_attribute){copy(ir, names[0]), copy(ir, names[1])};
  x->blobs = strcmp(element, "blobs") == 0;
}

static bool open_port(struct ir_xml *x, const char **names) {
  const char *id = find(names, "id"), *precision = find(names, "precision");
  if (!id)
    return fail(x, "a port has no `id`");
  *VEC_PUSH(x->ir->arena, &x->ports->all) = (struct ir_port){
      .id = copy(x->ir, id),
      .precision = precision ? copy(x->ir, precision) : x->precision};
  return true;
}

static void XMLCALL on_open(void *user, const char *element,
                            const char **names) {
  struct ir_xml *x = user;
  if (x->ir->graph->failed)
    return;
  switch (++x->depth) {
  case AT_NET: open_net(x, element, names); break;
  case AT_PART:
    x->layers = strcmp(element, "layers") == 0;
    x->edges = strcmp(element, "edges") == 0;
    break;
  case AT_LAYER:
    if (x->layers && strcmp(element, "layer") == 0)
      open_layer(x, names);
    else if (x->edges && strcmp(element, "edge") == 0)
      open_edge(x, names);
    break;
  case AT_SIDE:
    if (x->layer)
      open_side(x, element, names);
    break;
  case AT_PORT:
    if (x->ports && strcmp(element, "port") == 0)
      open_port(x, names);
    else if (x->layer && x->blobs)
      open_blob(x, element, names);
    break;
  case AT_DIM:
    x->dim = x->ports && x->ports->all.count && strcmp(element, "dim") == 0;
    x->text.length = 0;
    break;
  default: break;
  }
}

static void XMLCALL on_text(void *user, const char *text, int length) {
  struct ir_xml *x = user;
  if (x->dim && x->text.length + (size_t)length < 40)
    text_bytes(&x->text, text, (size_t)length);
}

/* A size; negative if it is dynamic. */
static void close_dim(struct ir_xml *x) {
  struct ir_port *port = &x->ports->all.at[x->ports->all.count - 1];
  int64_t size;
  bool known = ir_numbers(text_string(&x->text), &size, 1) == 1;
  x->dim = false;
  if (port->rank == MOST_AXES)
    fail(x, "a port has more than 12 axes");
  else
    port->dims[port->rank++] = known ? size : -1;
}

static void XMLCALL on_close(void *user, const char *element) {
  struct ir_xml *x = user;
  (void)element;
  if (x->ir->graph->failed)
    return;
  if (x->dim)
    close_dim(x);
  if (x->depth == AT_SIDE) {
    x->ports = NULL;
    x->blobs = false;
  }
  if (x->depth == AT_LAYER)
    x->layer = NULL;
  x->depth--;
}

bool ir_parse(struct ir *ir, struct slice file) {
  struct ir_xml x = {
      .ir = ir, .parser = XML_ParserCreate(NULL), .text = text_new(ir->arena)};
  if (!x.parser)
    return graph_fail(ir->graph, 0, "out of memory");
  XML_SetUserData(x.parser, &x);
  XML_SetElementHandler(x.parser, on_open, on_close);
  XML_SetCharacterDataHandler(x.parser, on_text);
  if (XML_Parse(x.parser, file.at, (int)file.length, 1) != XML_STATUS_OK &&
      !ir->graph->failed)
    graph_fail(ir->graph, XML_GetCurrentLineNumber(x.parser), "not XML: %s",
               XML_ErrorString(XML_GetErrorCode(x.parser)));
  XML_ParserFree(x.parser);
  if (!ir->graph->failed && ir->layers.count == 0)
    graph_fail(ir->graph, 0, "the file describes no net");
  return !ir->graph->failed;
}
