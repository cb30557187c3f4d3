// The network of `make demo` on other devices than CPU: the same weights give the same predictions,
// and training takes the same way.
#include <croze/base/options.h>
#include <croze/run/devices.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "examples/data/fashion_mnist.h"
#include "examples/data/fashion_net.h"

namespace croze {
namespace {

struct Training {
  FashionNet net;
  std::vector<double> losses;
};

// The first steps of a training, which the seed determines.
Training train(const ImageSet& images, int steps) {
  manual_seed(1);
  Training training;
  optim::Adam adam(nn::parameters(training.net), {.learning_rate = 2e-3});
  auto step = capture([&](const Tensor& x, const Tensor& labels) {
    const Tensor loss = cross_entropy(training.net(x), labels.cast(DType::Int32));
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  for (int i = 0; i < steps; i++) {
    const Batch batch = images.batch(32 * i, 32);
    training.losses.push_back(step(batch.images, batch.labels).item<double>());
  }
  return training;
}

// The same weights on the default device.
FashionNet moved(const FashionNet& net) {
  StateDict weights;
  for (const auto& [name, tensor] : nn::state_dict(net)) {
    weights.push_back({name, Tensor::from_data(tensor.to_vector<float>(), tensor.shape())});
  }
  FashionNet result;
  nn::load_state_dict(result, weights);
  return result;
}

std::vector<std::int64_t> predictions(const FashionNet& net, const ImageSet& images) {
  return net(images.batch(0, 1000).images).argmax(1).to_vector<std::int64_t>();
}

bool is_available(std::string_view name) {
  const std::vector<DeviceEntry> devices = list_devices();
  return std::ranges::any_of(devices, [&](const auto& d) { return d.name == name && d.available; });
}

class FashionOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, FashionOn, testing::Values("WEBGPU", "OPENCL", "VULKAN"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(FashionOn, AThousandPredictionsAndTheFirstStepsAreThoseOfCpu) {
  if (!is_available(GetParam())) GTEST_SKIP() << "no " << GetParam() << " here";
  const std::string data = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const FashionMnist images = fashion_mnist(data);

  const Training here = train(images.train, 60);
  const std::vector<std::int64_t> expected = predictions(here.net, images.test);
  // It has learnt something, so classes are told apart.
  EXPECT_LT(here.losses.back(), here.losses.front() / 2);

  Options::Scope scope{{Option::Device, GetParam()}};
  EXPECT_EQ(predictions(moved(here.net), images.test), expected);
  const Training there = train(images.train, 10);
  for (std::size_t i = 0; i < there.losses.size(); i++) {
    EXPECT_NEAR(there.losses[i], here.losses[i], 1e-3 * here.losses[i]) << i;
  }
}

}  // namespace
}  // namespace croze
