// quantize.cpp -- which type each tensor gets, and a file written piece by piece.
#include "croze/io/gguf/quantize.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/half.h"
#include "croze/base/printable.h"
#include "croze/base/thread_pool.h"
#include "croze/io/gguf/encode.h"
#include "croze/io/gguf/writer.h"

namespace croze {
namespace {

using enum GgmlType;

// ---- types ------------------------------------------------------------------------------------

// Weights of these names are small, or too much depends on them.
constexpr std::string_view kept_names[] = {
    "_norm.weight",   "ffn_gate_inp", "position_embd", "token_types", "ssm_conv1d",
    "shortconv.conv", "attn_rel_b",   "altup",         "laurel",      "per_layer_model_proj"};

bool is_weight(const GgufEntry& entry) {
  const bool is_number = entry.type->type == F32 || entry.type->type == F16 ||
                         entry.type->type == BF16;  // what is quantized stays so
  return is_number && entry.shape.size() >= 2 && entry.name.ends_with("weight") &&
         std::ranges::none_of(kept_names, [&](std::string_view name) {
           return entry.name.find(name) != std::string::npos;
         });
}

// The types to take for rows that are no whole number of blocks of 256, and of 32.
GgmlType fallback(GgmlType type) {
  switch (type) {
    case Q4_K: return Q5_0;
    case Q5_K: return Q5_1;
    case Q6_K: return Q8_0;
    default: return F16;
  }
}

bool is_divisible(const Shape& shape, GgmlType type) {
  return shape.back() % ggml_type_info(type).block_elements == 0;
}

// The tensor that makes logits: that of the embeddings where both are one.
std::string_view output_name(const GgufHeader& header) {
  constexpr std::string_view output = "output.weight";
  const bool has_output =
      std::ranges::find(header.entries, output, &GgufEntry::name) != header.entries.end();
  return has_output ? output : "token_embd.weight";
}

bool is_below_six_bits(GgmlType type) {
  const GgmlTypeInfo& info = ggml_type_info(type);
  return info.block_bytes * 8 < info.block_elements * 6;
}

GgufQuantizeStep step_of(const GgufEntry& entry, GgmlType wanted) {
  GgufQuantizeStep step{.name = entry.name,
                        .shape = entry.shape,
                        .from = entry.type->type,
                        .to = entry.type->type,
                        .from_bytes = entry.bytes,
                        .to_bytes = entry.bytes};
  if (!is_weight(entry)) return step;
  step.to = wanted;
  while (!is_divisible(entry.shape, step.to)) step.to = fallback(step.to);
  step.is_fallback = step.to != wanted;
  step.to_bytes = GgufTensorInfo{step.name, step.shape, step.to}.bytes();
  return step;
}

// ---- metadata ---------------------------------------------------------------------------------

// What ggml calls a model of which most tensors are of a type (enum llama_ftype).
std::uint32_t file_type(GgmlType type) {
  switch (type) {
    case F32: return 0;
    case F16: return 1;
    case Q4_0: return 2;
    case Q4_1: return 3;
    case Q8_0: return 7;
    case Q5_0: return 8;
    case Q5_1: return 9;
    case Q4_K: return 14;
    case Q5_K: return 16;
    case Q6_K: return 18;
    case BF16: return 32;
    default: return 38;  // MXFP4
  }
}

std::vector<GgufNamedValue> metadata_of(const GgufHeader& header, GgmlType type) {
  std::vector<GgufNamedValue> values;
  for (const std::string& name : header.metadata_order) {
    values.emplace_back(name, header.metadata.at(name));
  }
  const auto set = [&](const char* name, std::uint32_t value) {
    const auto it = std::ranges::find(values, name, &GgufNamedValue::first);
    if (it != values.end()) {
      it->second = value;
    } else {
      values.emplace_back(name, value);
    }
  };
  set("general.quantization_version", 2);  // of the layouts of blocks
  set("general.file_type", file_type(type));
  return values;
}

// ---- data -------------------------------------------------------------------------------------

// Elements first, first + 1, ... of stored numbers.
void read_numbers(std::span<const std::byte> data, GgmlType type, std::size_t first,
                  std::span<float> numbers) {
  if (type == F32) {
    std::memcpy(numbers.data(), &data[4 * first], 4 * numbers.size());
    return;
  }
  for (std::size_t i = 0; i < numbers.size(); i++) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, &data[2 * (first + i)], sizeof(bits));
    numbers[i] = type == F16 ? f16_to_float(bits) : bf16_to_float(bits);
  }
}

constexpr std::size_t chunk = 8192;  // elements that a thread takes at a time
constexpr std::size_t chunks = 256;  // of a piece
static_assert(chunk % 256 == 0);     // whole blocks of every type

// Rows need not be known: they are whole numbers of blocks, one behind the other.
void write_encoded(std::span<const std::byte> data, const GgufQuantizeStep& step, ThreadPool& pool,
                   GgufWriter& writer) {
  const GgmlTypeInfo& info = ggml_type_info(step.to);
  const auto bytes_of = [&](std::size_t elements) {
    return elements / static_cast<std::size_t>(info.block_elements) *
           static_cast<std::size_t>(info.block_bytes);
  };
  const auto count = static_cast<std::size_t>(step.shape.numel());
  std::vector<std::byte> blocks;
  for (std::size_t first = 0; first < count; first += chunk * chunks) {
    const std::size_t piece = std::min(count - first, chunk * chunks);
    blocks.resize(bytes_of(piece));
    pool.run(static_cast<std::int64_t>((piece + chunk - 1) / chunk), [&](std::int64_t i) {
      const std::size_t at = static_cast<std::size_t>(i) * chunk;
      std::vector<float> numbers(std::min(piece - at, chunk));
      read_numbers(data, step.from, first + at, numbers);
      encode_blocks(numbers, step.to,
                    std::span(blocks).subspan(bytes_of(at), bytes_of(numbers.size())));
    });
    writer.write(blocks);
  }
}

void check_not_same(const std::string& input, const std::string& output) {
  std::error_code error;  // no such file: it is another one
  check(!std::filesystem::equivalent(input, output, error),
        "{} is the model that is read: name another file for the result", output);
}

}  // namespace

GgufQuantizer::GgufQuantizer(const std::string& path, const GgufQuantizeOptions& options)
    : file_(path), header_(read_gguf_header(file_.data(), path)), options_(options) {
  const std::vector<GgmlType> types = encodable_types();
  check(std::ranges::find(types, options.type) != types.end(), "numbers cannot be encoded as {}",
        name_of(options.type));
  check(!header_.big_endian, "{} is big-endian, which cannot be quantized", path);
  const bool is_split =
      header_.metadata.has("split.count") && header_.metadata.integer("split.count") != 1;
  check(!is_split, "{} is a part of a split model: join it before", path);
  const std::string_view output = output_name(header_);
  const bool widens_output = !options.pure && is_below_six_bits(options.type);
  for (const GgufEntry& e : header_.entries) {
    steps_.push_back(step_of(e, widens_output && e.name == output ? Q6_K : options.type));
  }
}

void GgufQuantizer::save(const std::string& path,
                         const std::function<void(const GgufQuantizeStep&)>& on_step) const {
  check_not_same(file_.path(), path);
  std::vector<GgufTensorInfo> infos;
  for (const GgufQuantizeStep& s : steps_) infos.push_back({s.name, s.shape, s.to});
  GgufWriter writer(path, metadata_of(header_, options_.type), infos);
  ThreadPool pool;
  for (std::size_t i = 0; i < steps_.size(); i++) {
    const GgufQuantizeStep& step = steps_[i];
    const GgufEntry& entry = header_.entries[i];
    if (on_step) on_step(step);
    const auto data = file_.data().subspan(static_cast<std::size_t>(entry.offset),
                                           static_cast<std::size_t>(entry.bytes));
    if (step.from == step.to) {
      writer.write(data);
      continue;
    }
    try {
      write_encoded(data, step, pool, writer);
    } catch (const Error& e) {
      fail({}, "{}: tensor \"{}\": {}", file_.path(), shortened(step.name), e.message());
    }
  }
  writer.commit();
}

}  // namespace croze
