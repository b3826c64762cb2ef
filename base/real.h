/*
 * Powers and logarithms, equal on every machine: of IEEE's four operations
 * alone, where C libraries differ in last digits. Nearly always the nearest
 * double to the true value; without tables.
 */
#ifndef NETC_BASE_REAL_H
#define NETC_BASE_REAL_H

/* As pow and log2 of C, infinities and numbers that are none included. */
double real_pow(double base, double exponent);
double real_log2(double value);

/* Of a finite number above 0. */
double real_log10(double value);

#endif
