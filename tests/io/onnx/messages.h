// messages.h -- protobuf messages written by hand, right or wrong, and small models made of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace croze::test {

// A message under construction; every function appends a field.
class Message {
 public:
  Message& integer(int field, std::int64_t value) {
    tag(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(int field, float value) {
    tag(field, 5);
    bytes_.append(reinterpret_cast<const char*>(&value), 4);
    return *this;
  }
  Message& text(int field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }
  Message& integers(int field, const std::vector<std::int64_t>& values) {
    Message packed;
    for (std::int64_t v : values) packed.varint(static_cast<std::uint64_t>(v));
    return text(field, packed.bytes_);
  }
  // Bytes that are no field.
  Message& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void tag(int field, int type) {
    varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
  }

  std::string bytes_;
};

// ---- parts of models --------------------------------------------------------------------------

enum Type : std::int64_t {
  Float = 1,
  UInt8 = 2,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Int4 = 22,
  Float4 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26
};

inline std::string raw_floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// A tensor without elements yet.
inline Message tensor(std::string_view name, std::int64_t type,
                      const std::vector<std::int64_t>& dims) {
  return Message().integers(1, dims).integer(2, type).text(8, name);
}
inline Message floats(std::string_view name, const std::vector<std::int64_t>& dims,
                      const std::vector<float>& values) {
  return tensor(name, Float, dims).text(9, raw_floats(values));
}
inline Message int64s(std::string_view name, const std::vector<std::int64_t>& dims,
                      const std::vector<std::int64_t>& values) {
  return tensor(name, Int64, dims).integers(7, values);
}

// An input or output; a size of -1 is called "n", of -2 "m", of -3 "?".
inline Message value_info(std::string_view name, std::int64_t type,
                          const std::vector<std::int64_t>& dims) {
  Message shape;
  for (std::int64_t size : dims) {
    const char* const open = size == -1 ? "n" : size == -2 ? "m" : "?";
    shape.message(1, size < 0 ? Message().text(2, open) : Message().integer(1, size));
  }
  const Message tensor_type = Message().integer(1, type).message(2, shape);
  return Message().text(1, name).message(2, Message().message(1, tensor_type));
}

inline Message attribute(std::string_view name, std::int64_t value) {
  return Message().text(1, name).integer(3, value).integer(20, 2);
}
inline Message real_attribute(std::string_view name, float value) {
  return Message().text(1, name).real(2, value).integer(20, 1);
}
inline Message attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  return Message().text(1, name).integers(8, values).integer(20, 7);
}
inline Message graph_attribute(std::string_view name, const Message& graph) {
  return Message().text(1, name).message(6, graph).integer(20, 5);
}
inline Message tensor_attribute(std::string_view name, const Message& value) {
  return Message().text(1, name).message(5, value).integer(20, 4);
}

inline Message node(std::string_view op, const std::vector<std::string_view>& inputs,
                    const std::vector<std::string_view>& outputs,
                    const std::vector<Message>& attributes = {}) {
  Message m;
  for (std::string_view name : inputs) m.text(1, name);
  for (std::string_view name : outputs) m.text(2, name);
  m.text(4, op);
  for (const Message& a : attributes) m.message(5, a);
  return m;
}

struct GraphProto {
  std::vector<Message> nodes, initializers, inputs, outputs;

  Message message() const {
    Message m;
    for (const Message& n : nodes) m.message(1, n);
    m.text(2, "g");
    for (const Message& t : initializers) m.message(5, t);
    for (const Message& i : inputs) m.message(11, i);
    for (const Message& o : outputs) m.message(12, o);
    return m;
  }
};

inline Message model(const Message& graph, std::int64_t opset = 17) {
  return Message().integer(1, 8).message(7, graph).message(8, Message().integer(2, opset));
}
inline Message model(const GraphProto& graph, std::int64_t opset = 17) {
  return model(graph.message(), opset);
}

}  // namespace croze::test
