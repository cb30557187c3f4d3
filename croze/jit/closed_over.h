// closed_over.h -- internal to jit/: the tensors beside its inputs that a captured function uses.
//
// A step keeps them alive, so it could go on with one that its function would not find any more:
// the variable has been given another tensor (`h = next`) or has ended.  That shows when nobody but
// captured steps refers to a tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/graph/uop.h"
#include "croze/tensor/tensor.h"

namespace croze {

class ClosedOver {
 public:
  ClosedOver() = default;
  ~ClosedOver();
  ClosedOver(const ClosedOver&) = delete;
  ClosedOver& operator=(const ClosedOver&) = delete;

  // Just before a function runs: what tells the tensors that it finds from those that it makes.
  class Beginning {
   public:
    Beginning();
    // `owner`: of the Buffer now, which is another tensor if the one that was found has ended.
    bool is_before(UOp buffer, const Tensor& owner) const;

   private:
    Tensor last_;
    std::int64_t last_buffer_;
  };

  // A tensor to which the step keeps one reference while this lives.  Under the lock of the tensor
  // graph, as is all below.
  void add(const Tensor& t);
  // Throws Error if nobody else refers to one of them.
  void check_held() const;

 private:
  std::vector<TensorRecord*> records_;
};

}  // namespace croze
