// fashion.cpp -- what training and evaluating on Fashion-MNIST share.
#include "fashion/fashion.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "picture.h"

namespace croze::tool {

std::vector<std::int64_t> predict(const FashionNet& net, const ImageSet& images) {
  constexpr std::int64_t batch_size = 1000;
  auto classes = capture([&](const Tensor& batch) { return net(batch).argmax(1); });
  std::vector<std::int64_t> predicted;
  for (std::int64_t first = 0; first < images.size(); first += batch_size) {
    const std::int64_t count = std::min(batch_size, images.size() - first);
    const Tensor batch = images.batch(first, count).images;
    // A last batch that is smaller is not the captured step's.
    const Tensor result = count == batch_size ? classes(batch) : net(batch).argmax(1);
    for (std::int64_t c : result.to_vector<std::int64_t>()) predicted.push_back(c);
  }
  return predicted;
}

double accuracy(const std::vector<std::int64_t>& predicted, const ImageSet& images) {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < predicted.size(); i++) right += predicted[i] == images.labels[i];
  return static_cast<double>(right) / static_cast<double>(std::max<std::int64_t>(images.size(), 1));
}

void show_predictions(std::FILE* out, const std::vector<std::int64_t>& predicted,
                      const ImageSet& images, int count) {
  std::vector<Picture> pictures;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, images.size()); i++) {
    const auto at = static_cast<std::size_t>(i);
    pictures.push_back({images.image(i), images.height, images.width,
                        fmt::format("{} (is {})", FashionMnist::class_name(predicted[at]),
                                    FashionMnist::class_name(images.labels[at]))});
  }
  const std::string text = draw(pictures, 2, isatty(fileno(out)) == 1);
  std::fwrite(text.data(), 1, text.size(), out);
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace croze::tool
