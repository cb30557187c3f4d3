// module.cpp -- the order of a module's sections, and how instructions are words.
//
// The first word of an instruction holds how many words it has and its code.  A text is its bytes
// and a zero, filled up to whole words.
#include "croze/render/spirv/module.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"
#include "croze/graph/eval.h"

namespace croze::spirv {
namespace {

constexpr std::string_view extended_set = "GLSL.std.450";

void append_text(Words& words, std::string_view text) {
  const std::size_t first = words.size();
  words.resize(first + text.size() / 4 + 1);
  for (std::size_t i = 0; i < text.size(); i++) {
    words[first + i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]))
                            << (8 * (i % 4));
  }
}

template <typename Enum>
std::uint32_t word(Enum e) {
  return static_cast<std::uint32_t>(e);
}

}  // namespace

void Module::write(Words& into, Code code, std::span<const std::uint32_t> operands) {
  into.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | word(code));
  into.insert(into.end(), operands.begin(), operands.end());
}

void Module::need(Capability capability) {
  Words key{word(Code::Capability), word(capability)};
  if (!known_.emplace(std::move(key), 0).second) return;
  write(capabilities_, Code::Capability, {word(capability)});
}

void Module::need(std::string_view extension) {
  Words text;
  append_text(text, extension);
  Words key{word(Code::Extension)};
  key.insert(key.end(), text.begin(), text.end());
  if (known_.emplace(std::move(key), 0).second) write(extensions_, Code::Extension, text);
}

void Module::need_matrices() {
  need(Capability::CooperativeMatrix);
  need("SPV_KHR_cooperative_matrix");
  need(Capability::VulkanMemoryModel);
  has_matrices_ = true;
}

void Module::execution_mode(ExecutionMode mode, std::initializer_list<std::uint32_t> operands) {
  Words words{function_, word(mode)};
  words.insert(words.end(), operands);
  write(modes_, Code::ExecutionMode, words);
}

// ---- types and constants ------------------------------------------------------------------------

Id Module::declared(Code code, std::initializer_list<std::uint32_t> operands) {
  Words key{word(code)};
  key.insert(key.end(), operands);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const Id id = fresh();
  Words words{id};
  words.insert(words.end(), operands);
  write(declarations_, code, words);
  known_.emplace(std::move(key), id);
  return id;
}

Id Module::declared_value(Code code, Id type, std::initializer_list<std::uint32_t> operands) {
  Words key{word(code), type};
  key.insert(key.end(), operands);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const Id id = fresh();
  Words words{type, id};
  words.insert(words.end(), operands);
  write(declarations_, code, words);
  known_.emplace(std::move(key), id);
  return id;
}

Id Module::type_int(std::int64_t bits) {
  if (bits == 64) need(Capability::Int64);
  if (bits == 16) need(Capability::Int16), need(Capability::StorageBuffer16BitAccess);
  if (bits == 8) need(Capability::Int8), need(Capability::StorageBuffer8BitAccess);
  return declared(Code::TypeInt, {static_cast<std::uint32_t>(bits), 0});
}

Id Module::type_float(std::int64_t bits) {
  if (bits == 64) need(Capability::Float64);
  if (bits == 16) need(Capability::Float16), need(Capability::StorageBuffer16BitAccess);
  return declared(Code::TypeFloat, {static_cast<std::uint32_t>(bits)});
}

Id Module::block_of(Id element, std::uint32_t element_bytes, std::uint32_t elements) {
  const Words key{word(Decoration::Block), element, element_bytes, elements};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  // Not shared with arrays that have no layout.
  const Id array = fresh(), block = fresh();
  if (elements == 0) {
    write(declarations_, Code::TypeRuntimeArray, {array, element});
  } else {
    const Id length = constant_word(elements);
    write(declarations_, Code::TypeArray, {array, element, length});
  }
  write(declarations_, Code::TypeStruct, {block, array});
  decorate(array, Decoration::ArrayStride, {element_bytes});
  decorate(block, Decoration::Block);
  decorate_member(block, 0, 0);
  known_.emplace(key, block);
  return block;
}

Id Module::type_matrix(DType t, std::uint32_t rows, std::uint32_t columns, MatrixUse use) {
  Id element = 0;
  if (t == DType::BFloat16) {
    need(Capability::BFloat16Type);
    need(Capability::BFloat16CooperativeMatrix);
    need("SPV_KHR_bfloat16");
    element = declared(Code::TypeFloat, {16, encoding_bfloat16});
  } else {
    element = is_float(t) ? type_float(8 * size_of(t)) : type_int(8 * size_of(t));
  }
  const Id subgroup = constant_word(scope_subgroup), height = constant_word(rows),
           width = constant_word(columns), as = constant_word(word(use));
  return declared(Code::TypeCooperativeMatrix, {element, subgroup, height, width, as});
}

Id Module::type_of(DType t) {
  if (t == DType::Bool) return type_bool();
  const std::int64_t bits = 8 * size_of(t);
  if (!is_float(t)) return type_int(std::max<std::int64_t>(bits, 32));
  ensure(t == DType::Float16 || bits >= 32, "the spirv renderer has no {}", name_of(t));
  return type_float(bits);
}

Id Module::constant(std::int64_t bits, DType t) {
  const Id type = type_of(t);
  if (t == DType::Bool) {
    return declared_value(bits ? Code::ConstantTrue : Code::ConstantFalse, type, {});
  }
  std::uint64_t stored = static_cast<std::uint64_t>(bits);
  if (is_float(t)) {
    stored = 0;
    store_bits(bits, t, &stored);
  }
  const auto low = static_cast<std::uint32_t>(stored);
  if (size_of(t) < 8) return declared_value(Code::Constant, type, {low});
  return declared_value(Code::Constant, type, {low, static_cast<std::uint32_t>(stored >> 32)});
}

// ---- variables ----------------------------------------------------------------------------------

Id Module::variable(StorageClass storage, Id type) {
  const Id pointer = pointer_to(storage, type), id = fresh();
  const bool is_local = storage == StorageClass::Function;
  write(is_local ? variables_ : declarations_, Code::Variable, {pointer, id, word(storage)});
  if (!is_local) interface_.push_back(id);
  return id;
}

Id Module::built_in(BuiltIn built_in) {
  const auto known = built_ins_.find(built_in);
  if (known != built_ins_.end()) return known->second;
  const Id id = variable(StorageClass::Input, type_words(3));
  decorate(id, Decoration::BuiltIn, {word(built_in)});
  built_ins_.emplace(built_in, id);
  return id;
}

void Module::decorate(Id id, Decoration decoration, std::initializer_list<std::uint32_t> operands) {
  Words words{id, word(decoration)};
  words.insert(words.end(), operands);
  write(decorations_, Code::Decorate, words);
}

void Module::decorate_member(Id type, std::uint32_t member, std::uint32_t offset) {
  write(decorations_, Code::MemberDecorate, {type, member, word(Decoration::Offset), offset});
}

// ---- the body -----------------------------------------------------------------------------------

Id Module::define(Code code, Id type, std::initializer_list<std::uint32_t> operands) {
  const Id id = fresh();
  Words words{type, id};
  words.insert(words.end(), operands);
  write(body_, code, words);
  return id;
}

Id Module::define(Extended instruction, Id type, std::initializer_list<std::uint32_t> operands) {
  const Id id = fresh();
  Words words{type, id, extended_, word(instruction)};
  words.insert(words.end(), operands);
  write(body_, Code::ExtInst, words);
  return id;
}

Id Module::load(Id type, Id pointer, bool is_shared) {
  if (!is_shared || shared_operand() == 0) return define(Code::Load, type, {pointer});
  return define(Code::Load, type, {pointer, shared_operand()});
}

void Module::store(Id pointer, Id value, bool is_shared) {
  if (!is_shared || shared_operand() == 0) return line(Code::Store, {pointer, value});
  line(Code::Store, {pointer, value, shared_operand()});
}

void Module::meet(std::uint32_t scope) {
  const Id among = constant_word(scope);
  const std::uint32_t semantics =
      acquire_release_of_group_memory | (has_matrices_ ? make_available_and_visible : 0);
  line(Code::ControlBarrier, {among, among, constant_word(semantics)});
}

void Module::begin_block(Id label) {
  line(Code::Label, {label});
  block_ = label;
}

// ---- all of it ----------------------------------------------------------------------------------

Words Module::take(std::string_view entry) {
  const Id nothing = type_void();
  const Id signature = declared(Code::TypeFunction, {nothing});

  Words words{magic, version_1_5, 0, next_id_, 0};
  const auto append = [&](const Words& section) {
    words.insert(words.end(), section.begin(), section.end());
  };
  append(capabilities_);
  append(extensions_);
  Words import{extended_};
  append_text(import, extended_set);
  write(words, Code::ExtInstImport, import);
  write(words, Code::MemoryModel,
        {addresses_of_64_bits, has_matrices_ ? memory_model_vulkan : memory_model_glsl450});
  Words entry_point{execution_model_compute, function_};
  append_text(entry_point, entry);
  entry_point.insert(entry_point.end(), interface_.begin(), interface_.end());
  write(words, Code::EntryPoint, entry_point);
  append(modes_);
  append(decorations_);
  append(declarations_);
  write(words, Code::Function, {nothing, function_, 0, signature});
  write(words, Code::Label, {first_block_});
  append(variables_);
  append(body_);
  write(words, Code::Return, {});
  write(words, Code::FunctionEnd, {});
  *this = Module();
  return words;
}

// Capabilities come first, behind the five words of the head, two words each.
bool needs(std::span<const std::uint32_t> module, Capability capability) {
  for (std::size_t at = 5; at + 1 < module.size(); at += 2) {
    if (module[at] != (2u << 16 | word(Code::Capability))) return false;
    if (module[at + 1] == word(capability)) return true;
  }
  return false;
}

}  // namespace croze::spirv
