// archive.h -- values as bytes and back, field by field.
//
//     template <typename A>
//     void fields(A& a, Place& p) {
//       a(p.offset), a(p.bytes);
//     }
//
// beside the struct lists the fields once, for an archive that writes them and one that reads them:
// a(x) writes the member or reads it.  Numbers are as the machine has them, lists and texts have
// their length before them.  What has a text() that its parse() takes is kept as that.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "croze/base/bytes.h"

namespace croze {

template <typename T>
concept PlainNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <typename T>
concept HasText = requires(const T value, std::string_view text) {
  { value.text() } -> std::same_as<std::string>;
  { T::parse(text) } -> std::same_as<T>;
};

class ArchiveWriter {
 public:
  template <typename T>
  void operator()(T& value) {
    if constexpr (PlainNumber<T>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
    } else if constexpr (HasText<T>) {
      std::string text = value.text();
      (*this)(text);
    } else {
      fields(*this, value);
    }
  }
  void operator()(std::string& text) {
    count(text.size());
    bytes += text;
  }
  template <typename T>
  void operator()(std::vector<T>& list) {
    count(list.size());
    for (T& item : list) (*this)(item);
  }

  std::string bytes;

 private:
  void count(std::size_t number) {
    auto n = static_cast<std::int64_t>(number);
    (*this)(n);
  }
};

// Believes no length: each is bounded by the bytes that remain.  Throws Error where they are too
// few.  What the numbers mean is for the caller to judge; an enum may have any of its bits.
class ArchiveReader {
 public:
  explicit ArchiveReader(ByteReader reader) : reader_(reader) {}

  template <typename T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = reader_.read<std::uint8_t>() != 0;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(reader_.read<std::underlying_type_t<T>>());
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = reader_.read<T>();
    } else if constexpr (HasText<T>) {
      std::string text;
      (*this)(text);
      value = T::parse(text);
    } else {
      fields(*this, value);
    }
  }
  void operator()(std::string& text) { text = reader_.text(reader_.read<std::int64_t>()); }
  // Every item takes bytes, so a list ends where they do, whatever its length says.
  template <typename T>
  void operator()(std::vector<T>& list) {
    const auto count = reader_.read<std::int64_t>();
    if (count < 0) reader_.fail_here("a list is shorter than nothing");
    list.clear();
    for (std::int64_t i = 0; i < count; i++) (*this)(list.emplace_back());
  }

  // Throws Error if there is more.
  void end() const {
    if (!reader_.at_end()) reader_.fail_here("there is more than there should be");
  }

 private:
  ByteReader reader_;
};

}  // namespace croze
