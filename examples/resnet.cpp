// resnet.cpp -- a small residual network for Fashion-MNIST, trained on images that are moved and
// mirrored at random.  The augmentation is part of the captured step: it runs on the device, fused
// with what follows, and draws anew at every replay.  Its notes can be watched with `croze viz
// runs`.
//
//     resnet [steps] [name of the run]
#include <croze/croze.h>
#include <croze/log/progress.h>
#include <croze/log/run.h>
#include <croze/nn/nn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <vector>

#include "data/fashion_mnist.h"

using namespace croze;

namespace {

constexpr std::int64_t batch_size = 128;

// relu(x + f(x)), where f halves the image if it widens the channels.
struct Block {
  nn::Conv2d conv1, conv2, shortcut;
  nn::BatchNorm2d norm1, norm2;

  Block(std::int64_t in, std::int64_t out)
      : conv1(in, out, 3, {.stride = in == out ? 1 : 2, .padding = 1, .bias = false}),
        conv2(out, out, 3, {.padding = 1, .bias = false}),
        shortcut(in, out, 1, {.stride = in == out ? 1 : 2}),
        norm1(out),
        norm2(out) {}

  Tensor operator()(const Tensor& x, bool training) {
    const Tensor y = relu(norm1(conv1(x), training));
    return relu(norm2(conv2(y), training) + shortcut(x));
  }

  template <typename V>
  void visit(V&& v) const {
    v("conv1", conv1);
    v("conv2", conv2);
    v("shortcut", shortcut);
    v("norm1", norm1);
    v("norm2", norm2);
  }
};

struct ResNet {
  nn::Conv2d stem{1, 16, 3, {.padding = 1}};
  std::vector<Block> blocks = {{16, 16}, {16, 32}, {32, 64}};
  nn::Linear output{64, 10};

  // images (n, 1, 28, 28), Float32 -> scores (n, 10).
  Tensor operator()(const Tensor& images, bool training) {
    Tensor x = relu(stem(images));
    for (Block& block : blocks) x = block(x, training);
    return output(x.mean({2, 3}));
  }
};

Tensor normalised(const Tensor& bytes) {
  return (bytes.cast(DType::Float32) / 255 - 0.286) / 0.353;
}

// Every image moved by up to two pixels in each direction, and every other one mirrored.
Tensor augmented(const Tensor& images) {
  const std::int64_t n = images.size(0), size = images.size(2);
  const Tensor wide = images.pad({2, 2, 2, 2});
  const Tensor places = Tensor::arange(size);
  const Tensor rows = Tensor::randint(0, 5, {n, 1, 1, 1}) + places.reshape({1, 1, size, 1});
  const Tensor columns = Tensor::randint(0, 5, {n, 1, 1, 1}) + places.reshape({1, 1, 1, size});
  const Tensor moved = wide.gather(2, rows.expand({n, 1, size, size + 4}))
                           .gather(3, columns.expand({n, 1, size, size}));
  return where(Tensor::rand({n, 1, 1, 1}) < 0.5, moved.flip(3), moved);
}

void train(ResNet& net, const ImageSet& data, int steps, logs::Run* run) {
  optim::AdamW adam(nn::parameters(net), {.learning_rate = 2e-3});
  auto step = capture([&](const Tensor& images, const Tensor& labels) {
    const Tensor scores = net(augmented(normalised(images)), true);
    Tensor loss = cross_entropy(scores, labels.cast(DType::Int32));
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  logs::Progress progress("training", steps);
  double average = 0;
  for (int done = 0; done < steps;) {
    for (const auto& numbers : shuffled_batches(data.size(), batch_size, 1 + done)) {
      const Batch batch = data.batch(numbers);
      const double loss = step(batch.images, batch.labels).item<double>();
      average = done == 0 ? loss : 0.95 * average + 0.05 * loss;
      if (run) run->scalar("loss", loss, done);
      if (run && done % 100 == 0) run->histogram("stem", net.stem.weight, done);
      progress.step();
      if (++done % 100 == 0 || done == steps) std::printf("step %d: loss %.3f\n", done, average);
      if (done == steps) break;
    }
  }
}

double accuracy(ResNet& net, const ImageSet& data) {
  auto correct = capture([&](const Tensor& images, const Tensor& labels) {
    return (net(normalised(images), false).argmax(1) == labels).sum();
  });
  std::int64_t total = 0;
  for (std::int64_t first = 0; first < data.size(); first += 1000) {
    const Batch batch = data.batch(first, 1000);
    total += correct(batch.images, batch.labels).item<std::int64_t>();
  }
  return static_cast<double>(total) / static_cast<double>(data.size());
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const int steps = std::max(count > 1 ? std::atoi(arguments[1]) : 1000, 1);
    const FashionMnist data = fashion_mnist();
    ResNet net;
    std::optional<logs::Run> run;
    if (count > 2) run.emplace(arguments[2]);
    train(net, data.train, steps, run ? &*run : nullptr);
    std::printf("accuracy on the test images: %.3f\n", accuracy(net, data.test));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resnet: %s\n", error.what());
    return 1;
  }
}
