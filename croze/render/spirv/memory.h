// memory.h -- elements in the memory of a device, which kernels see by its address.
#pragma once

#include "croze/render/spirv/module.h"

namespace croze::spirv {

// The type of an element as it lies in memory.
Id type_in_memory(Module& module, DType t);

// The elements of a buffer.  Where a device can not access so small a part of memory they lie
// packed in words; the address of the first one need not be that of a word.
struct Elements {
  DType dtype = DType::Void;
  Id base = 0;   // a pointer to the structure around the array: of elements, or of words
  Id first = 0;  // of packed elements: the place of the first one in its word
};

// The elements that begin at an address, which is a vector of two words.
Elements elements_at(Module& module, Id address, DType t, bool is_packed);

// The element of that index, an integer of this dtype.  Others may store to the rest of its word
// meanwhile.
Id load(Module& module, const Elements& elements, Id index, DType index_type);
void store(Module& module, const Elements& elements, Id index, DType index_type, Id value);

}  // namespace croze::spirv
