// protobuf.h -- the wire format of protobuf: a message is a sequence of (field number, value), and
// nothing is known of it in advance.  Reading, every length is checked against the bytes that
// remain; nothing is allocated that the file does not hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/bytes.h"

namespace croze::protobuf {

// One field of a message.  The typed accessors throw Error if the field was written as another
// type.
class Field {
 public:
  int number() const { return number_; }

  // int64, int32, bool and enum fields.
  std::int64_t integer() const;
  // float fields, and double fields.
  float real() const;
  double real64() const;
  // string, bytes and message fields.
  std::span<const std::byte> bytes() const;
  std::string_view text() const;

  // A repeated number, packed or not: appends what this field holds.
  void append_to(std::vector<std::int64_t>& values) const;
  void append_to(std::vector<float>& values) const;
  void append_to(std::vector<double>& values) const;

 private:
  friend class Reader;
  enum class Type : std::uint8_t { Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5 };

  void require(Type type, std::string_view what) const;
  template <typename T>
  void append_fixed(std::vector<T>& values, Type type) const;

  std::string_view source_;
  int number_ = 0;
  Type type_ = Type::Varint;
  std::uint64_t value_ = 0;
  std::span<const std::byte> bytes_;
};

class Reader {
 public:
  // `source` is what messages call the data; it outlives the fields.
  Reader(std::span<const std::byte> message, std::string_view source)
      : reader_(message, source), source_(source) {}

  // Moves to the next field; false at the end of the message.  Throws Error where the bytes are no
  // protobuf.
  bool next(Field& field);

 private:
  ByteReader reader_;
  std::string_view source_;
};

// A message under construction.
class Writer {
 public:
  // int64, int32, bool and enum fields.
  void integer(int field, std::int64_t value);
  // double and float fields.
  void real64(int field, double value);
  void real(int field, float value);
  // A repeated double, packed.
  void reals64(int field, std::span<const double> values);
  // string, bytes and message fields.
  void bytes(int field, std::string_view value);

  const std::string& message() const { return message_; }

 private:
  void varint(std::uint64_t value);
  void tag(int field, int type);
  template <typename T>
  void fixed(T value);

  std::string message_;
};

}  // namespace croze::protobuf
