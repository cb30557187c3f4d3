// memory_head.h -- the head of a WGSL module: the memory that a kernel sees, and how elements lie
// in it.
//
// A dispatch must not bind one piece of memory twice if it writes there, and a kernel may well be
// given two buffers that lie in one piece (two rows of a tensor).  Which of them do is known at the
// launch only.  So the head is apart from the rest of the module: it is made anew for launches
// whose buffers share memory, and the rest, which calls the functions of the head, stays as it is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace croze::wgsl {

// How a kernel uses one of its buffers.
struct Slot {
  int number = 0;
  bool is_packed = false;      // has elements of less than four bytes
  bool stores_packed = false;  // which are written

  bool operator==(const Slot&) const = default;
};

// For each slot the module has
//
//   fn get3(i: i32) -> u32, fn set3(i: i32, v: u32)           words
//   fn get3_8(i: i32) -> u32, fn set3_8(i: i32, v: u32), and _16   parts of a word
//
// where `i` counts elements from the start of what is bound.  Memory k has the binding k + 1;
// binding 0 has the numbers of the launch: an array of i32 that number(i) reads.
//
// A part of a word is written by an atomic operation that touches its own bits only, since other
// items may be writing the rest of the word.
//
// `memory_of[i]` says which memory slots[i] lies in; each memory is bound once, and the memories
// are 0, 1, .. in the order of their first slot.
std::string memory_head(std::span<const Slot> slots, std::span<const int> memory_of);

// The head of a module of `slots` that lie in a memory each, and the rest of it.
std::string module_text(std::span<const Slot> slots, std::string_view rest);

// A module taken apart.  Throws Error if it is not what module_text() gave.
struct Module {
  std::vector<Slot> slots;
  std::string rest;
};
Module parse_module(std::string_view text);

// Where the numbers of a launch stand: groups along the axes, a zero that compilers do not know of,
// then the byte at which each buffer begins in what is bound, then the variables.
inline constexpr int place_of_zero = 3;
inline constexpr int first_offset = 4;
// Elements of the array of numbers, for these counts.
int count_numbers(int num_buffers, int num_variables);

}  // namespace croze::wgsl
