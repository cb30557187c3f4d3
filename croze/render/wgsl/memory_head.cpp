// memory_head.cpp -- functions that read and write elements of the memory that is bound.
//
// The first line of a module names its slots, "// slots: 0 1p 2w", where p is for packed elements
// and w for such that are written.  The line "// kernel" ends the head.
#include "croze/render/wgsl/memory_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "croze/base/error.h"

namespace croze::wgsl {
namespace {

constexpr std::string_view first_line = "// slots:";
constexpr std::string_view last_line = "// kernel\n";

// Whether a memory is written by parts of words, through whichever slot.
bool is_atomic(std::span<const Slot> slots, std::span<const int> memory_of, int memory) {
  for (std::size_t i = 0; i < slots.size(); i++) {
    if (memory_of[i] == memory && slots[i].stores_packed) return true;
  }
  return false;
}

std::string word_functions(int slot, int memory, bool atomic) {
  if (atomic) {
    return fmt::format(
        "fn get{0}(i: i32) -> u32 {{ return atomicLoad(&m{1}[i]); }}\n"
        "fn set{0}(i: i32, v: u32) {{ atomicStore(&m{1}[i], v); }}\n",
        slot, memory);
  }
  return fmt::format(
      "fn get{0}(i: i32) -> u32 {{ return m{1}[i]; }}\n"
      "fn set{0}(i: i32, v: u32) {{ m{1}[i] = v; }}\n",
      slot, memory);
}

// With w words' worth of elements in one: the element's word is i / w.
std::string part_functions(const Slot& slot, int memory, int bits) {
  const int places = bits == 8 ? 2 : 1;  // i >> places is the word
  std::string text = fmt::format(
      "fn get{0}_{1}(i: i32) -> u32 {{\n"
      "  return extractBits(get{0}(i >> {2}u), u32(i & {3}) * {1}u, {1}u);\n"
      "}}\n",
      slot.number, bits, places, (1 << places) - 1);
  if (!slot.stores_packed) return text;
  // What is there is changed by exclusive or, in the bits that differ.
  text += fmt::format(
      "fn set{0}_{1}(i: i32, v: u32) {{\n"
      "  let old = get{0}_{1}(i);\n"
      "  atomicXor(&m{4}[i >> {2}u], (old ^ (v & {5:#x}u)) << (u32(i & {3}) * {1}u));\n"
      "}}\n",
      slot.number, bits, places, (1 << places) - 1, memory, (1 << bits) - 1);
  return text;
}

Slot parse_slot(std::string_view text) {
  Slot slot;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slot.number);
  check(error == std::errc{}, "this is no WGSL module of croze");
  const std::string_view use(end, static_cast<std::size_t>(text.data() + text.size() - end));
  slot.stores_packed = use == "w";
  slot.is_packed = slot.stores_packed || use == "p";
  return slot;
}

}  // namespace

int count_numbers(int num_buffers, int num_variables) {
  return (first_offset + num_buffers + num_variables + 3) / 4 * 4;
}

std::string memory_head(std::span<const Slot> slots, std::span<const int> memory_of) {
  std::string text;
  int memories = 0;
  for (std::size_t i = 0; i < slots.size(); i++) {
    const int memory = memory_of[i];
    const bool atomic = is_atomic(slots, memory_of, memory);
    if (memory == memories) {
      text += fmt::format("@group(0) @binding({}) var<storage, read_write> m{}: array<{}>;\n",
                          ++memories, memory, atomic ? "atomic<u32>" : "u32");
    }
    text += word_functions(slots[i].number, memory, atomic);
    if (!slots[i].is_packed) continue;
    text += part_functions(slots[i], memory, 8) + part_functions(slots[i], memory, 16);
  }
  return text;
}

std::string module_text(std::span<const Slot> slots, std::string_view rest) {
  std::string text(first_line);
  std::vector<int> memory_of;
  for (const Slot& slot : slots) {
    text +=
        fmt::format(" {}{}", slot.number, slot.stores_packed ? "w" : (slot.is_packed ? "p" : ""));
    memory_of.push_back(static_cast<int>(memory_of.size()));
  }
  return fmt::format("{}\n{}{}{}", text, memory_head(slots, memory_of), last_line, rest);
}

Module parse_module(std::string_view text) {
  const std::size_t end = text.find('\n'), rest = text.find(last_line);
  check(text.starts_with(first_line) && end != std::string_view::npos &&
            rest != std::string_view::npos,
        "this is no WGSL module of croze");
  Module module;
  std::string_view line = text.substr(first_line.size(), end - first_line.size());
  while (!line.empty()) {
    line.remove_prefix(1);  // the space
    const std::string_view word = line.substr(0, line.find(' '));
    module.slots.push_back(parse_slot(word));
    line.remove_prefix(word.size());
  }
  module.rest = text.substr(rest + last_line.size());
  return module;
}

}  // namespace croze::wgsl
