/* The text of torch.py, a line each, ended by NULL. */
#ifndef NETC_IMPORT_PYTHON_LIBRARY_H
#define NETC_IMPORT_PYTHON_LIBRARY_H

#include <stddef.h>

extern const char *const python_torch[];

#endif
