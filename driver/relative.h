/* Relative paths from one folder to another. */
#ifndef NETC_DRIVER_RELATIVE_H
#define NETC_DRIVER_RELATIVE_H

struct relative {
  char text[4096];
};

/*
 * Path from the folder of `path`, a file to be written, to the current folder:
 * "../" for "out/x.svg", "" for "x.svg" and "-". Uses only names, as a browser
 * does. "" also if it is unknown.
 */
struct relative relative_to_here(const char *path);

#endif
