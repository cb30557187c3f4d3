// A program outside the project, built against an installed croze: trains a network of two layers
// to tell two interleaved half circles apart, saves it, and loads it into another.  Exit status 0
// if the loss has fallen as it must and both networks say the same.
#include <croze/croze.h>
#include <croze/io/safetensors.h>
#include <croze/nn/nn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <vector>

using namespace croze;

struct Net {
  nn::Linear hidden{2, 32};
  nn::Linear output{32, 2};
  Tensor operator()(const Tensor& x) const { return output(tanh(hidden(x))); }
};

struct Moons {
  Tensor points;  // (n, 2)
  Tensor labels;  // (n,), 0 or 1
};

Moons make_moons(int n) {
  std::mt19937 random(7);
  std::normal_distribution<float> noise(0, 0.1f);
  std::vector<float> points;
  std::vector<std::int32_t> labels;
  for (int i = 0; i < n; i++) {
    const float angle = 3.14159265f * static_cast<float>(i) / static_cast<float>(n);
    const bool upper = i % 2 == 0;
    points.push_back((upper ? std::cos(angle) : 1 - std::cos(angle)) + noise(random));
    points.push_back((upper ? std::sin(angle) : 0.5f - std::sin(angle)) + noise(random));
    labels.push_back(upper ? 1 : 0);
  }
  return {Tensor::from_data(points, {n, 2}), Tensor::from_data(labels, {n})};
}

int run() {
  manual_seed(1);
  const Moons moons = make_moons(400);
  Net net;
  optim::SGD sgd(nn::parameters(net), {.learning_rate = 0.2, .momentum = 0.9});
  auto step = capture([&](const Tensor& points, const Tensor& labels) {
    Tensor loss = cross_entropy(net(points), labels);
    sgd.step(loss.gradient(sgd.parameters));
    return loss;
  });
  const double first = step(moons.points, moons.labels).item<double>();
  double last = first;
  for (int i = 0; i < 300; i++) last = step(moons.points, moons.labels).item<double>();

  save_safetensors("moons.safetensors", nn::state_dict(net));
  Net copy;
  nn::load_state_dict(copy, load_safetensors("moons.safetensors").tensors);
  const Tensor classes = copy(moons.points).argmax(1);
  const Tensor same = (classes == net(moons.points).argmax(1)).all();
  const Tensor right = (classes == moons.labels).cast(DType::Float32).mean();

  std::printf("croze %s on %s: loss %.4f -> %.4f, accuracy %.3f\n", version(),
              std::string(moons.points.device()).c_str(), first, last, right.item<double>());
  return last < 0.2 * first && right.item<double>() > 0.95 && same.item<bool>() ? 0 : 1;
}

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
