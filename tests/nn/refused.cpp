// Structs whose members cannot all be found do not compile, with a message that says what to do.
// Each line with `refused:` must be where the compiler says so (refused.cmake).
#include <memory>

#include "croze/nn/nn.h"

using namespace croze;

struct Net {
  nn::Linear hidden{2, 3};
};

class Hidden {
 public:
  explicit Hidden(Tensor t) : secret_(t) {}

 private:
  Tensor secret_;
};

struct Referring {
  Net& net;
  nn::Linear last;
};

struct WithBase : Net {
  nn::Linear last{1, 1};
};

struct Wide {
  Tensor a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, one_too_many;
};

struct Endless {
  Tensor tensor;
  float table[100];
};

struct AddsToLinear : nn::Linear {
  Tensor extra;
};

struct Layer {
  virtual ~Layer() = default;
  template <typename V>
  void visit(V&&) const {}
};

struct Everything {
  std::vector<Hidden> hidden;
};

void use(const Everything& everything, const Referring& referring, const AddsToLinear& adds) {
  nn::parameters(everything);                // refused: hides its members
  nn::state_dict(referring);                 // refused: cannot be counted
  nn::parameters(WithBase());                // refused: base class with members
  nn::parameters(Wide());                    // refused: more than 24 members
  nn::parameters(Endless());                 // refused: cannot be counted
  nn::parameters(adds);                      // refused: inherits a visit()
  nn::parameters(std::shared_ptr<Layer>());  // refused: virtual functions
}
