/* Files that gzip packed (RFC 1952), with zlib. */
#ifndef NETC_IMPORT_BYTES_GZIP_H
#define NETC_IMPORT_BYTES_GZIP_H

#include "import/bytes/bytes.h"

/* Whether its first bytes say so. */
bool gzip_is(struct byte_store *store);

/*
 * Puts what is packed, or its first `most` bytes, into a temporary file that
 * ends with the store, which takes the place of `store`. False, with `fault`:
 * it is broken, or unpacked it would have over 1 GiB and be more than 100
 * times as large. `store` must be closed in any case.
 */
bool gzip_unpack(struct byte_store *store, uint64_t most);

#endif
