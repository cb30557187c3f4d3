// c_comparison.h -- what a step was given and what it computed, run by run, written beside the C
// that it was exported to, so that export_c_main.c can compare.
#pragma once

#include <croze/croze.h>

#include <string>
#include <vector>

namespace croze {

class CComparison {
 public:
  // Of an export of this name in this folder.  Results in C may differ by `tolerance`, relative to
  // the greatest number of a result.
  CComparison(std::string folder, std::string name, double tolerance = 1e-5);

  // One run: `run` takes the tensors that are given and returns those that are computed, all of
  // Float32.  It is timed.
  template <typename F>
  std::vector<Tensor> add(const std::vector<Tensor>& given, const F& run) {
    const double begin = now();
    std::vector<Tensor> computed = run(given);
    microseconds_.push_back(now() - begin);
    keep(given, computed);
    return computed;
  }

  // Writes check.h, given.bin and expected.bin, and prints croze's time.  Throws Error if a file
  // cannot be written.
  void write();

 private:
  static double now();  // microseconds
  void keep(const std::vector<Tensor>& given, const std::vector<Tensor>& computed);
  std::string header() const;
  double median() const { return microseconds_[microseconds_.size() / 2]; }  // once they are sorted

  std::string folder_, name_;
  double tolerance_;
  std::vector<std::string> given_types_;
  std::vector<std::int64_t> given_sizes_, computed_sizes_;  // in elements
  std::string given_, expected_;                            // bytes
  std::vector<double> microseconds_;
};

}  // namespace croze
