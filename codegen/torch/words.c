/* Words: valid names and lines in Python. */
#include "codegen/torch/python.h"

/* Python's keywords and constants. */
static const char keywords[] =
    "False None True and as assert async await break class continue def del "
    "elif else except finally for from global if import in is lambda nonlocal "
    "not or pass raise return try while with yield match case type";

/* Attributes of torch.nn.Module, in PyTorch 1.13 to 2.9. */
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

/* Names that the lines of an output file use. */
static const char variables[] =
    "self torch nn F math len range list super checkpoint x y z u v w i "
    "print sum isinstance tuple Tensor zip";

static const char *const helpers[] = {
#define HELPER(id, ...) #id,
#include "codegen/torch/helpers.def"
#undef HELPER
};

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* True for letters, digits and underscores, if it is no keyword. */
static bool is_identifier(struct slice name) {
  bool valid = name.length > 0 && is_letter(name.at[0]);
  for (size_t i = 0; valid && i < name.length; i++)
    valid = is_letter(name.at[i]) || is_digit(name.at[i]);
  return valid && !word_index(keywords, name);
}

/* Replaces invalid characters by `_`, and appends `_` to a name of
 * nn.Module. */
struct slice python_attribute(struct arena *arena, struct slice name) {
  struct text text = text_new(arena);
  if (!name.length || !is_letter(name.at[0]) || name.at[0] == '_')
    text_put(&text, "net");
  for (size_t i = 0; i < name.length; i++)
    text_putc(&text,
              is_letter(name.at[i]) || is_digit(name.at[i]) ? name.at[i] : '_');
  if (word_index(keywords, name) || word_index(attributes, name))
    text_putc(&text, '_');
  return text_slice(&text);
}

struct slice python_plural(struct arena *arena, struct slice name) {
  struct text text = text_new(arena);
  text_puts(&text, name);
  text_put(&text, name.at[name.length - 1] == 's' ? "_list" : "s");
  return text_slice(&text);
}

static bool is_helper(struct slice name) {
  for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
    if (slice_is(name, helpers[i]))
      return true;
  return slice_is(name, "share_rotations");
}

bool python_is_variable(struct slice name) {
  return is_identifier(name) && name.at[0] != '_' &&
         !word_index(variables, name) && !is_helper(name);
}

struct slice python_class_word(struct arena *arena, struct slice name) {
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
  if (!python_is_variable(text_slice(&text)))
    text_putc(&text, '_');
  return text_slice(&text);
}

void python_put_plain(struct text *out, struct slice name) {
  for (size_t i = 0; i < name.length; i++) {
    char c = name.at[i];
    bool plain = c >= ' ' && c <= '~' && c != '\\' && c != '"';
    text_putc(out, plain ? c : '?');
  }
}

/* Lines */

enum { COLUMNS = 79, FAR = 60 }; /* lines that must go on may start after FAR */

enum { NESTING = 200 }; /* open brackets; deeper ones are ignored */

/* Columns of the open brackets in a line. */
struct brackets {
  size_t at[NESTING];
  size_t depth;
};

static void see(struct brackets *open, char c, size_t column) {
  if (strchr("([{", c)) {
    if (open->depth < NESTING)
      open->at[open->depth] = column;
    open->depth++;
  } else if (strchr(")]}", c) && open->depth > 0) {
    open->depth--;
  }
}

/*
 * The place to break a line that begins at `column` before column 79: after the
 * last comma at the lowest bracket depth, or before a `for` there, else after a
 * bracket; 0: none. Leaves the brackets that are open there.
 */
static size_t break_place(struct slice line, size_t column,
                          struct brackets *open) {
  struct brackets now = *open;
  size_t place = 0, depth = SIZE_MAX;
  char quote = '\0';
  for (size_t i = 0; i < line.length && column + i < COLUMNS; i++) {
    char c = line.at[i];
    bool bracket = !quote && strchr("([{", c);
    if (quote || c == '"')
      quote = c == quote ? '\0' : quote ? quote : c;
    else
      see(&now, c, column + i);
    bool loops = !quote && slice_begins(slice_from(line, i), " for ");
    bool comma = loops || (!quote && c == ',' && line.at[i + 1] == ' ');
    if (now.depth == 0 || now.depth > NESTING)
      continue;
    bool far = place && comma && now.at[now.depth - 1] >= FAR;
    if ((comma && now.depth <= depth && !far) ||
        (bracket && depth == SIZE_MAX)) {
      depth = comma ? now.depth : SIZE_MAX;
      place = i + 1 + (comma && !loops);
      *open = now;
    }
  }
  return place;
}

/* The place after the last ` + ` or similar before column 79; 0: none. */
static size_t operator_place(struct slice line, size_t column) {
  size_t place = 0;
  for (size_t i = 0; i + 2 < line.length && column + i < COLUMNS - 1; i++)
    if (line.at[i] == ' ' && strchr("+-*/", line.at[i + 1]) &&
        line.at[i + 2] == ' ')
      place = i + 2;
  return place;
}

/* Adds parentheses to a long `x = a + b + ...` that has none. */
static bool put_sum(struct text *out, struct slice line, size_t column) {
  const char *equals = memchr(line.at, '=', line.length);
  size_t head = equals ? (size_t)(equals - line.at) + 2 : 0;
  if (!equals || head >= line.length || memchr(line.at, '(', line.length))
    return false;
  text_fill(out, ' ', column);
  text_puts(out, (struct slice){line.at, head});
  text_putc(out, '(');
  line = slice_from(line, head);
  column += head + 1;
  for (size_t place; column + line.length + 1 > COLUMNS &&
                     (place = operator_place(line, column)) > 0;) {
    text_puts(out, (struct slice){line.at, place});
    text_putc(out, '\n');
    text_fill(out, ' ', column);
    line = slice_from(line, place + 1);
  }
  text_puts(out, line);
  text_put(out, ")\n");
  return true;
}

/* A continued line is indented to the bracket that is open at the break. */
static void put_line(struct text *out, struct slice line, size_t column) {
  struct brackets open = {.depth = 0};
  size_t first = 0;
  while (line.length && line.at[0] == ' ') {
    line = slice_from(line, 1);
    column++;
  }
  first = column;
  if (column + line.length > COLUMNS && put_sum(out, line, column))
    return;
  while (column + line.length > COLUMNS) {
    size_t place = break_place(line, column, &open);
    if (!place || place >= line.length)
      break;
    bool blank = line.at[place - 1] == ' ';
    text_fill(out, ' ', column);
    text_puts(out, (struct slice){line.at, place - blank});
    text_putc(out, '\n');
    line = slice_from(line, place);
    column = blank ? open.at[open.depth - 1] + 1 : first + 4;
    if (!blank)
      open.at[open.depth - 1] = first + 3;
  }
  text_fill(out, ' ', line.length ? column : 0);
  text_puts(out, line);
  text_putc(out, '\n');
}

void python_put_lines(struct text *out, struct slice lines, size_t indent) {
  while (lines.length) {
    const char *end = memchr(lines.at, '\n', lines.length);
    size_t length = end ? (size_t)(end - lines.at) : lines.length;
    put_line(out, (struct slice){lines.at, length}, indent);
    length += end != NULL;
    lines = slice_from(lines, length);
  }
}
