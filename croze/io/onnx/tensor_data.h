// tensor_data.h -- the elements of a TensorProto as a value.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "croze/base/file.h"
#include "croze/io/onnx/value.h"

namespace croze::onnx {

// Where the tensors of one file come from: the file itself, which they keep alive, and files beside
// it.
class DataSource {
 public:
  // `owner` keeps the bytes of all messages alive; `name` is what errors call them; `folder` holds
  // external data, none is allowed if it is empty.
  DataSource(std::shared_ptr<const void> owner, std::string name, std::string folder)
      : owner_(std::move(owner)), name_(std::move(name)), folder_(std::move(folder)) {}

  // Copies nothing where the elements stand aligned in the file.  Throws Error, naming the tensor,
  // if they are more or fewer than its shape says, if croze does not compute with their type, or if
  // external data lie outside of the folder or of their file.
  Value value_of(const TensorProto& tensor);
  Value value_of(const SparseTensorProto& tensor);
  Value value_of(const SequenceProto& sequence);
  Value value_of(const OptionalProto& optional);

 private:
  struct Content {
    Bytes bytes;
    std::shared_ptr<const void> owner;
  };
  Content external(const TensorProto& tensor, std::int64_t wanted);
  Value numbers(const TensorProto& tensor, const Shape& shape);

  std::shared_ptr<const void> owner_;
  std::string name_;
  std::string folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>, std::less<>> files_;
};

}  // namespace croze::onnx
