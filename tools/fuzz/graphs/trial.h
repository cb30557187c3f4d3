// trial.h -- what a function on tensors is recorded with, so that it can be recorded again in
// another arithmetic.
//
// A function that makes its leaves and casts with a GraphTrial, and marks what is rounded on the
// way, is recorded four ways: as it is written; with every float as float64, which is what its
// numbers mean; with every float as float64 and noise on all that was marked, as much as its dtype
// rounds and many times more; and with every float as float64, what was marked rounded to its
// dtype. How far the noise comes is how far roundings may come.  Which numbers become equal by
// rounding is seen without noise only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "croze/tensor/tensor.h"
#include "fuzz/reference.h"

namespace croze::fuzz {

class GraphTrial {
 public:
  // As it is written, with leaves on the device.
  explicit GraphTrial(std::string_view device) : device_(device) {}
  // In float64.  `rounded`: what the trial before it says.
  static GraphTrial wide(std::vector<DType> rounded);
  // The same with noise, another for each seed.
  static GraphTrial noisy(std::vector<DType> rounded, std::uint64_t seed);

  // In float64, and what is marked rounded.
  static GraphTrial rounding(std::vector<DType> rounded);

  // Numbers of [-2, 2) in memory.
  Tensor real(const Shape& shape, DType dtype, std::int64_t seed);
  // The same with NaN, infinities and zeros of either sign among them.
  Tensor special(const Shape& shape, DType dtype, std::int64_t seed);
  // Whole numbers of [low, high] in memory; exact in every dtype that holds them.
  Tensor whole(const Shape& shape, DType dtype, std::int64_t low, std::int64_t high,
               std::int64_t seed);

  // What was computed with roundings; to be used in its place.
  Tensor operator()(const Tensor& x);
  Tensor cast(const Tensor& x, DType dtype) const;

  // The dtype of each value that was marked, in order.
  const std::vector<DType>& rounded() const { return rounded_; }

  // How much noise there is for a rounding of the dtype.
  static double magnification(DType dtype);
  // The greatest difference of 1 and a number beside it.
  static double epsilon(DType dtype);

 private:
  Tensor leaf(HostTensor data) const;
  Tensor reals(const Shape& shape, DType dtype, std::int64_t seed, int specials);

  std::string device_ = "INTERP";
  bool is_wide_ = false, is_noisy_ = false, is_rounding_ = false;
  std::uint64_t seed_ = 0;
  std::size_t calls_ = 0;
  std::vector<DType> rounded_;
};

// Records the same each time; returns what is to be computed.
using GraphFunction = std::function<std::vector<Tensor>(GraphTrial& in)>;

}  // namespace croze::fuzz
