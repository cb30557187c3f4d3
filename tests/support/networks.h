// networks.h -- small networks that tests of captured steps share.
#pragma once

#include <croze/croze.h>
#include <croze/nn/nn.h>

namespace croze::test {

// A cell that is given one row at a time.
struct Stream {
  nn::GRU cell{6, 16};
  nn::Linear head{16, 3};
  mutable Tensor hidden = Tensor::full({1, 1, 16}, 0.25).realize();

  Tensor operator()(const Tensor& x) const {
    const SequenceResult r = cell(x.reshape({1, 1, 6}), hidden);
    hidden.assign(r.h);
    return head(r.h.reshape({1, 16}));
  }
  void restart() const { hidden.assign(Tensor::full({1, 1, 16}, 0.25)).realize(); }
};

struct Mlp {
  nn::Linear hidden{8, 16}, output{16, 3};
  Tensor operator()(const Tensor& x) const { return output(relu(hidden(x))); }
};

}  // namespace croze::test
