// memory.h -- loads and stores in PTX: of an element, of neighbours by vectors; with a gate or not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croze/render/ptx/text.h"

namespace croze::ptx {

// Elements in memory, one behind the other.
struct Place {
  std::string_view space;   // "global", "shared", "local"
  std::string base;         // the register with the address of element 0
  std::int64_t offset = 0;  // in bytes, from there
  DType dtype = DType::Void;
  std::int64_t multiple = 1;  // of so many elements, counted from the base; 0 if it is there
  std::string is_aligned;  // a predicate: whether the base is a multiple of 16 bytes; empty: it is
  std::string gate;        // a predicate, or empty
  bool is_constant = false;  // nobody writes there while the kernel runs
};

// One register for each of the elements; zero where the gate is false.
std::vector<std::string> load(Text& text, const Place& place, std::int64_t elements);
void store(Text& text, const Place& place, std::span<const std::string> values);

// Begins to copy the elements, which are not looked at, to shared memory.
void begin_copy(Text& text, const Place& to, const Place& from, std::int64_t elements);

}  // namespace croze::ptx
