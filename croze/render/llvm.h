// llvm.h -- the renderer of linear programs as LLVM IR text, for CPUs.  Pure text: needs no LLVM.
#pragma once

#include <cstdint>

#include "croze/render/renderer.h"

namespace croze {

// What the text may use of the processor, beside what every one has.
struct LlvmTarget {
  bool avx512 = false;   // AVX-512 with its forms for narrow vectors
  bool gathers = false;  // an instruction loads lanes of 64 bytes that lie apart, not slower than
                         // one by one
  bool casts_saturate =
      false;  // an instruction makes integers of vectors of floats as Op::Cast does
  // Operations take a vector of so many bytes from memory, but no number for all of its lanes; 0
  // where they do, or take none.
  std::int64_t number_bytes = 0;
  // Large results of programs that access so much are written past the caches; 0: none.
  std::int64_t last_cache_bytes = 0;
  std::int64_t vector_registers = 16;
};

// The text defines one function with external linkage, named as the kernel:
//
//   void NAME(void** buffers, int64_t* variables, int64_t task, void* scratch)
//
// buffers[slot] holds the elements of the Param of that slot; no two buffers overlap.  `task` is
// the value of Special; scratch has info.launch.scratch_bytes, aligned to 64 bytes, for this task
// alone.
class LlvmRenderer final : public Renderer {
 public:
  explicit LlvmRenderer(const LlvmTarget& target = {}) : target_(target) {}

  std::string_view name() const override { return "llvm"; }

  // Throws InternalError for what the linear program's contract (program.h) rules out.
  std::string render(const LinearProgram& program) const override;

  // The ops and dtypes that the language has, as bits (see Caps).  MulAdd is a call of a function
  // where the processor has no instruction for it.
  static OpSet ops();
  static std::uint32_t dtypes();

 private:
  LlvmTarget target_;
};

}  // namespace croze
