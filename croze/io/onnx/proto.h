// proto.h -- the messages of an ONNX file, as far as running a model needs them.
//
// Texts and bytes are views of the file, which must outlive them.  Nothing here is checked beyond
// the wire format: a node may name an operator that does not exist, a tensor may lie about its
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace croze::onnx {

// TensorProto.DataType, with the numbers that stand in files.
enum class ElementType : std::int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26,
};

using Bytes = std::span<const std::byte>;

struct TensorProto {
  std::string_view name;
  ElementType type = ElementType::Undefined;
  std::vector<std::int64_t> dims;
  std::optional<Bytes> raw;
  bool is_external = false;
  std::vector<std::pair<std::string_view, std::string_view>> external;
  Bytes message;  // all of it: elements in fields of their type are read when they are wanted
};

struct SparseTensorProto {
  TensorProto values, indices;
  std::vector<std::int64_t> dims;
};

struct TypeProto {
  enum class Kind { Unknown, Tensor, Sequence, Optional, Map, SparseTensor };
  struct Dim {
    std::optional<std::int64_t> value;
    std::string_view name;  // of an unknown size; may be empty
  };

  Kind kind = Kind::Unknown;
  ElementType element = ElementType::Undefined;
  std::optional<std::vector<Dim>> shape;  // none: of any rank
  std::unique_ptr<TypeProto> inner;       // of a sequence or optional
};

struct ValueInfo {
  std::string_view name;
  TypeProto type;
};

struct GraphProto;

struct Attribute {
  std::string_view name;
  std::string_view reference;  // in a function: the attribute of the caller that stands here
  std::int64_t type = 0;       // AttributeProto.AttributeType; 0 in old files
  float f = 0;
  std::int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string_view> strings;
  std::unique_ptr<TensorProto> tensor;
  std::unique_ptr<SparseTensorProto> sparse_tensor;
  std::unique_ptr<TypeProto> type_proto;
  std::shared_ptr<const GraphProto> graph;
};

struct NodeProto {
  std::string_view op, domain, name;
  std::vector<std::string_view> inputs, outputs;  // an empty name: left out
  std::vector<Attribute> attributes;
};

struct GraphProto {
  std::string_view name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<SparseTensorProto> sparse_initializers;
  std::vector<ValueInfo> inputs, outputs;
};

struct OpsetImport {
  std::string_view domain;
  std::int64_t version = 0;
};

struct FunctionProto {
  std::string_view domain, name;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Attribute> defaults;
  std::vector<NodeProto> nodes;
  std::vector<OpsetImport> opsets;
};

struct ModelProto {
  std::int64_t ir_version = 0;
  std::string_view producer;
  std::vector<OpsetImport> opsets;
  GraphProto graph;
  std::vector<FunctionProto> functions;
};

// SequenceProto and OptionalProto stand in recorded test data only.
struct SequenceProto {
  std::vector<TensorProto> tensors;
  std::vector<SequenceProto> sequences;
};
struct OptionalProto {
  std::optional<TensorProto> tensor;
  std::optional<SequenceProto> sequence;
};

// Each reads one message; `source` is what messages call the data and is not kept.  Throws Error
// for bytes that are no protobuf, for fields of the wrong type, and where messages nest deeper than
// models do.
ModelProto parse_model(Bytes message, std::string_view source);
TensorProto parse_tensor(Bytes message, std::string_view source);
SequenceProto parse_sequence(Bytes message, std::string_view source);
OptionalProto parse_optional(Bytes message, std::string_view source);

}  // namespace croze::onnx
