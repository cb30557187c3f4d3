// closed_over.cpp -- whether the program still holds what a captured step reads.
#include "croze/jit/closed_over.h"

#include "croze/base/error.h"
#include "croze/tensor/record.h"
#include "croze/tensor/storage.h"

namespace croze {

ClosedOver::Beginning::Beginning()
    : last_(Tensor::from_data({0.f}, {1})), last_buffer_(storage_of(last_.node()).buffer_id()) {}

bool ClosedOver::Beginning::is_before(UOp buffer, const Tensor& owner) const {
  const auto number = [](const Tensor& t) { return TensorRecord::of(t).contents.tensor; };
  return buffer.buffer_id() < last_buffer_ || number(owner) < number(last_);
}

ClosedOver::~ClosedOver() {
  const GraphLock lock;
  for (TensorRecord* r : records_) r->references_of_steps--;
}

void ClosedOver::add(const Tensor& t) {
  records_.push_back(&TensorRecord::of(t));
  records_.back()->references_of_steps++;
}

void ClosedOver::check_held() const {
  for (const TensorRecord* r : records_) {
    check(r->references.load() > r->references_of_steps,
          "a captured step uses a tensor of {} of shape {} that nothing else refers to any more: "
          "its variable has ended, or was given another tensor by `=`; assign() changes the tensor "
          "itself",
          name_of(r->node.dtype()), Shape(r->node.shape()));
  }
}

}  // namespace croze
