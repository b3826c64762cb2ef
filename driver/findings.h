/*
 * Findings: errors and warnings of many files in one document, for services
 * that show them: SARIF 2.1.0 (OASIS) and JUnit's XML.
 */
#ifndef NETC_DRIVER_FINDINGS_H
#define NETC_DRIVER_FINDINGS_H

#include "netc.h"

/* Values of --diagnostics that are documents, behind those of netc_style. */
enum { STYLE_SARIF = NETC_STYLE_JSON + 1, STYLE_JUNIT };

struct file_finding {
  const char *slug, *message;
  const char *file;                          /* NULL: none */
  size_t line, column, end_line, end_column; /* line 0: the whole file */
  bool error;
};

/* Collects findings from now on; they are not printed. */
void findings_open(int style);

/* True if findings are collected. */
bool findings_are_open(void);

/* Names the file of findings without one; not copied. */
void findings_about(const char *file);

/* Copies a finding. */
void findings_add(const struct file_finding *finding);

/* Adds all diagnostics of the loaded net. */
void findings_add_net(struct netc *netc);

/* Writes the document about these files to standard output. Returns an exit
 * status. */
int findings_write(char *const *files, int count);

#endif
