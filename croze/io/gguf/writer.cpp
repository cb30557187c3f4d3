// writer.cpp -- the header of a GGUF file (its form: header.cpp), and data behind it as they come.
#include "croze/io/gguf/writer.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/io/gguf/header.h"

namespace croze {
namespace {

constexpr std::uint32_t version = 3;
constexpr std::int64_t max_alignment = 1 << 20;  // padding is made in memory

std::int64_t padding_after(std::int64_t bytes, std::int64_t alignment) {
  return (alignment - bytes % alignment) % alignment;
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
  void value(const GgufNamedValue& named);
  void tensor(const GgufTensorInfo& info, std::int64_t offset);

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

void HeaderWriter::value(const GgufNamedValue& named) {
  text(named.first);
  number(static_cast<std::uint32_t>(named.second.index()));
  std::visit([&](const auto& v) { element(v, 0); }, named.second);
}

void HeaderWriter::tensor(const GgufTensorInfo& info, std::int64_t offset) {
  text(info.name);
  number(static_cast<std::uint32_t>(info.shape.size()));
  for (int i = info.shape.size(); i-- > 0;) number(static_cast<std::uint64_t>(info.shape[i]));
  number(static_cast<std::uint32_t>(info.type));
  number(static_cast<std::uint64_t>(offset));
}

template <typename List, typename Name>
void check_names(const List& list, Name name, std::string_view what, const std::string& path) {
  std::vector<std::string_view> names;
  for (const auto& element : list) names.push_back(std::invoke(name, element));
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) {
    fail({}, "saving {}: two {} are named \"{}\"", path, what, shortened(*twice));
  }
}

std::int64_t alignment_of(std::span<const GgufNamedValue> metadata, const std::string& path) {
  GgufMetadata::Map values;
  for (const auto& [name, value] : metadata) {
    if (name == "general.alignment") values.emplace(name, value);
  }
  const std::int64_t alignment = gguf_alignment(GgufMetadata(path, std::move(values)), path);
  check(alignment <= max_alignment, "saving {}: an alignment of {}, more than {}", path, alignment,
        max_alignment);
  return alignment;
}

}  // namespace

std::int64_t GgufTensorInfo::bytes() const {
  const GgmlTypeInfo& info = ggml_type_info(type);
  const std::int64_t row = shape.size() > 0 ? shape.back() : 1;
  check(row % info.block_elements == 0,
        "tensor \"{}\": rows of shape {} are no whole number of blocks of {} ({} elements)",
        shortened(name), to_text(shape), info.name, info.block_elements);
  const std::optional<std::int64_t> bytes = gguf_data_bytes(shape, info);
  check(bytes.has_value(), "tensor \"{}\": the size of shape {} does not fit 64 bits",
        shortened(name), to_text(shape));
  return *bytes;
}

GgufWriter::GgufWriter(const std::string& path, std::span<const GgufNamedValue> metadata,
                       std::span<const GgufTensorInfo> tensors)
    : file_(path) {
  check_names(metadata, &GgufNamedValue::first, "values of the metadata", path);
  check_names(tensors, &GgufTensorInfo::name, "tensors", path);
  const std::int64_t alignment = alignment_of(metadata, path);
  HeaderWriter header(path);
  header.bytes = "GGUF";
  header.number(version);
  header.number(std::uint64_t{tensors.size()});
  header.number(std::uint64_t{metadata.size()});
  for (const GgufNamedValue& value : metadata) header.value(value);
  std::int64_t offset = 0;
  for (const GgufTensorInfo& t : tensors) {
    check(t.shape.size() <= max_gguf_rank, "saving {}: the tensor \"{}\" has {} axes, more than {}",
          path, shortened(t.name), t.shape.size(), max_gguf_rank);
    header.tensor(t, offset);
    missing_.push_back(t.bytes());
    padding_.push_back(padding_after(missing_.back(), alignment));
    offset = checked_add(offset, checked_add(missing_.back(), padding_.back()));
  }
  header.bytes.append(static_cast<std::size_t>(padding_after(std::ssize(header.bytes), alignment)),
                      '\0');
  file_.write(header.bytes);
  advance();
}

void GgufWriter::write(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  ensure(at_ < missing_.size() && std::ssize(bytes) <= missing_[at_],
         "{} bytes are more than the tensor has left", bytes.size());
  file_.write(bytes);
  missing_[at_] -= std::ssize(bytes);
  if (missing_[at_] > 0) return;
  file_.write(std::string(static_cast<std::size_t>(padding_[at_]), '\0'));
  advance();
}

void GgufWriter::advance() {
  while (at_ < missing_.size() && missing_[at_] == 0) at_++;
}

void GgufWriter::commit() {
  ensure(at_ == missing_.size(), "data of a tensor are missing");
  file_.commit();
}

}  // namespace croze
