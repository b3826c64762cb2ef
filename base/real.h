/*
 * Powers and logarithms that are equal on every machine: they use only IEEE's
 * four operations, while C libraries differ in the last digits. Nearly always
 * the nearest double to the true value; without tables.
 */
#ifndef NETC_BASE_REAL_H
#define NETC_BASE_REAL_H

/* pow and log2 of C, with infinities and NaN. */
double real_pow(double base, double exponent);
double real_log2(double value);

/* log10 of a finite positive number. */
double real_log10(double value);

#endif
