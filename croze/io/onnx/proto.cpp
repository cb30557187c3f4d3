// proto.cpp -- protobuf fields to the structs of proto.h.  Field numbers are those of onnx.proto;
// fields that are not named here (documentation, metadata, training) are passed over.
//
// Messages nest: graphs stand in attributes of nodes of graphs.  A Parser counts how deep it is and
// refuses what no model has, so its recursion is bounded.
#include "croze/io/onnx/proto.h"

#include "croze/base/error.h"
#include "croze/io/protobuf.h"

namespace croze::onnx {
namespace {

constexpr int max_depth = 64;

class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  ModelProto model(Bytes message);
  TensorProto tensor(Bytes message);
  SequenceProto sequence(Bytes message);
  OptionalProto optional(Bytes message);

 private:
  // Calls `read` with each field of the message.
  template <typename F>
  void each_field(Bytes message, F read) {
    check(++depth_ <= max_depth, "{}: messages nest more than {} deep", source_, max_depth);
    protobuf::Reader reader(message, source_);
    protobuf::Field field;
    while (reader.next(field)) read(field);
    --depth_;
  }

  SparseTensorProto sparse_tensor(Bytes message);
  std::pair<std::string_view, std::string_view> entry(Bytes message);
  TypeProto type(Bytes message);
  void tensor_type(Bytes message, TypeProto& type);
  std::vector<TypeProto::Dim> shape(Bytes message);
  TypeProto::Dim dim(Bytes message);
  TypeProto inner_type(Bytes message, TypeProto::Kind kind);
  ValueInfo value_info(Bytes message);
  Attribute attribute(Bytes message);
  NodeProto node(Bytes message);
  GraphProto graph(Bytes message);
  OpsetImport opset(Bytes message);
  FunctionProto function(Bytes message);

  std::string_view source_;
  int depth_ = 0;
};

std::pair<std::string_view, std::string_view> Parser::entry(Bytes message) {
  std::pair<std::string_view, std::string_view> result;
  each_field(message, [&](const protobuf::Field& f) {
    if (f.number() == 1) result.first = f.text();
    if (f.number() == 2) result.second = f.text();
  });
  return result;
}

TensorProto Parser::tensor(Bytes message) {
  constexpr std::int64_t external = 1;
  TensorProto result;
  result.message = message;
  each_field(message, [&](const protobuf::Field& f) {
    switch (f.number()) {
      case 1: f.append_to(result.dims); break;
      case 2: result.type = static_cast<ElementType>(f.integer()); break;
      case 8: result.name = f.text(); break;
      case 9: result.raw = f.bytes(); break;
      case 13: result.external.push_back(entry(f.bytes())); break;
      case 14: result.is_external = f.integer() == external; break;
      default: break;
    }
  });
  return result;
}

SparseTensorProto Parser::sparse_tensor(Bytes message) {
  SparseTensorProto result;
  each_field(message, [&](const protobuf::Field& f) {
    switch (f.number()) {
      case 1: result.values = tensor(f.bytes()); break;
      case 2: result.indices = tensor(f.bytes()); break;
      case 3: f.append_to(result.dims); break;
      default: break;
    }
  });
  return result;
}

// ---- types ------------------------------------------------------------------------------------

TypeProto::Dim Parser::dim(Bytes message) {
  TypeProto::Dim result;
  each_field(message, [&](const protobuf::Field& f) {
    if (f.number() == 1) result.value = f.integer();
    if (f.number() == 2) result.name = f.text();
  });
  return result;
}

std::vector<TypeProto::Dim> Parser::shape(Bytes message) {
  std::vector<TypeProto::Dim> dims;
  each_field(message, [&](const protobuf::Field& f) {
    if (f.number() == 1) dims.push_back(dim(f.bytes()));
  });
  return dims;
}

void Parser::tensor_type(Bytes message, TypeProto& type) {
  each_field(message, [&](const protobuf::Field& f) {
    if (f.number() == 1) type.element = static_cast<ElementType>(f.integer());
    if (f.number() == 2) type.shape = shape(f.bytes());
  });
}

TypeProto Parser::inner_type(Bytes message, TypeProto::Kind kind) {
  TypeProto result;
  result.kind = kind;
  each_field(message, [&](const protobuf::Field& f) {
    if (f.number() == 1) result.inner = std::make_unique<TypeProto>(type(f.bytes()));
  });
  return result;
}

TypeProto Parser::type(Bytes message) {
  using Kind = TypeProto::Kind;
  TypeProto result;
  each_field(message, [&](const protobuf::Field& f) {
    switch (f.number()) {
      case 1:
      case 8:
        result.kind = f.number() == 1 ? Kind::Tensor : Kind::SparseTensor;
        tensor_type(f.bytes(), result);
        break;
      case 4: result = inner_type(f.bytes(), Kind::Sequence); break;
      case 5: result.kind = Kind::Map; break;
      case 9: result = inner_type(f.bytes(), Kind::Optional); break;
      default: break;
    }
  });
  return result;
}

ValueInfo Parser::value_info(Bytes message) {
  ValueInfo result;
  each_field(message, [&](const protobuf::Field& f) {
    if (f.number() == 1) result.name = f.text();
    if (f.number() == 2) result.type = type(f.bytes());
  });
  return result;
}

// ---- graphs -----------------------------------------------------------------------------------

Attribute Parser::attribute(Bytes message) {
  Attribute a;
  each_field(message, [&](const protobuf::Field& f) {
    switch (f.number()) {
      case 1: a.name = f.text(); break;
      case 2: a.f = f.real(); break;
      case 3: a.i = f.integer(); break;
      case 4: a.s = f.text(); break;
      case 5: a.tensor = std::make_unique<TensorProto>(tensor(f.bytes())); break;
      case 6: a.graph = std::make_shared<GraphProto>(graph(f.bytes())); break;
      case 7: f.append_to(a.floats); break;
      case 8: f.append_to(a.ints); break;
      case 9: a.strings.push_back(f.text()); break;
      case 14: a.type_proto = std::make_unique<TypeProto>(type(f.bytes())); break;
      case 20: a.type = f.integer(); break;
      case 21: a.reference = f.text(); break;
      case 22:
        a.sparse_tensor = std::make_unique<SparseTensorProto>(sparse_tensor(f.bytes()));
        break;
      default: break;
    }
  });
  return a;
}

NodeProto Parser::node(Bytes message) {
  NodeProto result;
  each_field(message, [&](const protobuf::Field& f) {
    switch (f.number()) {
      case 1: result.inputs.push_back(f.text()); break;
      case 2: result.outputs.push_back(f.text()); break;
      case 3: result.name = f.text(); break;
      case 4: result.op = f.text(); break;
      case 5: result.attributes.push_back(attribute(f.bytes())); break;
      case 7: result.domain = f.text(); break;
      default: break;
    }
  });
  return result;
}

GraphProto Parser::graph(Bytes message) {
  GraphProto result;
  each_field(message, [&](const protobuf::Field& f) {
    switch (f.number()) {
      case 1: result.nodes.push_back(node(f.bytes())); break;
      case 2: result.name = f.text(); break;
      case 5: result.initializers.push_back(tensor(f.bytes())); break;
      case 11: result.inputs.push_back(value_info(f.bytes())); break;
      case 12: result.outputs.push_back(value_info(f.bytes())); break;
      case 15: result.sparse_initializers.push_back(sparse_tensor(f.bytes())); break;
      default: break;
    }
  });
  return result;
}

OpsetImport Parser::opset(Bytes message) {
  OpsetImport result;
  each_field(message, [&](const protobuf::Field& f) {
    if (f.number() == 1) result.domain = f.text();
    if (f.number() == 2) result.version = f.integer();
  });
  return result;
}

FunctionProto Parser::function(Bytes message) {
  FunctionProto result;
  each_field(message, [&](const protobuf::Field& f) {
    switch (f.number()) {
      case 1: result.name = f.text(); break;
      case 4: result.inputs.push_back(f.text()); break;
      case 5: result.outputs.push_back(f.text()); break;
      case 7: result.nodes.push_back(node(f.bytes())); break;
      case 9: result.opsets.push_back(opset(f.bytes())); break;
      case 10: result.domain = f.text(); break;
      case 11: result.defaults.push_back(attribute(f.bytes())); break;
      default: break;
    }
  });
  return result;
}

ModelProto Parser::model(Bytes message) {
  ModelProto result;
  each_field(message, [&](const protobuf::Field& f) {
    switch (f.number()) {
      case 1: result.ir_version = f.integer(); break;
      case 2: result.producer = f.text(); break;
      case 7: result.graph = graph(f.bytes()); break;
      case 8: result.opsets.push_back(opset(f.bytes())); break;
      case 25: result.functions.push_back(function(f.bytes())); break;
      default: break;
    }
  });
  return result;
}

// ---- recorded data ----------------------------------------------------------------------------

SequenceProto Parser::sequence(Bytes message) {
  SequenceProto result;
  each_field(message, [&](const protobuf::Field& f) {
    if (f.number() == 3) result.tensors.push_back(tensor(f.bytes()));
    if (f.number() == 5) result.sequences.push_back(sequence(f.bytes()));
  });
  return result;
}

OptionalProto Parser::optional(Bytes message) {
  OptionalProto result;
  each_field(message, [&](const protobuf::Field& f) {
    if (f.number() == 3) result.tensor = tensor(f.bytes());
    if (f.number() == 5) result.sequence = sequence(f.bytes());
  });
  return result;
}

}  // namespace

ModelProto parse_model(Bytes message, std::string_view source) {
  return Parser(source).model(message);
}

TensorProto parse_tensor(Bytes message, std::string_view source) {
  return Parser(source).tensor(message);
}

SequenceProto parse_sequence(Bytes message, std::string_view source) {
  return Parser(source).sequence(message);
}

OptionalProto parse_optional(Bytes message, std::string_view source) {
  return Parser(source).optional(message);
}

}  // namespace croze::onnx
