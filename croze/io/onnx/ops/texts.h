// texts.h -- the few things that operators of numbers do with texts.
#pragma once

#include "croze/io/onnx/value.h"

namespace croze::onnx {

// Elementwise, broadcast: Bool.
Tensor texts_equal(const TextArray& a, const TextArray& b);

// Numbers as Python writes them, and back.
TextArray texts_of_numbers(const Tensor& numbers);
Tensor numbers_of_texts(const TextArray& texts, DType dtype);

}  // namespace croze::onnx
