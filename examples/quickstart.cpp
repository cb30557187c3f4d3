// Trains a network of two layers to tell whether a point lies inside a circle.
#include <croze/croze.h>
#include <croze/nn/nn.h>

#include <cstdio>

using namespace croze;

struct Net {
  nn::Linear hidden{2, 32}, output{32, 2};
  Tensor operator()(const Tensor& x) const { return output(relu(hidden(x))); }
};

int main() {
  Tensor points = Tensor::uniform({512, 2}, -1, 1).realize();
  Tensor inside = (points.square().sum(1) < 0.5).cast(DType::Int32).realize();
  Net net;
  optim::Adam adam(nn::parameters(net), {.learning_rate = 0.02});
  for (int step = 1; step <= 200; step++) {
    Tensor loss = cross_entropy(net(points), inside);
    adam.step(loss.gradient(adam.parameters));
    if (step % 50 == 0) std::printf("step %d: loss %.4f\n", step, loss.item<float>());
  }
  std::printf("%d of 512 right\n", (net(points).argmax(1) == inside).sum().item<int>());
}
