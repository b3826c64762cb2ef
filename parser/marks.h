/* Marks that tools around a source leave in it. */
#ifndef NETC_PARSER_MARKS_H
#define NETC_PARSER_MARKS_H

#include "base/diag.h"

/*
 * Reports the first conflict of a merge, or the fences of Markdown around the
 * text: one error for the whole text, which is then not parsed. False: there is
 * neither.
 */
bool marks_report(struct diags *diags, int source);

#endif
