/* Names as Python has them. */
#include "torch/python.h"

/* Python's own, its constants among them, and what files here say. */
static const char keywords[] =
    "False None True and as assert async await break class continue def del "
    "elif else except finally for from global if import in is lambda nonlocal "
    "not or pass raise return try while with yield match case type";

/* What torch.nn.Module has, of PyTorch 1.13 to 2.9. */
static const char attributes[] =
    "T_destination add_module apply bfloat16 buffers call_super_init children "
    "compile cpu cuda double dump_patches eval extra_repr float forward "
    "get_buffer get_extra_state get_parameter get_submodule half ipu "
    "load_state_dict modules mtia named_buffers named_children named_modules "
    "named_parameters parameters register_backward_hook register_buffer "
    "register_forward_hook register_forward_pre_hook "
    "register_full_backward_hook register_full_backward_pre_hook "
    "register_load_state_dict_post_hook register_load_state_dict_pre_hook "
    "register_module register_parameter register_state_dict_post_hook "
    "register_state_dict_pre_hook requires_grad_ set_extra_state "
    "set_submodule share_memory state_dict to to_empty train training type "
    "xpu zero_grad";

/* What the lines of a file say. */
static const char variables[] =
    "self torch nn F math len range list super checkpoint x y z u v w i "
    "print sum isinstance tuple";

static const char *const helpers[] = {
#define HELPER(id, ...) #id,
#include "torch/helpers.def"
#undef HELPER
};

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_identifier(struct slice name) {
  bool valid = name.length > 0 && is_letter(name.at[0]);
  for (size_t i = 0; valid && i < name.length; i++)
    valid = is_letter(name.at[i]) || is_digit(name.at[i]);
  return valid && !word_index(keywords, name);
}

bool is_attribute(struct slice name) {
  return is_identifier(name) && name.at[0] != '_' &&
         !word_index(attributes, name);
}

static bool is_helper(struct slice name) {
  for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
    if (slice_is(name, helpers[i]))
      return true;
  return slice_is(name, "rotate");
}

bool is_variable(struct slice name) {
  return is_identifier(name) && name.at[0] != '_' &&
         !word_index(variables, name) && !is_helper(name);
}

struct slice class_word(struct arena *arena, struct slice name) {
  struct text text = text_new(arena);
  bool begins = true;
  for (size_t i = 0; i < name.length; i++) {
    char c = name.at[i];
    bool plain = (is_letter(c) && c != '_') || is_digit(c);
    if (plain && text.length == 0 && is_digit(c))
      text_put(&text, "Net");
    if (plain)
      text_putc(&text,
                begins && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
    begins = !plain;
  }
  if (text.length == 0)
    text_put(&text, "Net");
  if (!is_variable(text_slice(&text)))
    text_putc(&text, '_');
  return text_slice(&text);
}

void put_plain(struct text *out, struct slice name) {
  for (size_t i = 0; i < name.length; i++) {
    char c = name.at[i];
    bool plain = c >= ' ' && c <= '~' && c != '\\' && c != '"';
    text_putc(out, plain ? c : '?');
  }
}

/* Lines */

enum { COLUMNS = 79 };

/*
 * Where a line can be broken: behind a comma inside brackets, of which
 * `depth` are open where it begins; 0: nowhere. Leaves how many are there.
 */
static size_t break_place(struct slice line, size_t most, int *depth) {
  size_t place = 0, opened = 0;
  int now = *depth, at_place = now, at_opened = now;
  char quote = '\0';
  for (size_t i = 0; i < line.length && i < most; i++) {
    char c = line.at[i];
    if (quote) {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"') {
      quote = c;
    } else if (strchr("([{", c)) {
      opened = i + 1;
      at_opened = ++now;
    } else if (strchr(")]}", c)) {
      now--;
    } else if (c == ',' && now > 0 && i + 1 < line.length &&
               line.at[i + 1] == ' ') {
      place = i + 2;
      at_place = now;
    }
  }
  *depth = place ? at_place : at_opened;
  return place ? place : opened;
}

static void put_line(struct text *out, struct slice line, size_t indent) {
  int depth = 0;
  bool first = true;
  while (line.length && line.at[0] == ' ') {
    line = (struct slice){line.at + 1, line.length - 1};
    indent++;
  }
  while (indent + line.length > COLUMNS) {
    size_t place = break_place(line, COLUMNS - indent, &depth);
    if (!place || place >= line.length)
      break;
    text_fill(out, ' ', indent);
    text_puts(out,
              (struct slice){line.at, place - (line.at[place - 1] == ' ')});
    text_putc(out, '\n');
    line = (struct slice){line.at + place, line.length - place};
    indent += first ? 4 : 0;
    first = false;
  }
  text_fill(out, ' ', line.length ? indent : 0);
  text_puts(out, line);
  text_putc(out, '\n');
}

void put_lines(struct text *out, struct slice lines, size_t indent) {
  while (lines.length) {
    const char *end = memchr(lines.at, '\n', lines.length);
    size_t length = end ? (size_t)(end - lines.at) : lines.length;
    put_line(out, (struct slice){lines.at, length}, indent);
    length += end != NULL;
    lines = (struct slice){lines.at + length, lines.length - length};
  }
}
