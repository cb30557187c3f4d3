// body.h -- internal to jit/: a function over tensors that has been traced once, and can be run by
// a loop, launched over other tensors or recorded anew over them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "croze/base/function_ref.h"
#include "croze/graph/uop.h"
#include "croze/run/execute.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/tensor.h"

namespace croze {

class OpenSizes;

// Sizes of arguments that are open (run/open_sizes.h), as they are in one recording.
struct OpenRecording {
  OpenSizes* plans = nullptr;  // null: all sizes are closed
  std::vector<std::int64_t> sizes = {};
  bool is_for_comparison = false;  // to be kept beside others, and not launched
};

class Body {
 public:
  using Function = function_ref<std::vector<Tensor>(std::span<const Tensor>)>;

  // What an argument or a result is.
  struct Value {
    Shape shape;
    DType dtype = DType::Void;
    int device = -1;

    static Value of(const Tensor& t) { return {t.shape(), t.dtype(), t.device_index()}; }
    std::int64_t bytes() const { return shape.numel() * size_of(dtype); }
  };

  // Runs the function on stand-ins for arguments of this kind.  What the function read beside them
  // becomes further arguments, first the random keys that it drew, in their order, then tensors
  // that it closes over.  Throws Error if it computes anything, or assigns to a tensor that there
  // was before, which it undoes.  `computes`: what it may compute all the same.  Lets go of the
  // lock of the graph while it compiles.
  Body(std::span<const Value> arguments, Function function,
       Capturing::Computes computes = Capturing::Computes::Nothing, const OpenRecording& open = {});

  std::span<const Value> arguments() const { return arguments_; }
  std::span<const Value> results() const { return results_; }
  // The further arguments as they are now.  Once.
  std::vector<Tensor> take_keys() { return std::move(keys_); }
  std::vector<Tensor> take_closed() { return std::move(closed_); }

  // Whether a result is computed from the argument.
  bool reads(std::size_t argument) const;
  // What is launched: its inputs are the arguments `order()`, its roots the results that have
  // elements.
  const PreparedRun& prepared() const { return *prepared_; }
  // Whether there are such results, and what computes them.
  bool has_work() const { return prepared_ != nullptr; }
  std::span<const std::size_t> order() const { return order_; }

  // The results for these arguments, recorded.
  std::vector<Tensor> operator()(std::span<const Tensor> arguments) const;

 private:
  std::size_t add_argument(const Value& value);
  void find_further_arguments();
  std::vector<UOp> roots() const;
  void find_order();

  std::vector<Value> arguments_, results_;
  std::vector<Tensor> stand_ins_;  // by argument
  std::vector<Tensor> recorded_;   // the results over the stand-ins
  std::vector<Tensor> keys_, closed_;
  std::shared_ptr<const PreparedRun> prepared_;
  std::vector<std::size_t> order_;
};

}  // namespace croze
