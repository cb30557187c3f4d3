// storages.h -- the memory of tensors in a checkpoint, and tensors over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "croze/io/pytorch/pickle.h"
#include "croze/tensor/tensor.h"

namespace croze::pytorch {

// The bytes of each storage by its key; `owner` keeps them.
struct Storages {
  struct Bytes {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  std::map<std::string, Bytes, std::less<>> by_key;
  bool big_endian = false;
  std::int64_t file_bytes = 0;
};

// Makes tensors of the objects of a pickle.
class TensorMaker {
 public:
  TensorMaker(const Pickle& pickle, const Storages& storages, const std::string& path,
              const TensorOptions& options)
      : pickle_(pickle), storages_(storages), path_(path), options_(options) {}

  // Of an object that is a tensor; `name` is what messages call it.  Throws Error if it does not
  // lie in its storage.
  Tensor make(const PickledObject& tensor, const std::string& name);

 private:
  struct View;  // a storage, and what of it is the tensor

  const PickledObject& object(int number) const {
    return pickle_.objects[static_cast<std::size_t>(number)];
  }
  View view_of(const PickledObject& tensor, const std::string& what) const;
  Tensor dense(const View& view, const std::string& what);
  std::shared_ptr<const std::vector<std::byte>> copied(const View& view, const std::string& what);

  const Pickle& pickle_;
  const Storages& storages_;
  const std::string& path_;
  const TensorOptions& options_;
  std::int64_t copied_bytes_ = 0;
};

// The bytes of a storage's elements, and how many it says to have.
struct StorageSize {
  std::int64_t count = 0;
  std::int64_t element_bytes = 1;
};
StorageSize storage_size(const Pickle& pickle, const PickledObject& storage,
                         const std::string& path);

}  // namespace croze::pytorch
