/* Relative: how one folder is reached from another. */
#ifndef NETC_DRIVER_RELATIVE_H
#define NETC_DRIVER_RELATIVE_H

struct relative {
  char text[4096];
};

/*
 * What leads from the folder of `path`, a file that will be written, to the
 * one that we run in: "../" for "out/x.svg", "" for "x.svg" and "-". Only by
 * names, as a browser follows a link; "" also if that is not known.
 */
struct relative relative_to_here(const char *path);

#endif
