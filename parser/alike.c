/*
 * Equal texts of layers share their arguments: in nets of millions of lines,
 * few texts differ. A repeated text is parsed for its errors; the new arguments
 * are freed.
 */
#include "parser/build.h"
#include "base/hash.h"

enum { ALIKE = 256 }; /* recent texts that are remembered */

struct parsed_alike {
  struct slice text; /* empty: none yet */
  uint32_t begin;
  struct arg *args;
};

struct parsed_alike *alike_open(struct arena *arena) {
  return arena_alloc(arena, ALIKE, sizeof(struct parsed_alike));
}

static size_t place_of(struct slice text) {
  uint64_t hash = text.length, word;
  size_t i = 0;
  for (; i + sizeof word <= text.length; i += sizeof word) {
    memcpy(&word, text.at + i, sizeof word);
    hash = hash_word(hash, word);
  }
  for (; i < text.length; i++)
    hash = hash_word(hash, (unsigned char)text.at[i]);
  return (size_t)(hash >> 32) % ALIKE;
}

/* Not shared inside braces, where a layer may be applied often. */
struct arg_list build_args(struct parser *p) {
  p->shares = p->alike && p->scan.depth == 0;
  p->args = arena_mark(p->arena);
  p->diags_before = p->diags->all.count;
  return (struct arg_list){0};
}

struct stmt *build_apply(struct parser *p, struct named word, struct arg *args,
                         struct span span) {
  uint32_t moved = 0;
  if (p->shares && p->diags->all.count == p->diags_before) {
    struct slice text = {word.name.at, span.end - span.begin};
    struct parsed_alike *alike = &p->alike[place_of(text)];
    if (slice_equal(alike->text, text)) {
      arena_release(p->arena, p->args);
      args = alike->args;
      moved = span.begin - alike->begin;
    } else {
      *alike = (struct parsed_alike){text, span.begin, args};
    }
  }
  struct stmt *stmt = build_named(p, STMT_APPLY, word, span);
  stmt->args = args;
  stmt->moved = moved;
  return stmt;
}
