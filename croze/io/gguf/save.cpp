// save.cpp -- writing of GGUF files: version 3, little-endian, of types that are a dtype.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/io/gguf/gguf.h"
#include "croze/io/gguf/header.h"

namespace croze {
namespace {

constexpr std::uint32_t version = 3;

std::int64_t padded(std::int64_t bytes, std::int64_t alignment) {
  return checked_add(bytes, (alignment - bytes % alignment) % alignment);
}

// What stands before the data.
class HeaderWriter {
 public:
  explicit HeaderWriter(const std::string& path) : path_(path) {}

  template <typename T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void text(std::string_view text) {
    number(std::uint64_t{text.size()});
    bytes += text;
  }
  void value(const std::string& name, const GgufValue& value);
  void tensor(const NamedTensor& named, std::int64_t offset);

  std::string bytes;

 private:
  // A number, a text or an array, as they stand in values and in arrays.
  template <typename T>
  void element(const T& element, int depth);

  const std::string& path_;
};

template <typename T>
void HeaderWriter::element(const T& element, int depth) {
  if constexpr (std::is_same_v<T, std::string>) {
    text(element);
  } else if constexpr (std::is_same_v<T, GgufArray>) {
    check(depth < max_gguf_depth, "saving {}: arrays nest deeper than {}", path_, max_gguf_depth);
    number(static_cast<std::uint32_t>(element.elements.index()));
    number(static_cast<std::uint64_t>(element.size()));
    const auto write_all = [&](const auto& list) {
      using E = typename std::remove_cvref_t<decltype(list)>::value_type;
      for (const E& e : list) this->element<E>(e, depth + 1);
    };
    std::visit(write_all, element.elements);
  } else {
    number(element);
  }
}

void HeaderWriter::value(const std::string& name, const GgufValue& value) {
  text(name);
  number(static_cast<std::uint32_t>(value.index()));
  std::visit([&](const auto& v) { element(v, 0); }, value);
}

void HeaderWriter::tensor(const NamedTensor& named, std::int64_t offset) {
  const Shape shape = named.tensor.shape();
  text(named.name);
  number(static_cast<std::uint32_t>(shape.size()));
  for (int i = shape.size(); i-- > 0;) number(static_cast<std::uint64_t>(shape[i]));
  number(static_cast<std::uint32_t>(ggml_type_of(named.tensor.dtype())->type));
  number(static_cast<std::uint64_t>(offset));
}

void check_tensors(const StateDict& tensors, const std::string& path) {
  std::vector<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    check(tensor.defined(), "saving {}: the tensor \"{}\" is not defined", path, name);
    check(ggml_type_of(tensor.dtype()) != nullptr,
          "saving {}: the tensor \"{}\" is {}, which GGUF does not have: cast it before", path,
          name, name_of(tensor.dtype()));
    check(tensor.ndim() <= max_gguf_rank, "saving {}: the tensor \"{}\" has {} axes, more than {}",
          path, name, tensor.ndim(), max_gguf_rank);
    names.push_back(name);
  }
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) fail({}, "saving {}: two tensors are named \"{}\"", path, *twice);
}

std::string header_of(const StateDict& tensors, const GgufMetadata::Map& metadata,
                      std::int64_t alignment, const std::string& path) {
  HeaderWriter header(path);
  header.bytes = "GGUF";
  header.number(version);
  header.number(std::uint64_t{tensors.size()});
  header.number(std::uint64_t{metadata.size()});
  for (const auto& [name, value] : metadata) header.value(name, value);
  std::int64_t offset = 0;
  for (const NamedTensor& t : tensors) {
    header.tensor(t, offset);
    const std::int64_t bytes = checked_mul(t.tensor.numel(), size_of(t.tensor.dtype()));
    offset = padded(checked_add(offset, bytes), alignment);
  }
  const std::int64_t length = padded(std::ssize(header.bytes), alignment);
  header.bytes.resize(static_cast<std::size_t>(length));
  return std::move(header.bytes);
}

}  // namespace

void save_gguf(const std::string& path, const StateDict& tensors,
               const GgufMetadata::Map& metadata) {
  check_tensors(tensors, path);
  GgufMetadata::Map whole = metadata;
  std::erase_if(whole, [](const auto& value) { return value.first.starts_with("split."); });
  const std::int64_t alignment = gguf_alignment(GgufMetadata(path, whole), path);
  const std::string header = header_of(tensors, whole, alignment, path);
  FileWriter file(path);
  file.write(header);
  std::vector<Tensor> values;
  for (const NamedTensor& t : tensors) values.push_back(t.tensor);
  realize(values);
  for (const Tensor& t : values) {
    const std::vector<std::byte> bytes = t.to_bytes();
    file.write(bytes);
    const std::int64_t length = std::ssize(bytes);
    file.write(std::string(static_cast<std::size_t>(padded(length, alignment) - length), '\0'));
  }
  file.commit();
}

}  // namespace croze
