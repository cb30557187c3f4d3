// c.h -- renders linear programs as portable C11.
#pragma once

#include "croze/render/c_family/dialect.h"
#include "croze/render/renderer.h"

namespace croze {

namespace c_family {
// The words of C.
const Dialect& c_dialect();
}  // namespace c_family

// The source of one function,
//
//   void croze_NAME(void* const* buffers, const int64_t* variables, int64_t task, void* scratch)
//
// that needs nothing but <math.h> and <stdint.h>.  It must be compiled without contraction of
// a * b + c (-ffp-contract=off) and without fast maths to keep the meaning of the program.
class CRenderer final : public Renderer {
 public:
  std::string_view name() const override { return "c"; }
  std::string render(const LinearProgram& program) const override;

  // The function's name, for a kernel of that name: croze_ and the name.
  static std::string entry(std::string_view kernel);

  // The ops and dtypes that the language has, as bits (see Caps).
  static OpSet ops();
  static std::uint32_t dtypes();
};

}  // namespace croze
