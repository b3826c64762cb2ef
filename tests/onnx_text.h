/* Models of ONNX from lines of text. */
#ifndef NETC_TESTS_ONNX_TEXT_H
#define NETC_TESTS_ONNX_TEXT_H

#include "tests/run.h"

/*
 * Writes a model. Each line is a node, "RESULTS = OPERATOR INPUTS ATTRIBUTES";
 * the results of the last are the outputs. "ms." before an operator means ONNX
 * Runtime's own. A first line "shape 1x8@11" gives the shape of the input `x`
 * and the opset, where they are not 1x8x6x10 and 17.
 *
 * Inputs: a name of a result; `-` for none; `p8x1:m.weight` for an input of
 * that shape and name; constants by type and sizes or values: `w8x4` are zeros,
 * `r8x4` count up, `i1,2` int64, `n1,2` int32, `b1,0` truth values, `f2` and
 * `f1,2` float32, `h2` float16, `d2` float64.
 *
 * Attributes: integers, reals with a point, lists with commas (one value has a
 * comma behind it), 'texts', and constants after a #.
 */
void write_onnx_text(const char *path, const char *lines);

#endif
