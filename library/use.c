/* Finds the sources of `use`: files, or texts from the caller's callback. */
#include <errno.h>

#include "library/context.h"

/* Reading */

struct gathering {
  struct arena *arena;
  VEC(char) bytes;
  bool too_large, no_memory;
};

struct piece {
  struct gathering *to;
  const char *bytes;
  size_t length;
};

static void append(void *user) {
  struct piece *piece = user;
  struct gathering *g = piece->to;
  while (g->bytes.room - g->bytes.count < piece->length + 1)
    g->bytes.at =
        arena_grow(g->arena, g->bytes.at, &g->bytes.room, g->bytes.count, 1);
  memcpy(g->bytes.at + g->bytes.count, piece->bytes, piece->length);
  g->bytes.count += piece->length;
  g->bytes.at[g->bytes.count] = '\0';
}

/* Catches out of memory, as it must not unwind the caller's function. */
static bool gather(void *user, const char *bytes, size_t length) {
  struct gathering *g = user;
  struct piece piece = {g, bytes, length};
  struct arena *const arenas[GUARD_ARENAS] = {g->arena};
  if (length > LIMIT_SOURCE_BYTES - g->bytes.count)
    g->too_large = true;
  else if (length && !g->no_memory)
    g->no_memory = !guard_run(arenas, append, &piece);
  return !g->too_large && !g->no_memory;
}

static enum file_status read_by_callback(struct netc *netc, struct slice path,
                                         struct slice *text) {
  struct gathering g = {.arena = &netc->load->arena};
  errno = 0;
  enum netc_found found = netc->read(netc->read_user, path.at, gather, &g);
  if (g.no_memory)
    arena_fail(g.arena);
  if (g.too_large)
    return FILE_TOO_LARGE;
  if (found != NETC_FOUND)
    return found == NETC_ABSENT ? FILE_ABSENT : FILE_FAILED;
  *text = (struct slice){g.bytes.at ? g.bytes.at : "", g.bytes.count};
  return FILE_OK;
}

enum file_status load_read(struct netc *netc, struct slice path,
                           struct slice *text) {
  if (netc->read)
    return read_by_callback(netc, path, text);
  return file_read_named(&netc->load->arena, path.at, text);
}

/* Paths */

static bool is_dot(struct slice part) {
  return slice_is(part, ".") || part.length == 0;
}

/*
 * Removes `.` and doubled slashes, so that a file has one name. `..` is kept
 * for files, because after a link it leads elsewhere. Without files there are
 * no links, and it is resolved.
 */
static struct slice normal(struct arena *arena, struct slice path, bool files) {
  struct text out = text_new(arena);
  bool root = path.length && path.at[0] == '/';
  if (root)
    text_putc(&out, '/');
  for (size_t i = 0; i < path.length; i++) {
    size_t end = i;
    while (end < path.length && path.at[end] != '/')
      end++;
    struct slice part = {path.at + i, end - i};
    i = end;
    if (is_dot(part))
      continue;
    size_t last = out.length; /* start of the part before this one */
    while (last > 0 && out.at[last - 1] != '/')
      last--;
    struct slice before = {out.length ? out.at + last : "", out.length - last};
    if (!files && slice_is(part, "..") && before.length &&
        !slice_is(before, "..")) {
      out.length = last > (size_t)root ? last - 1 : last;
      continue;
    }
    if (out.length > (size_t)root)
      text_putc(&out, '/');
    text_puts(&out, part);
  }
  return context_keep(arena, text_slice(&out));
}

/* Path relative to a file: lib/x.net beside a/b.net is a/lib/x.net. */
static struct slice beside(struct netc *netc, struct slice folder,
                           struct slice path, bool is_file) {
  struct arena *arena = &netc->load->arena;
  struct text joined = text_new(arena);
  size_t length = folder.length;
  while (is_file && length > 0 && folder.at[length - 1] != '/')
    length--;
  if (path.length == 0 || path.at[0] != '/') {
    text_bytes(&joined, folder.at, length);
    text_putc(&joined, '/');
    if (length == 0)
      joined.length = 0;
  }
  text_puts(&joined, path);
  return normal(arena, text_slice(&joined), !netc->read);
}

/* Confinement: the playground has no files to protect. */

#ifdef NETC_NO_FILES
static bool is_confined(struct netc *netc, struct slice path) {
  (void)netc;
  (void)path;
  return true;
}
#else
/* True if `inside` is in the folder or the folder itself. */
static bool is_within(struct slice inside, struct slice folder) {
  while (folder.length && folder.at[folder.length - 1] == '/')
    folder.length--; /* including "/" */
  return inside.length >= folder.length &&
         memcmp(inside.at, folder.at, folder.length) == 0 &&
         (inside.length == folder.length || inside.at[folder.length] == '/');
}

/* Without files, a relative path is below "" unless it leaves it by `..`. */
static bool is_within_names(struct slice inside, struct slice folder) {
  static const char up[] = "..";
  bool climbs = inside.length >= 2 && memcmp(inside.at, up, 2) == 0 &&
                (inside.length == 2 || inside.at[2] == '/');
  if (folder.length == 0)
    return !climbs && (inside.length == 0 || *inside.at != '/');
  return is_within(inside, folder);
}

/* Resolves links. "" is the current folder, which does not exist for a
 * callback. */
static bool is_in_folder(struct netc *netc, struct slice real,
                         struct slice folder) {
  struct arena *arena = &netc->load->arena;
  struct slice place;
  if (netc->read)
    return is_within_names(real, normal(arena, folder, false));
  return file_real(arena, folder.length ? folder.at : ".", &place) &&
         is_within(real, place);
}

static struct slice folder_of(struct arena *arena, struct slice path) {
  while (path.length && path.at[path.length - 1] != '/')
    path.length--;
  while (path.length > 1 && path.at[path.length - 1] == '/')
    path.length--;
  return context_keep(arena, path);
}

static bool is_allowed(struct netc *netc, struct slice real) {
  struct load *load = netc->load;
  bool allowed = false;
  for (size_t i = 0; i < netc->folders.count && !allowed; i++)
    allowed = is_in_folder(netc, real, netc->folders.at[i]);
  for (size_t i = 0; i < netc->confines.count && !allowed; i++) {
    struct slice folder = netc->confines.at[i];
    allowed = is_in_folder(
        netc, real,
        folder.length ? folder
                      : folder_of(&load->arena, load->units.at[0].path));
  }
  return allowed;
}

/*
 * Opens no file. For a missing file the folder is checked, so that nobody can
 * learn which files exist outside.
 */
static bool is_confined(struct netc *netc, struct slice path) {
  struct arena *arena = &netc->load->arena;
  struct slice real = path;
  if (netc->confines.count == 0)
    return true;
  while (!netc->read && !file_real(arena, path.length ? path.at : ".", &real)) {
    if (file_is_link(path.at) || path.length == 0)
      return false;
    path = folder_of(arena, path);
  }
  return is_allowed(netc, real);
}
#endif

/* Finding */

static const struct unit *find_unit(const struct load *load, struct slice path,
                                    const struct file_id *id) {
  for (size_t i = 0; i < load->units.count; i++) {
    const struct unit *unit = &load->units.at[i];
    if (slice_equal(unit->path, path) || file_same(&unit->id, id))
      return unit;
  }
  return NULL;
}

/* To be quoted, a file's real name must end in .net; a link's name is not
 * enough. */
static bool is_named_as_source(struct netc *netc, struct slice path) {
  struct slice real = path;
  return (netc->read || file_real(&netc->load->arena, path.at, &real)) &&
         slice_ends(real, ".net");
}

/* Tries a path. 1: found, 0: absent, -1: unreadable. */
static int try_path(struct netc *netc, struct slice path, struct span named,
                    const struct unit **unit, struct slice *reason) {
  struct load *load = netc->load;
  struct file_id id = {.known = false};
  if (!is_confined(netc, path)) {
    *reason = slice_of("it is outside the folders that --confine and -I allow");
    return 0;
  }
  if (!netc->read)
    id = file_identify(path.at);
  *unit = find_unit(load, path, &id);
  if (*unit)
    return 1;
  struct slice text;
  enum file_status status =
      load->sealed ? FILE_FAILED : load_read(netc, path, &text);
  *reason = context_keep(&load->arena, slice_of(file_reason(status).text));
  if (status != FILE_OK)
    return status == FILE_ABSENT ? 0 : -1;
  struct unit *made = load_add_unit(load, path, id, text);
  made->used = named;
  made->hidden = !is_named_as_source(netc, path);
  *unit = made;
  if (made->source >= 0)
    return 1;
  *reason = slice_of("all sources together are larger than 1 GiB");
  return -1;
}

static int load_used(void *user, struct slice path, struct span named,
                     const struct block **program, struct slice *reason) {
  static const struct block nothing = {0};
  struct netc *netc = user;
  struct slice user_file =
      sources_position(&netc->load->sources, named.begin).source->name;
  const struct unit *unit;
  struct slice full = beside(netc, user_file, path, true), other;
  int found = try_path(netc, full, named, &unit, reason);
  for (size_t i = 0; i < netc->folders.count && found == 0; i++)
    found = try_path(netc, beside(netc, netc->folders.at[i], path, false),
                     named, &unit, found == 0 ? &other : reason);
  if (found < 0)
    *reason = reason->length ? *reason : other;
  if (found <= 0)
    return -1;
  *program = unit->program ? unit->program : &nothing;
  return unit->source;
}

struct loader load_loader(struct netc *netc) {
  return (struct loader){load_used, netc};
}
