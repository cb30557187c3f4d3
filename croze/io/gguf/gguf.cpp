// gguf.cpp -- tensors over the bytes of GGUF files, and the parts of a split model.
#include "croze/io/gguf/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "croze/base/call_site.h"
#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/base/printable.h"
#include "croze/io/gguf/decode.h"
#include "croze/io/gguf/header.h"
#include "croze/tensor/storage.h"

namespace croze {
namespace {

// ---- one file ---------------------------------------------------------------------------------

void reverse_runs(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::ranges::reverse(bytes.subspan(at, width));
  }
}

// The bytes of a tensor of a big-endian file as a little-endian one has them.
std::vector<std::byte> little_endian(std::span<const std::byte> bytes, const GgufEntry& entry,
                                     const std::string& path) {
  const GgmlTypeInfo& type = *entry.type;
  std::vector<std::byte> result(bytes.begin(), bytes.end());
  const auto block_bytes = static_cast<std::size_t>(type.block_bytes);
  if (!type.is_blocks()) {
    reverse_runs(result, block_bytes);
    return result;
  }
  check(type.halves.has_value(), "{}: tensor \"{}\": no big-endian form of {} is known", path,
        shortened(entry.name), type.name);
  for (std::size_t at = 0; at < result.size(); at += block_bytes) {
    const auto halves =
        std::span(result).subspan(at + static_cast<std::size_t>(type.halves->offset),
                                  2 * static_cast<std::size_t>(type.halves->count));
    reverse_runs(halves, 2);
  }
  return result;
}

struct Part {
  std::shared_ptr<const MappedFile> file;
  GgufHeader header;
};

Part read_part(const std::string& path) {
  Part part{std::make_shared<const MappedFile>(path), {}};
  part.header = read_gguf_header(part.file->data(), path);
  return part;
}

Tensor stored_tensor(const Part& part, const GgufEntry& entry, const GgufOptions& options) {
  const GgmlTypeInfo& type = *entry.type;
  const DType dtype = type.is_blocks() ? DType::UInt8 : type.dtype;
  Shape shape = entry.shape;
  if (type.is_blocks()) {
    shape[shape.size() - 1] /= type.block_elements;
    shape.push_back(type.block_bytes);
  }
  const auto bytes = part.file->data().subspan(static_cast<std::size_t>(entry.offset),
                                               static_cast<std::size_t>(entry.bytes));
  const TensorOptions here{.dtype = std::nullopt, .device = options.device};
  if (part.header.big_endian && type.block_bytes > 1) {
    const auto swapped = little_endian(bytes, entry, part.file->path());
    return Tensor::from_bytes(swapped, dtype, shape, here);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const bool aligned = address % static_cast<std::uintptr_t>(size_of(dtype)) == 0;
  // A file may ask for an alignment of a byte; memory that a dtype cannot be loaded from is copied.
  return aligned ? Tensor::from_blob(bytes.data(), shape, dtype, part.file, here)
                 : Tensor::from_bytes(bytes, dtype, shape, here);
}

void append_tensors(GgufFile& result, const Part& part, int number, const GgufOptions& options) {
  for (const GgufEntry& e : part.header.entries) {
    GgufTensor tensor{.name = e.name,
                      .shape = e.shape,
                      .type = e.type->type,
                      .part = number,
                      .offset = e.offset,
                      .stored = stored_tensor(part, e, options)};
    name_memory(tensor.stored, e.name);
    result.tensors.push_back(std::move(tensor));
  }
}

// ---- the parts of a split model ---------------------------------------------------------------

// "PREFIX-00002-of-00003.gguf".  The names of the other parts come from the name that the user gave
// and never from what stands in a file.
struct PartName {
  std::string prefix;
  int number = 0;  // from 1
  int count = 0;
};

std::string part_path(const PartName& name, int number) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", name.prefix, number, name.count);
}

std::optional<PartName> part_name(std::string_view path) {
  constexpr std::string_view form = "-00000-of-00000.gguf";
  if (path.size() < form.size()) return std::nullopt;
  PartName name{.prefix = std::string(path.substr(0, path.size() - form.size()))};
  const std::string_view suffix = path.substr(name.prefix.size());
  std::from_chars(suffix.data() + 1, suffix.data() + 6, name.number);
  std::from_chars(suffix.data() + 10, suffix.data() + 15, name.count);
  // What is not of this form is written otherwise.
  return part_path(name, name.number) == path ? std::optional(name) : std::nullopt;
}

// Into how many files a model is split, by the metadata of one of them.
std::int64_t split_count(const GgufMetadata& metadata) {
  constexpr std::string_view name = "split.count";
  return metadata.has(name) ? metadata.integer(name) : 1;
}

void check_part(const Part& part, const PartName& name, int number) {
  const GgufMetadata& metadata = part.header.metadata;
  const std::int64_t count = split_count(metadata);
  const std::int64_t place = metadata.integer("split.no");
  check(count == name.count && place == number - 1,
        "{}: by its name this is part {} of {}, by its metadata part {} of {}", part.file->path(),
        number, name.count, checked_add(place, 1), count);
}

std::vector<Part> read_parts(const std::string& path) {
  std::vector<Part> parts;
  parts.push_back(read_part(path));
  const std::int64_t count = split_count(parts[0].header.metadata);
  if (count == 1) return parts;
  const std::optional<PartName> name = part_name(path);
  check(name.has_value(),
        "{} is one of {} parts of a model, and is not named as such: name-00001-of-{:05}.gguf",
        path, count, count);
  check_part(parts[0], *name, name->number);
  for (int number = 1; number <= name->count; number++) {
    if (number == name->number) continue;
    parts.insert(parts.begin() + number - 1, read_part(part_path(*name, number)));
    check_part(parts[static_cast<std::size_t>(number - 1)], *name, number);
  }
  return parts;
}

void check_tensor_counts(const std::vector<Part>& parts) {
  std::int64_t found = 0;
  for (const Part& p : parts) found += std::ssize(p.header.entries);
  for (const Part& p : parts) {
    const std::int64_t said = p.header.metadata.integer("split.tensors.count");
    check(said == found, "{}: a model of {} tensors, but its {} parts have {}", p.file->path(),
          said, parts.size(), found);
  }
}

void check_names(const std::vector<GgufTensor>& tensors, const std::string& path) {
  std::vector<std::string_view> names;
  for (const GgufTensor& t : tensors) names.push_back(t.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return;
  fail({}, "{}: two tensors are named \"{}\"", path, shortened(*twice));
}

}  // namespace

Tensor GgufTensor::decoded(DType dtype, Location at) const {
  const CallScope scope("decoded", at);
  if (!ggml_type_info(type).is_blocks()) return stored.cast(dtype);
  return decode_blocks(stored, type).reshape(shape).cast(dtype);
}

const GgufTensor& GgufFile::tensor(std::string_view name) const {
  const auto it = std::ranges::find(tensors, name, &GgufTensor::name);
  check(it != tensors.end(), "the model has no tensor \"{}\"", shortened(name));
  return *it;
}

GgufFile load_gguf(const std::string& path, const GgufOptions& options) {
  std::vector<Part> parts = read_parts(path);
  if (parts.size() > 1) check_tensor_counts(parts);
  GgufFile result;
  for (const Part& p : parts) {
    append_tensors(result, p, static_cast<int>(&p - parts.data()), options);
  }
  check_names(result.tensors, path);
  GgufHeader& first = parts[0].header;
  result.version = first.version;
  result.big_endian = first.big_endian;
  result.parts = static_cast<int>(parts.size());
  result.metadata = std::move(first.metadata);
  return result;
}

}  // namespace croze
