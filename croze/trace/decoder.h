// decoder.h -- bytes to fields of records: records.h says how.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "croze/base/bytes.h"
#include "croze/trace/records.h"

namespace croze::traces {

// The fields of one chunk, record by record.
class Decoder {
 public:
  Decoder(std::span<const std::byte> chunk, std::string_view name)
      : chunk_(chunk, name), fields_({}, name), name_(name) {}

  bool at_end() const { return chunk_.at_end(); }

  // The next record: its kind, of which there may be more than we know.
  std::uint8_t next() {
    const auto kind = chunk_.read<std::uint8_t>();
    const std::uint64_t length = take(chunk_);
    check(length <= static_cast<std::uint64_t>(chunk_.remaining()),
          "{}: a record of {} bytes, where {} are left", name_, length, chunk_.remaining());
    fields_ = ByteReader(chunk_.bytes(static_cast<std::int64_t>(length)), name_);
    return kind;
  }
  // All bytes of the record.
  std::string_view text() { return fields_.text(fields_.remaining()); }

  // How many texts there are to be named.
  void set_texts(std::size_t texts) { texts_ = texts; }

  // ---- fields, for code() ----

  template <std::integral T>
  void number(T& value) {
    const std::uint64_t read = take(fields_);
    check(read <= static_cast<std::uint64_t>(std::numeric_limits<T>::max()),
          "{}: the number {} is too large for what it means", name_, read);
    value = static_cast<T>(read);
  }
  void name(Name& name) {
    number(name);
    check(name <= texts_, "{}: text {} of {}", name_, name, texts_);
  }
  template <typename E>
  void choice(E& value, E last) {
    const std::uint64_t read = take(fields_);
    check(read <= static_cast<std::uint64_t>(last), "{}: there is no choice {}", name_, read);
    value = static_cast<E>(read);
  }
  void time(std::int64_t& time) {
    const std::uint64_t step = take(fields_);
    const std::uint64_t delta = (step >> 1) ^ (step & 1 ? ~std::uint64_t{0} : 0);
    last_time_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(last_time_) + delta);
    check(-max_time <= last_time_ && last_time_ <= max_time, "{}: a time of {} ns", name_,
          last_time_);
    time = last_time_;
  }
  void duration(std::int64_t& duration) {
    number(duration);
    check(duration <= max_time, "{}: a duration of {} ns", name_, duration);
  }
  void real(double& value) { value = std::bit_cast<double>(fields_.read<std::uint64_t>()); }
  template <typename T, typename F>
  void list(std::vector<T>& items, std::int64_t least_bytes, F code) {
    const std::uint64_t count = take(fields_);
    check(count <= static_cast<std::uint64_t>(fields_.remaining() / least_bytes),
          "{}: a list of {} items in {} bytes", name_, count, fields_.remaining());
    items.resize(static_cast<std::size_t>(count));
    for (T& item : items) code(item);
  }

 private:
  // Some three years: the end of an event does not overflow.
  static constexpr std::int64_t max_time = 100'000'000'000'000'000;

  std::uint64_t take(ByteReader& reader) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = reader.read<std::uint8_t>();
      check(shift < 63 || byte < 2, "{}: a number of more than 64 bits", name_);
      value |= std::uint64_t{byte & 127u} << shift;
      if (byte < 128) break;
    }
    return value;
  }

  ByteReader chunk_, fields_;
  std::string_view name_;
  std::size_t texts_ = 0;
  std::int64_t last_time_ = 0;
};

}  // namespace croze::traces
