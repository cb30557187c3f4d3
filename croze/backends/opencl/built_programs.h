// built_programs.h -- internal to backends/opencl/: programs on their way from compile() to load().
//
// Drivers may compile a kernel once more where they are asked for its code (PoCL does, for groups
// of any size), which nobody needs where code is not kept.  Then the text stands for the code, and
// the program that was built of it is the one that is loaded.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "croze/backends/opencl/opencl_library.h"

namespace croze::opencl {

class BuiltPrograms {
 public:
  explicit BuiltPrograms(const OpenClLibrary& cl) : cl_(cl) {}
  ~BuiltPrograms() {
    for (const Built& b : built_) cl_.release_program(b.program);
  }
  BuiltPrograms(const BuiltPrograms&) = delete;
  BuiltPrograms& operator=(const BuiltPrograms&) = delete;

  // Takes the program over.
  void put(std::string_view text, cl_program program) {
    const std::lock_guard lock(mutex_);
    if (built_.size() == most) {
      cl_.release_program(built_.front().program);
      built_.erase(built_.begin());
    }
    built_.push_back({std::string(text), program});
  }
  // One that was built of the text, which is the caller's then; null if there is none.
  cl_program take(std::string_view text) {
    const std::lock_guard lock(mutex_);
    for (auto b = built_.begin(); b != built_.end(); ++b) {
      if (b->text != text) continue;
      cl_program program = b->program;
      built_.erase(b);
      return program;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t most = 16;  // that nobody has come for

  struct Built {
    std::string text;
    cl_program program;
  };

  const OpenClLibrary& cl_;
  std::mutex mutex_;
  std::vector<Built> built_;
};

}  // namespace croze::opencl
