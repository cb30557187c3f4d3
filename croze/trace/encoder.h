// encoder.h -- fields of records to bytes: records.h says how.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/trace/records.h"

namespace croze::traces {

class Encoder {
 public:
  const std::string& bytes() const { return bytes_; }
  // A new chunk begins.
  void clear() {
    bytes_.clear();
    last_time_ = 0;
  }

  template <typename Record>
  void record(Record& record) {
    begin(Record::kind);
    record.code(*this);
    end();
  }
  void text(std::string_view text) {
    begin(Kind::Text);
    bytes_ += text;
    end();
  }

  // ---- fields, for code() ----

  // Not negative.
  template <std::integral T>
  void number(T value) {
    put(static_cast<std::uint64_t>(value));
  }
  void name(Name name) { put(name); }
  template <typename E>
  void choice(E value, E /*last*/) {
    put(static_cast<std::uint64_t>(value));
  }
  void time(std::int64_t time) {
    const auto step = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(last_time_);
    last_time_ = time;
    put((step << 1) ^ (step >> 63 ? ~std::uint64_t{0} : 0));
  }
  void duration(std::int64_t duration) { put(static_cast<std::uint64_t>(duration)); }
  void real(double value) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; i++, bits >>= 8) bytes_ += static_cast<char>(bits & 255);
  }
  template <typename T, typename F>
  void list(std::vector<T>& items, std::int64_t /*least_bytes*/, F code) {
    put(items.size());
    for (T& item : items) code(item);
  }

 private:
  void put(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>((value & 127) | 128);
    bytes_ += static_cast<char>(value);
  }

  // The length of most records is one byte; longer ones are moved to make room for theirs.
  void begin(Kind kind) {
    bytes_ += static_cast<char>(kind);
    bytes_ += '\0';
    begin_ = bytes_.size();
  }
  void end() {
    std::size_t length = bytes_.size() - begin_;
    if (length < 128) {
      bytes_[begin_ - 1] = static_cast<char>(length);
      return;
    }
    std::string prefix;
    for (; length >= 128; length >>= 7) prefix += static_cast<char>((length & 127) | 128);
    prefix += static_cast<char>(length);
    bytes_.replace(begin_ - 1, 1, prefix);
  }

  std::string bytes_;
  std::size_t begin_ = 0;  // of the fields of the record at work
  std::int64_t last_time_ = 0;
};

}  // namespace croze::traces
