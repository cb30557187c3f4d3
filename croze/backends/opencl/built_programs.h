// built_programs.h -- internal to backends/opencl/: programs on their way from compile() to load().
//
// Drivers may compile a kernel once more where they are asked for its code (PoCL does, for groups
// of any size), which nobody needs where code is not kept.  Then the text stands for the code, and
// the program that was built of it is the one that is loaded.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/backends/opencl/builds.h"

namespace croze::opencl {

class BuiltPrograms {
 public:
  void put(std::string_view text, BuiltProgram program) {
    const std::lock_guard lock(mutex_);
    if (built_.size() == most) built_.erase(built_.begin());
    built_.push_back({std::string(text), std::move(program)});
  }
  // One that was built of the text; null if there is none.
  BuiltProgram take(std::string_view text) {
    const std::lock_guard lock(mutex_);
    for (auto b = built_.begin(); b != built_.end(); ++b) {
      if (b->text != text) continue;
      BuiltProgram program = std::move(b->program);
      built_.erase(b);
      return program;
    }
    return {};
  }

 private:
  static constexpr std::size_t most = 16;  // that nobody has come for

  struct Built {
    std::string text;
    BuiltProgram program;
  };

  std::mutex mutex_;
  std::vector<Built> built_;
};

}  // namespace croze::opencl
