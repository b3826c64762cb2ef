/*
 * What netc says of the words of its sources, for those who colour them
 * without it: tokens FILE... prints a line for each, LINE COLUMN CLASS, with
 * columns in code points from 1, and `FILE 0 file` before those of a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netc.h"
#include "netc_edit.h"

static bool is_one_of(const char *text, size_t length, const char *words) {
  for (const char *at = words; *at; at += strcspn(at, " ")) {
    at += strspn(at, " ");
    if (strcspn(at, " ") == length && memcmp(at, text, length) == 0)
      return true;
  }
  return false;
}

/* These begin statements, or part a range, by where they stand alone. */
static bool heads(const char *text, size_t length) {
  return is_one_of(text, length, "freeze checkpoint error warn allow step");
}

/* `s=2`; a `let` has a blank there. */
static bool is_key(const char *after) {
  return after[0] == '=' && after[1] != '=';
}

/* `skip:`, `skip[i]:`, and `input skip`. */
static bool is_label(const struct netc_token *token, const char *after) {
  while (*after == '[')
    after += strcspn(after, "]\n") + 1;
  return token->defines || *after == ':';
}

/* Letters, as many constants are. */
static bool is_axis(const char *text, size_t length) {
  return is_one_of(text, length, "c h w d l len") && text[length] != '=';
}

/* "own": a name of the source's, which may be spelt as a word of the language
 * is. NULL: a sign, which has no colour. */
static const char *class_of(const struct netc_token *token, const char *text,
                            size_t length) {
  switch (token->kind) {
  case NETC_TOKEN_COMMENT: return "comment";
  case NETC_TOKEN_KEYWORD: return "keyword";
  case NETC_TOKEN_LAYER: return "layer";
  case NETC_TOKEN_FUNCTION: return "function";
  case NETC_TOKEN_NUMBER: return "number";
  case NETC_TOKEN_STRING: return "string";
  case NETC_TOKEN_OPERATOR: return *text == 'x' ? "operator" : NULL;
  case NETC_TOKEN_OPTION: return is_axis(text, length) ? "name" : "option";
  case NETC_TOKEN_DEF: return token->defines ? "def" : "own";
  case NETC_TOKEN_LABEL:
    return is_label(token, text + length) ? "label" : "own";
  case NETC_TOKEN_CONSTANT: return is_key(text + length) ? "option" : "own";
  default:
    return heads(text, length)     ? "keyword"
           : is_key(text + length) ? "option"
                                   : "name";
  }
}

static char *read_whole(const char *path, size_t *length) {
  static char text[1 << 20];
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  *length = fread(text, 1, sizeof text - 1, file);
  text[*length] = '\0';
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  struct netc *netc = netc_open(NULL, NULL);
  for (int i = 1; i < argc; i++) {
    size_t length;
    const char *text = read_whole(argv[i], &length);
    if (!text || netc_load_text(netc, argv[i], text, length) == NETC_USAGE)
      return 1;
    printf("%s 0 file\n", argv[i]);
    struct netc_token token = {.size = sizeof token};
    for (size_t k = 0; netc_token(netc, 0, k, &token) == NETC_OK; k++) {
      size_t begin = token.place.begin, size = token.place.end - begin;
      const char *class = class_of(&token, text + begin, size);
      if (class)
        printf("%u %u %s\n", token.place.line, token.place.column, class);
    }
  }
  netc_close(netc);
  return 0;
}
