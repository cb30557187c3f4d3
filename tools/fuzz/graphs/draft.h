// draft.h -- a program on Tensors that is being made: what its steps are so far, and choices
// among them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "croze/tensor/shape.h"
#include "fuzz/chance.h"
#include "fuzz/graphs/graphs.h"
#include "fuzz/reference.h"

namespace croze::fuzz {

struct DrawnStep {
  std::vector<int> src;
  std::vector<std::int64_t> arg;
};

// Which steps are asked for.
struct Wanted {
  enum class Kind { Any, Float, Integer, Number, Bool } kind = Kind::Float;
  int least_rank = 0, most_rank = 6;
  std::int64_t least_size = 0;  // of the last axis
};

class GraphDraft {
 public:
  explicit GraphDraft(std::uint64_t seed);

  Chance chance;

  // ---- what there is ----

  const Shape& shape(int i) const { return made(i).shape; }
  int rank(int i) const { return shape(i).size(); }
  std::int64_t size(int i, std::int64_t axis) const;  // negative axes count from the end
  DType dtype(int i) const { return made(i).dtype; }

  // ---- choices ----

  // A step, the later ones more often; none if there is none.
  std::optional<int> pick(const Wanted& wanted);
  // While true, steps are picked whose values are exact.
  void want_exact(bool wants) { is_wanting_exact_ = wants; }
  std::int64_t axis_of(int i) { return chance.below(rank(i)); }
  // Some of the axes, in order; none of them stands for all.
  std::vector<std::int64_t> axes_of(int i);
  std::int64_t seed() { return chance.below(1000); }

  // Tensors in memory, new ones or such as there are.
  int real(const Shape& shape, DType dtype);
  int whole(const Shape& shape, DType dtype, std::int64_t low, std::int64_t high);
  // A step, or a tensor in memory, that can be broadcast to step i, or i to it.
  int partner(int i);
  // A shape that is broadcast to `shape`.
  Shape narrowed(const Shape& shape);
  Shape any_shape(int rank);
  DType any_float();
  // A float step of the rank with an axis of at least so many elements at the end.
  int float_of_rank(int rank, std::int64_t least_size = 1);

  // For gradients: a float step that leads from x to y; none if there is none.
  std::optional<int> reader_of(int x);
  std::optional<int> of_shape(const Shape& shape, Wanted::Kind kind);
  std::optional<int> leaf();

  // ---- making ----

  // Appends a step of the kind if it is of use.
  bool append(int kind, DrawnStep drawn);
  GraphProgram finished();

 private:
  struct Made {
    Shape shape;
    DType dtype = DType::Float32;
    bool is_exact = false;
    double largest = 0;
    HostTensor value;          // in float64
    std::vector<bool> leaves;  // those it depends on
    bool is_used = false;
  };

  int append_leaf(int kind, std::vector<std::int64_t> arg);
  const Made& made(int i) const { return made_[static_cast<std::size_t>(i)]; }
  bool fits(int i, const Wanted& wanted) const;
  bool is_broadcast(const Shape& from, const Shape& to) const;
  bool is_exact(int kind, const std::vector<int>& src, const Made& result) const;
  bool judge(int kind, const DrawnStep& drawn, Made& made);
  bool evaluate(int kind, const DrawnStep& drawn, Made& made);

  GraphProgram program_;
  std::vector<Made> made_;
  std::vector<Tensor> tensors_;  // as written, on INTERP
  std::vector<std::int64_t> sizes_;
  DType main_dtype_ = DType::Float32;
  bool is_special_ = false, is_mixed_ = false, is_wanting_exact_ = false;
  std::int64_t most_elements_ = 0, work_left_ = 0;
};

}  // namespace croze::fuzz
