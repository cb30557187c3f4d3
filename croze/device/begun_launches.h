// begun_launches.h -- which kernels may be the one that has failed.
//
// On devices that work by themselves a kernel fails when it runs, and whoever asks next is told. So
// who launches remembers the names since the last time that all was done.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace croze {

class BegunLaunches {
 public:
  void note(std::string_view kernel);
  // Those of the other come after what there is.
  void add(const BegunLaunches& others);
  // All is done.
  void forget();

  std::size_t count() const { return count_; }
  // "kernel x", "one of kernel x, kernel y", or, of many, how many and the last ones.
  std::string text() const;

 private:
  static constexpr std::size_t most_named = 8;

  std::vector<std::string> kernels_;  // the last few
  std::size_t count_ = 0;
};

}  // namespace croze
