/*
 * Zip archives, stored or deflated, with zlib (APPNOTE.TXT, 6.3.10). What is
 * in one comes from its central directory, so that data descriptors do not
 * matter, and each local header is compared with it. Names are texts to look
 * members up by; nothing is written anywhere.
 */
#ifndef NETC_IMPORT_BYTES_ZIP_H
#define NETC_IMPORT_BYTES_ZIP_H

#include "import/bytes/bytes.h"

struct zip_member {
  const char *name;
  uint64_t at;           /* of its bytes in the store, as they are packed */
  uint64_t packed, size; /* in the archive, and unpacked */
  uint32_t crc;
  int method; /* 0: stored, 8: deflated; others cannot be read */
};

struct zip {
  struct byte_store *store;
  VEC(struct zip_member) members; /* in the order of the directory */
  const struct zip_member **by_name;
  char fault[320];
};

/*
 * Reads the directory. False, and `fault` says why, if a member would lie
 * outside the file, two have one name, or all together would be over 100 times
 * as large as the archive. Members and names are in `arena`.
 */
bool zip_open(struct zip *zip, struct byte_store *store, struct arena *arena);

/* NULL: there is none of that name. */
const struct zip_member *zip_find(const struct zip *zip, const char *name);

/* The first member whose name ends so, as "/data.pkl"; NULL: none does. */
const struct zip_member *zip_find_end(const struct zip *zip, const char *end);

/*
 * All bytes of a member, unpacked into `arena` and compared with their length
 * and sum, with a NUL after them. False: `fault` says why.
 */
bool zip_read(struct zip *zip, const struct zip_member *member,
              struct arena *arena, struct slice *bytes);

/*
 * The same bytes as a store: where they lie if they are stored plainly, which
 * may be over 1 GiB, else unpacked into `arena`. `check`: those that lie in
 * the archive are read once to be compared with their sum.
 */
bool zip_member_store(struct zip *zip, const struct zip_member *member,
                      bool check, struct arena *arena,
                      struct byte_store *store);

#endif
