// recording.h -- reads what make_torch.py wrote: calls of functions and what PyTorch computed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "croze/graph/dtype.h"
#include "croze/tensor/op_table.h"
#include "croze/tensor/tensor.h"

namespace croze::test {

// Elements as they stand in memory, row by row.
struct RecordedTensor {
  DType dtype = DType::Void;  // Void: there is none
  Shape shape;
  std::vector<std::byte> bytes;
};

struct RecordedCase {
  const OpEntry* op = nullptr;
  DType dtype = DType::Void;
  Values arguments;                       // one per parameter
  std::vector<Tensor> tensors;            // those among the arguments, in the order recorded
  std::vector<RecordedTensor> results;    // Void where more than one is right
  std::vector<RecordedTensor> gradients;  // by each of `tensors`; empty if none were recorded
};

// The cases of one file, read one after another; tensors are made on the default device.  Every
// second case gets them as views that are not contiguous.
class Recording {
 public:
  explicit Recording(const std::string& path);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  std::size_t size() const;
  RecordedCase at(std::size_t i) const;
  // "add int32 #12".
  std::string name_of_case(std::size_t i) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace croze::test
