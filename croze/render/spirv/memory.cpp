#include "croze/render/spirv/memory.h"

#include "croze/base/error.h"
#include "croze/render/spirv/cast.h"

namespace croze::spirv {
namespace {

constexpr StorageClass global = StorageClass::PhysicalStorageBuffer;

std::uint32_t bytes_of(const Elements& e) { return static_cast<std::uint32_t>(size_of(e.dtype)); }

Id pointer_to_block(Module& m, Id address, Id element, std::uint32_t bytes) {
  const Id pointer = m.pointer_to(global, m.block_of(element, bytes));
  return m.define(Code::Bitcast, pointer, {address});
}

Id element_pointer(Module& m, const Elements& e, Id type, Id index) {
  return m.define(Code::AccessChain, m.pointer_to(global, type),
                  {e.base, m.constant_word(0), index});
}

// ---- packed elements ----

// A word, and how many of its bits are before the element.
struct Part {
  Id word;  // a pointer
  Id shift;
};

Part part_of(Module& m, const Elements& e, Id index, DType index_type) {
  const Id type = m.type_of(index_type), words = m.type_int(32);
  const bool is_wide = size_of(index_type) == 8;
  const Id before = is_wide ? m.define(Code::UConvert, type, {e.first}) : e.first;
  const Id place = m.define(Code::IAdd, type, {index, before});
  const Id log_per_word = m.constant_word(bytes_of(e) == 1 ? 2 : 1);
  const Id word = m.define(Code::ShiftRightArithmetic, type, {place, log_per_word});
  const Id low = is_wide ? m.define(Code::UConvert, words, {place}) : place;
  const Id number = m.define(Code::BitwiseAnd, words, {low, m.constant_word(4 / bytes_of(e) - 1)});
  const Id shift = m.define(Code::IMul, words, {number, m.constant_word(8 * bytes_of(e))});
  return {element_pointer(m, e, words, word), shift};
}

Id old_word(Module& m, const Part& part) {
  return m.define(Code::AtomicLoad, m.type_int(32),
                  {part.word, m.constant_word(scope_device), m.constant_word(0)});
}

Id load_packed(Module& m, const Elements& e, Id index, DType index_type) {
  const Part part = part_of(m, e, index, index_type);
  const Id width = m.constant_word(8 * bytes_of(e));
  const bool has_sign = e.dtype != DType::Bool && !is_unsigned(e.dtype);
  return m.define(has_sign ? Code::BitFieldSExtract : Code::BitFieldUExtract, m.type_int(32),
                  {old_word(m, part), part.shift, width});
}

// An atomic operation that touches the bits of the element only: what is there is changed by
// exclusive or, in the bits that differ.
void store_packed(Module& m, const Elements& e, Id index, DType index_type, Id value) {
  const Part part = part_of(m, e, index, index_type);
  const Id words = m.type_int(32);
  const Id old = m.define(Code::ShiftRightLogical, words, {old_word(m, part), part.shift});
  const Id differ = m.define(Code::BitwiseXor, words, {old, value});
  const Id mask = m.constant_word((1u << (8 * bytes_of(e))) - 1);
  const Id change = m.define(Code::BitwiseAnd, words, {differ, mask});
  const Id placed = m.define(Code::ShiftLeftLogical, words, {change, part.shift});
  m.define(Code::AtomicXor, words,
           {part.word, m.constant_word(scope_device), m.constant_word(0), placed});
}

}  // namespace

Id type_in_memory(Module& m, DType t) {
  return is_float(t) ? m.type_float(8 * size_of(t)) : m.type_int(8 * size_of(t));
}

Elements elements_at(Module& m, Id address, DType t, bool is_packed) {
  Elements e{.dtype = t};
  if (!is_packed) {
    e.base = pointer_to_block(m, address, type_in_memory(m, t), bytes_of(e));
    return e;
  }
  ensure(!is_float(t), "the spirv renderer has no packed {}", name_of(t));
  const Id words = m.type_int(32);
  const Id low = m.define(Code::CompositeExtract, words, {address, 0});
  const Id high = m.define(Code::CompositeExtract, words, {address, 1});
  const Id aligned = m.define(Code::BitwiseAnd, words, {low, m.constant_word(~3u)});
  const Id start = m.define(Code::CompositeConstruct, m.type_words(2), {aligned, high});
  e.base = pointer_to_block(m, start, words, 4);
  const Id rest = m.define(Code::BitwiseAnd, words, {low, m.constant_word(3)});
  e.first = m.define(Code::UDiv, words, {rest, m.constant_word(bytes_of(e))});
  return e;
}

Id load(Module& m, const Elements& e, Id index, DType index_type) {
  const DType t = e.dtype;
  Id value = 0;
  if (e.first) {
    value = load_packed(m, e, index, index_type);
  } else {
    const Id type = type_in_memory(m, t);
    value = m.define(Code::Load, type,
                     {element_pointer(m, e, type, index), memory_aligned, bytes_of(e)});
    if (is_float(t) || size_of(t) >= 4) return value;
    const bool has_sign = t != DType::Bool && !is_unsigned(t);
    value = m.define(has_sign ? Code::SConvert : Code::UConvert, m.type_int(32), {value});
  }
  return t == DType::Bool ? cast(m, value, DType::UInt32, t) : value;
}

void store(Module& m, const Elements& e, Id index, DType index_type, Id value) {
  const DType t = e.dtype;
  if (t == DType::Bool) value = cast(m, value, t, DType::UInt32);
  if (e.first) return store_packed(m, e, index, index_type, value);
  const Id type = type_in_memory(m, t);
  if (!is_float(t) && size_of(t) < 4) value = m.define(Code::UConvert, type, {value});
  m.line(Code::Store, {element_pointer(m, e, type, index), value, memory_aligned, bytes_of(e)});
}

}  // namespace croze::spirv
