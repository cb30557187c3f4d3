// convert.h -- conversions to narrow types, with ONNX's choices.
#pragma once

#include <string_view>

#include "croze/io/onnx/value.h"
#include "croze/tensor/tensor.h"

namespace croze::onnx {

struct Range {
  double low, high;
};

// The least and the greatest number of an integer type.
Range range_of(ElementType type);

struct Conversion {
  // Beyond the greatest value of an 8-bit float, Float8E8M0 too: that value, else infinity where
  // the type has one and NaN where it has not.
  bool saturate = true;
  // Beyond integers of 2 and 4 bits: the low bits of the number, else the nearest of the type.
  bool wrap = false;
  // Between powers of two, for Float8E8M0: "up", "down" or "nearest".
  std::string_view round_mode = "up";
};

// x in the dtype that elements of the type are computed in, and of values that the type has.
// Throws Error for types without a dtype and for an unknown round_mode.
Tensor converted_to(const Tensor& x, ElementType type, const Conversion& conversion = {});

}  // namespace croze::onnx
