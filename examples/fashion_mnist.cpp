// fashion_mnist.cpp -- trains a convolutional network on Fashion-MNIST, tests it and saves its
// weights.
//
//     fashion_mnist [folder of the data set]
#include "data/fashion_mnist.h"

#include <croze/croze.h>
#include <croze/io/safetensors.h>
#include <croze/log/progress.h>
#include <croze/nn/nn.h>

#include <cstdio>
#include <exception>
#include <string>

#include "data/fashion_net.h"

using namespace croze;

namespace {

constexpr int epochs = 3;
constexpr std::int64_t batch_size = 128;

void train(FashionNet& net, const ImageSet& data) {
  optim::Adam adam(nn::parameters(net));
  // Traced once, then replayed: one schedule with the loss, the gradients and all updates.
  auto step = capture([&](const Tensor& images, const Tensor& labels) {
    Tensor loss = cross_entropy(net(images), labels.cast(DType::Int32));
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  for (int epoch = 0; epoch < epochs; epoch++) {
    double total = 0;
    const auto batches = shuffled_batches(data.size(), batch_size, static_cast<unsigned>(epoch));
    logs::Progress progress("epoch " + std::to_string(epoch + 1), std::ssize(batches));
    for (const auto& numbers : batches) {
      const Batch batch = data.batch(numbers);
      total += step(batch.images, batch.labels).item<float>();
      progress.step();
    }
    std::printf("epoch %d: loss %.4f\n", epoch + 1, total / static_cast<double>(batches.size()));
    adam.set_learning_rate(1e-3 * (epochs - epoch - 1) / epochs);
  }
}

double accuracy(const FashionNet& net, const ImageSet& data) {
  auto correct = capture([&](const Tensor& images, const Tensor& labels) {
    return (net(images).argmax(1) == labels).sum();
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
    const FashionMnist data = fashion_mnist(count > 1 ? arguments[1] : "");
    FashionNet net;
    train(net, data.train);
    std::printf("accuracy on the test images: %.4f\n", accuracy(net, data.test));
    save_safetensors("fashion_mnist.safetensors", nn::state_dict(net));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion_mnist: %s\n", error.what());
    return 1;
  }
}
