// layouts.h -- the layout of each type of block: from blocks, (blocks, bytes) UInt8, to their
// elements, (blocks, elements) Float32.
//
// The functions read the fields in the order of the structs of ggml (ggml-common.h) and have the
// names of the types; the arithmetic is in the order of ggml's, so that every bit agrees.  Types
// whose elements are integers with a scale have these instead, from which decoded() makes the
// elements.
#pragma once

#include "croze/io/gguf/decode.h"
#include "croze/io/gguf/fields.h"

namespace croze::gguf {

// Codes (blocks, elements) as numbers.
Tensor decoded(const BlockCodes& block);

// A scale, and maybe an offset, for each 32 elements (layouts_basic.cpp).
BlockCodes q4_0(Fields block);
BlockCodes q4_1(Fields block);
BlockCodes q5_0(Fields block);
BlockCodes q5_1(Fields block);
Tensor q8_0(Fields block);
BlockCodes q8_0_codes(Fields block);
Tensor q8_1(Fields block);

// Blocks of 256 whose parts have scales of a few bits (layouts_k.cpp).
BlockCodes q2_k(Fields block);
BlockCodes q3_k(Fields block);
BlockCodes q4_k(Fields block);
BlockCodes q5_k(Fields block);
BlockCodes q6_k(Fields block);
Tensor q8_k(Fields block);

// Four bits that choose one of 16 numbers, and numbers of three values (layouts_chosen.cpp).
Tensor iq4_nl(Fields block);
Tensor iq4_xs(Fields block);
Tensor mxfp4(Fields block);
Tensor nvfp4(Fields block);
Tensor tq1_0(Fields block);
Tensor tq2_0(Fields block);

// Indices into grids of four or eight elements (layouts_grid.cpp).
Tensor iq1_s(Fields block);
Tensor iq1_m(Fields block);
Tensor iq2_xxs(Fields block);
Tensor iq2_xs(Fields block);
Tensor iq2_s(Fields block);
Tensor iq3_xxs(Fields block);
Tensor iq3_s(Fields block);

}  // namespace croze::gguf
