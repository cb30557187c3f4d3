// header.cpp -- the header of a GGUF file.  The format:
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
//     "GGUF", version, number of tensors, number of metadata
//     metadata:  name, type, value
//     tensors:   name, number of sizes, sizes (the innermost first), type, offset in the data
//     data, from the next multiple of the alignment
//
// Texts are a length of 64 bits and so many bytes.  Every count is held against the bytes that
// remain before anything is made of it.
#include "croze/io/gguf/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <type_traits>
#include <utility>

#include "croze/base/bytes.h"
#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/printable.h"

namespace croze {
namespace {

constexpr std::string_view magic = "GGUF";
constexpr int oldest_version = 2, newest_version = 3;
constexpr std::int64_t default_alignment = 32;
constexpr std::int64_t max_name_bytes = 65535;  // of metadata, by the format
constexpr std::int64_t max_tensors = 1 << 18;
constexpr std::int64_t max_pieces = 1 << 22;  // names, texts and arrays of the metadata

// ---- numbers and texts ------------------------------------------------------------------------

class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> file, const std::string& path)
      : reader_(file, path), path_(path), file_bytes_(std::ssize(file)) {}

  GgufHeader read();

 private:
  template <typename T>
  T number() {
    return big_endian_ ? reader_.read_big_endian<T>() : reader_.read<T>();
  }
  bool flag() {
    const auto byte = reader_.read<std::uint8_t>();
    check(byte <= 1, "{}: a bool of {} (at offset {})", path_, byte, reader_.offset() - 1);
    return byte == 1;
  }
  // A count of things that take at least so many bytes each.
  std::int64_t count(std::int64_t least_bytes, std::string_view what);
  // Throws Error if so many of them cannot be there.
  void require(std::uint64_t count, std::int64_t least_bytes, std::string_view what) const;
  std::string text();
  void count_piece() {
    check(++pieces_ <= max_pieces, "{}: the metadata have more than {} names, texts and arrays",
          path_, max_pieces);
  }

  int version();
  GgufMetadata::Map metadata(std::int64_t entries, std::vector<std::string>& order);
  GgufValue value(std::uint32_t type);
  GgufArray array();
  GgufArray array_of(std::uint32_t type, std::int64_t size);
  template <typename T>
  GgufArray numbers(std::int64_t size);
  std::vector<GgufEntry> tensors(std::int64_t entries);
  GgufEntry tensor();
  void locate(std::vector<GgufEntry>& entries, std::int64_t alignment);

  ByteReader reader_;
  const std::string& path_;
  const std::int64_t file_bytes_;
  bool big_endian_ = false;
  std::int64_t pieces_ = 0;
};

std::int64_t HeaderReader::count(std::int64_t least_bytes, std::string_view what) {
  const auto count = number<std::uint64_t>();
  require(count, least_bytes, what);
  return static_cast<std::int64_t>(count);
}

void HeaderReader::require(std::uint64_t count, std::int64_t least_bytes,
                           std::string_view what) const {
  check(count <= static_cast<std::uint64_t>(reader_.remaining() / least_bytes),
        "{}: {} {}, but {} bytes remain (at offset {})", path_, count, what, reader_.remaining(),
        reader_.offset());
}

std::string HeaderReader::text() {
  const std::int64_t bytes = count(1, "bytes of a text");
  return std::string(reader_.text(bytes));
}

// The version says the byte order too: one that only makes sense the other way round is
// big-endian.
int HeaderReader::version() {
  auto version = reader_.read<std::uint32_t>();
  big_endian_ = (version & 0xffff) == 0;
  if (big_endian_) version = __builtin_bswap32(version);
  check(version >= oldest_version && version <= newest_version,
        "{}: version {} of the format, but {} to {} can be read", path_, version, oldest_version,
        newest_version);
  return static_cast<int>(version);
}

// ---- metadata ---------------------------------------------------------------------------------

// The types that are a number, by their number in files.
template <typename F>
bool visit_number_type(std::uint32_t type, const F& f) {
  switch (type) {
    case 0: f(std::type_identity<std::uint8_t>()); return true;
    case 1: f(std::type_identity<std::int8_t>()); return true;
    case 2: f(std::type_identity<std::uint16_t>()); return true;
    case 3: f(std::type_identity<std::int16_t>()); return true;
    case 4: f(std::type_identity<std::uint32_t>()); return true;
    case 5: f(std::type_identity<std::int32_t>()); return true;
    case 6: f(std::type_identity<float>()); return true;
    case 10: f(std::type_identity<std::uint64_t>()); return true;
    case 11: f(std::type_identity<std::int64_t>()); return true;
    case 12: f(std::type_identity<double>()); return true;
    default: return false;
  }
}
constexpr std::uint32_t bool_type = 7, text_type = 8, array_type = 9;

GgufMetadata::Map HeaderReader::metadata(std::int64_t entries, std::vector<std::string>& order) {
  GgufMetadata::Map values;
  for (std::int64_t i = 0; i < entries; i++) {
    count_piece();
    std::string name = text();
    check(std::ssize(name) <= max_name_bytes, "{}: the name of a value has {} bytes", path_,
          name.size());
    const auto type = number<std::uint32_t>();
    const auto [place, is_new] = values.try_emplace(std::move(name), value(type));
    check(is_new, "{}: the metadata \"{}\" stand twice", path_, shortened(place->first));
    order.push_back(place->first);
  }
  return values;
}

GgufValue HeaderReader::value(std::uint32_t type) {
  if (type == bool_type) return flag();
  if (type == text_type) return text();
  if (type == array_type) return array();
  GgufValue result;
  const bool known = visit_number_type(type, [&](auto identity) {
    using T = typename decltype(identity)::type;
    result = number<T>();
  });
  check(known, "{}: a value of type {}, which does not exist (at offset {})", path_, type,
        reader_.offset());
  return result;
}

// An array whose elements are arrays is open until it has all of them; the open ones are a stack,
// so that how deep a file nests is no matter of our own stack.
GgufArray HeaderReader::array() {
  struct Open {
    std::vector<GgufArray> elements;
    std::int64_t missing = 0;
  };
  constexpr std::int64_t least_array = 12;  // type and size
  std::vector<Open> open;
  for (;;) {
    count_piece();
    const auto type = number<std::uint32_t>();
    GgufArray done;
    if (type == array_type) {
      open.push_back({{}, count(least_array, "arrays in an array")});
      check(std::ssize(open) < max_gguf_depth, "{}: arrays nest deeper than {} (at offset {})",
            path_, max_gguf_depth, reader_.offset());
      if (open.back().missing > 0) continue;
    } else {
      done = array_of(type, count(1, "elements of an array"));
    }
    // What is complete becomes an element of what is around it, which may complete that.
    for (bool is_list = type == array_type;; is_list = true) {
      if (is_list) {
        done.elements = std::move(open.back().elements);
        open.pop_back();
      }
      if (open.empty()) return done;
      open.back().elements.push_back(std::move(done));
      if (--open.back().missing > 0) break;
    }
  }
}

template <typename T>
GgufArray HeaderReader::numbers(std::int64_t size) {
  require(static_cast<std::uint64_t>(size), sizeof(T), "numbers");
  std::vector<T> list(static_cast<std::size_t>(size));
  for (T& element : list) element = number<T>();
  return {std::move(list)};
}

GgufArray HeaderReader::array_of(std::uint32_t type, std::int64_t size) {
  constexpr std::int64_t least_text = 8;  // its length
  GgufArray result;
  if (type == bool_type) {
    std::vector<bool> list;
    for (std::int64_t i = 0; i < size; i++) list.push_back(flag());
    return {std::move(list)};
  }
  if (type == text_type) {
    require(static_cast<std::uint64_t>(size), least_text, "texts");
    std::vector<std::string> list;
    for (std::int64_t i = 0; i < size; i++) {
      count_piece();
      list.push_back(text());
    }
    return {std::move(list)};
  }
  const bool known = visit_number_type(
      type, [&](auto identity) { result = numbers<typename decltype(identity)::type>(size); });
  check(known, "{}: an array of type {}, which does not exist (at offset {})", path_, type,
        reader_.offset());
  return result;
}

// ---- tensors ----------------------------------------------------------------------------------

GgufEntry HeaderReader::tensor() {
  GgufEntry entry;
  entry.name = text();
  const std::string what = fmt::format("{}: tensor \"{}\"", path_, shortened(entry.name));
  const auto rank = number<std::uint32_t>();
  check(rank <= max_gguf_rank, "{} has {} axes, more than {}", what, rank, max_gguf_rank);
  for (std::uint32_t i = 0; i < rank; i++) {
    const auto size = number<std::uint64_t>();
    check(size <= INT64_MAX, "{} has an axis of {}", what, size);
    entry.shape.insert(0, static_cast<std::int64_t>(size));
  }
  const auto type = number<std::uint32_t>();
  entry.type = ggml_type_info(type);
  check(entry.type != nullptr, "{} is of type {}, which is not known", what, type);
  const std::int64_t row = rank > 0 ? entry.shape.back() : 1;
  check(row % entry.type->block_elements == 0,
        "{}: rows of shape {} are no whole number of blocks of {} ({} elements)", what,
        to_text(entry.shape), entry.type->name, entry.type->block_elements);
  const std::optional<std::int64_t> bytes = gguf_data_bytes(entry.shape, *entry.type);
  check(bytes.has_value(), "{}: the size of shape {} does not fit 64 bits", what,
        to_text(entry.shape));
  entry.bytes = *bytes;
  const auto offset = number<std::uint64_t>();
  check(offset <= static_cast<std::uint64_t>(file_bytes_), "{} begins {} bytes into the data", what,
        offset);
  entry.offset = static_cast<std::int64_t>(offset);
  return entry;
}

std::vector<GgufEntry> HeaderReader::tensors(std::int64_t entries) {
  std::vector<GgufEntry> list;
  for (std::int64_t i = 0; i < entries; i++) list.push_back(tensor());
  return list;
}

// Offsets in the data become offsets in the file, and are checked: all lies in the file, aligned,
// and no two tensors share memory.
void HeaderReader::locate(std::vector<GgufEntry>& entries, std::int64_t alignment) {
  const std::int64_t end = reader_.offset();
  const std::int64_t data = checked_add(end, (alignment - end % alignment) % alignment);
  std::vector<const GgufEntry*> order;
  for (GgufEntry& e : entries) {
    check(e.offset % alignment == 0,
          "{}: tensor \"{}\" begins {} bytes into the data, no multiple "
          "of the alignment {}",
          path_, shortened(e.name), e.offset, alignment);
    e.offset = checked_add(e.offset, data);
    // Padding that nothing follows need not be there.
    if (e.bytes == 0) e.offset = std::min(e.offset, file_bytes_);
    check(e.bytes <= file_bytes_ && e.offset <= file_bytes_ - e.bytes,
          "{}: tensor \"{}\", {} of shape {}, takes {} bytes from {}, but the file ends at {}",
          path_, shortened(e.name), e.type->name, to_text(e.shape), e.bytes, e.offset, file_bytes_);
    order.push_back(&e);
  }
  std::ranges::stable_sort(order, {},
                           [](const GgufEntry* e) { return std::pair(e->offset, e->bytes); });
  for (std::size_t i = 1; i < order.size(); i++) {
    const GgufEntry &before = *order[i - 1], &e = *order[i];
    check(before.offset + before.bytes <= e.offset, "{}: the tensors \"{}\" and \"{}\" overlap",
          path_, shortened(before.name), shortened(e.name));
  }
}

GgufHeader HeaderReader::read() {
  constexpr std::int64_t least_tensor = 24, least_metadata = 13;
  const bool is_gguf =
      reader_.remaining() >= std::ssize(magic) && reader_.text(std::ssize(magic)) == magic;
  check(is_gguf, "{} is not a GGUF file: it does not begin with \"{}\"", path_, magic);
  GgufHeader header;
  header.version = version();
  header.big_endian = big_endian_;
  const std::int64_t tensor_count = count(least_tensor, "tensors");
  check(tensor_count <= max_tensors, "{}: more than {} tensors", path_, max_tensors);
  const std::int64_t metadata_count = count(least_metadata, "metadata");
  header.metadata = GgufMetadata(path_, metadata(metadata_count, header.metadata_order));
  const std::int64_t alignment = gguf_alignment(header.metadata, path_);
  header.entries = tensors(tensor_count);
  locate(header.entries, alignment);
  return header;
}

}  // namespace

std::int64_t gguf_alignment(const GgufMetadata& metadata, const std::string& path) {
  constexpr std::string_view name = "general.alignment";
  if (!metadata.has(name)) return default_alignment;
  const std::int64_t alignment = metadata.integer(name);
  check(alignment > 0 && alignment <= UINT32_MAX &&
            std::has_single_bit(static_cast<std::uint64_t>(alignment)),
        "{}: an alignment of {}, which is no power of two", path, alignment);
  return alignment;
}

std::optional<std::int64_t> gguf_data_bytes(const Shape& shape, const GgmlTypeInfo& type) {
  std::int64_t bytes = type.block_bytes;
  bool fits = true, empty = false;
  for (int i = 0; i < shape.size(); i++) {
    const std::int64_t size = i + 1 == shape.size() ? shape[i] / type.block_elements : shape[i];
    empty = empty || size == 0;
    fits = fits && !__builtin_mul_overflow(bytes, size, &bytes);
  }
  if (empty) return 0;
  return fits ? std::optional(bytes) : std::nullopt;
}

GgufHeader read_gguf_header(std::span<const std::byte> file, const std::string& path) {
  return HeaderReader(file, path).read();
}

}  // namespace croze
