// Inputs and results whose tensors cannot all be found or replaced do not compile.
// Each line with `refused:` must be where the compiler says so (refused.cmake).
#include <memory>

#include "croze/croze.h"
#include "croze/jit/capture.h"

using namespace croze;

class Hidden {
 public:
  explicit Hidden(Tensor t) : secret_(t) {}
  const Tensor& secret() const { return secret_; }

 private:
  Tensor secret_;
};

struct Batch {
  Tensor features;
  std::shared_ptr<Tensor> mask;
};

void use(const Hidden& hidden, const Batch& batch, const Tensor& x) {
  auto of_hidden = capture([](const Hidden& h) { return h.secret(); });
  of_hidden(hidden);  // refused: this type is none of these
  auto of_pointer = capture([](const Batch& b) { return *b.mask; });
  of_pointer(batch);  // refused: this type is none of these
  auto to_hidden = capture([](const Tensor& t) { return Hidden(t); });
  to_hidden(x);  // refused: this type is none of these
}
