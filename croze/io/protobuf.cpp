// protobuf.cpp -- fields of protobuf messages.  The format:
// https://protobuf.dev/programming-guides/encoding
#include "croze/io/protobuf.h"

#include <bit>
#include <cstring>

#include "croze/base/error.h"

namespace croze::protobuf {
namespace {

constexpr int max_varint_bytes = 10;  // 64 bits in groups of 7

std::uint64_t read_varint(ByteReader& reader) {
  std::uint64_t value = 0;
  for (int i = 0; i < max_varint_bytes; i++) {
    const auto byte = reader.read<std::uint8_t>();
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return value;
  }
  reader.fail_here("a number of more than 64 bits");
}

}  // namespace

void Field::require(Type type, std::string_view what) const {
  check(type_ == type, "{}: field {} of a message is not {}", source_, number_, what);
}

std::int64_t Field::integer() const {
  require(Type::Varint, "an integer");
  return static_cast<std::int64_t>(value_);
}

float Field::real() const {
  require(Type::Fixed32, "a float");
  return std::bit_cast<float>(static_cast<std::uint32_t>(value_));
}

double Field::real64() const {
  require(Type::Fixed64, "a double");
  return std::bit_cast<double>(value_);
}

std::span<const std::byte> Field::bytes() const {
  require(Type::Delimited, "a text or message");
  return bytes_;
}

std::string_view Field::text() const { return as_text(bytes()); }

void Field::append_to(std::vector<std::int64_t>& values) const {
  if (type_ == Type::Varint) {
    values.push_back(static_cast<std::int64_t>(value_));
    return;
  }
  ByteReader reader(bytes(), source_);
  while (!reader.at_end()) values.push_back(static_cast<std::int64_t>(read_varint(reader)));
}

template <typename T>
void Field::append_fixed(std::vector<T>& values, Type type) const {
  if (type_ == type) {
    T value;
    std::memcpy(&value, &value_, sizeof(T));
    values.push_back(value);
    return;
  }
  const auto raw = bytes();
  check(raw.size() % sizeof(T) == 0, "{}: field {} is {} bytes, not a list of numbers", source_,
        number_, raw.size());
  const std::size_t before = values.size();
  values.resize(before + raw.size() / sizeof(T));
  if (!raw.empty()) std::memcpy(values.data() + before, raw.data(), raw.size());
}

void Field::append_to(std::vector<float>& values) const { append_fixed(values, Type::Fixed32); }

void Field::append_to(std::vector<double>& values) const { append_fixed(values, Type::Fixed64); }

bool Reader::next(Field& field) {
  if (reader_.at_end()) return false;
  const std::uint64_t tag = read_varint(reader_);
  if (tag >> 3 == 0 || tag >> 32 != 0) reader_.fail_here("not a protobuf message: no such field");
  field.source_ = source_;
  field.number_ = static_cast<int>(tag >> 3);
  switch (tag & 7) {
    case 0:
      field.type_ = Field::Type::Varint;
      field.value_ = read_varint(reader_);
      return true;
    case 1:
      field.type_ = Field::Type::Fixed64;
      field.value_ = reader_.read<std::uint64_t>();
      return true;
    case 2: {
      field.type_ = Field::Type::Delimited;
      const std::uint64_t length = read_varint(reader_);
      if (length > static_cast<std::uint64_t>(reader_.remaining())) {
        reader_.fail_here(
            "a field that is longer than the message around it: the file is cut off or damaged");
      }
      field.bytes_ = reader_.bytes(static_cast<std::int64_t>(length));
      return true;
    }
    case 5:
      field.type_ = Field::Type::Fixed32;
      field.value_ = reader_.read<std::uint32_t>();
      return true;
    default: reader_.fail_here("not a protobuf message: a field of unknown kind");
  }
}

// ---- writing ----------------------------------------------------------------------------------

void Writer::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) message_ += static_cast<char>(value | 0x80);
  message_ += static_cast<char>(value);
}

void Writer::tag(int field, int type) { varint(static_cast<std::uint64_t>(field << 3 | type)); }

template <typename T>
void Writer::fixed(T value) {
  for (std::size_t i = 0; i < sizeof(T); i++, value >>= 8) message_ += static_cast<char>(value);
}

void Writer::integer(int field, std::int64_t value) {
  tag(field, 0);
  varint(static_cast<std::uint64_t>(value));
}

void Writer::real64(int field, double value) {
  tag(field, 1);
  fixed(std::bit_cast<std::uint64_t>(value));
}

void Writer::real(int field, float value) {
  tag(field, 5);
  fixed(std::bit_cast<std::uint32_t>(value));
}

void Writer::reals64(int field, std::span<const double> values) {
  tag(field, 2);
  varint(values.size() * sizeof(double));
  for (const double value : values) fixed(std::bit_cast<std::uint64_t>(value));
}

void Writer::bytes(int field, std::string_view value) {
  tag(field, 2);
  varint(value.size());
  message_ += value;
}

}  // namespace croze::protobuf
