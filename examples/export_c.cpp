// export_c.cpp -- a trained network leaves as plain C: `make export-demo` compiles what this writes
// and runs it over the same images.
//
//     export_c WEIGHTS.safetensors FOLDER [folder of the data set]
#include <croze/croze.h>
#include <croze/export/export.h>
#include <croze/io/safetensors.h>
#include <croze/nn/nn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "data/fashion_mnist.h"
#include "data/fashion_net.h"

using namespace croze;

namespace {

constexpr std::int64_t count = 1000;

void write(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  check(file.good(), "cannot write {}", path);
}

void run(const std::string& weights, const std::string& folder, const std::string& data) {
  FashionNet net;
  nn::load_state_dict(net, load_safetensors(weights).tensors);
  const ImageSet images = fashion_mnist(data).test;

  // One image a run.
  auto scores = capture([&](const Tensor& image) { return net(image); });
  std::vector<std::uint8_t> pixels, predicted;
  std::vector<double> seconds;
  for (std::int64_t i = 0; i < count; i++) {
    const Tensor image = images.batch(i, 1).images.realize();
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<float> s = scores(image).to_vector<float>();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    predicted.push_back(static_cast<std::uint8_t>(std::ranges::max_element(s) - s.begin()));
    for (std::uint8_t p : images.image(i)) pixels.push_back(p);
  }
  std::ranges::nth_element(seconds, seconds.begin() + count / 2);

  const CExportSummary summary = export_c(scores, folder,
                                          {.name = "fashion",
                                           .inputs = {"image"},
                                           .outputs = {"scores"},
                                           .tensors = nn::state_dict(net)});
  write(folder + "/images.bin", pixels);
  write(folder + "/predicted.bin", predicted);
  std::printf("arena: %lld bytes, weights: %lld bytes, %lld kernels\n",
              static_cast<long long>(summary.arena_bytes),
              static_cast<long long>(summary.weight_bytes),
              static_cast<long long>(summary.kernels));
  std::printf("croze: %.1f us a run (median)\n", seconds[count / 2] * 1e6);
}

}  // namespace

int main(int arguments, char** argument) {
  if (arguments < 3) {
    std::fprintf(stderr, "usage: export_c WEIGHTS.safetensors FOLDER [folder of the data set]\n");
    return 2;
  }
  try {
    run(argument[1], argument[2], arguments > 3 ? argument[3] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "export_c: %s\n", error.what());
    return 1;
  }
}
