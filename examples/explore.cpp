// explore.cpp -- a look at data, as in a notebook: groups by k-means, main directions by PCA, and
// the notes of a chord by a Fourier transform.
#include <croze/croze.h>
#include <croze/jit/capture.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>
#include <vector>

using namespace croze;

namespace {

constexpr int groups = 3;

// (300, 5): every third point lies around the same corner.
Tensor make_points() {
  const Tensor corners = Tensor::from_data({4.f, 0.f, 0.f, 1.f, 0.f,  //
                                            0.f, 4.f, 0.f, 0.f, 1.f,  //
                                            0.f, 0.f, 4.f, 1.f, 1.f},
                                           {groups, 5});
  return (corners.repeat({100, 1}) + Tensor::randn({300, 5}) * 0.5).realize();
}

// The centres (k, d) of the groups of points (n, d): each point belongs to the nearest centre, and
// each centre moves to the mean of its points.
Tensor k_means(const Tensor& points, std::int64_t k, int rounds) {
  Tensor centres = points.narrow(0, 0, k).contiguous().realize();
  auto step = capture([&](const Tensor& x) {
    const Tensor nearest = cdist(x, centres).argmin(1);
    const Tensor belongs = one_hot(nearest, k).cast(DType::Float32);  // (n, k)
    centres.assign(matmul(belongs.transpose(), x) / belongs.sum(0).unsqueeze(1));
  });
  for (int i = 0; i < rounds; i++) step(points);
  return centres;
}

void show_groups(const Tensor& points) {
  const Tensor centres = k_means(points, groups, 10);
  const Tensor nearest = cdist(points, centres).argmin(1);
  const std::vector<int> sizes = one_hot(nearest, groups).sum(0).to_vector<int>();
  const std::vector<float> places = centres.to_vector<float>();
  for (std::size_t g = 0; g < groups; g++) {
    std::printf("group of %d around", sizes[g]);
    for (std::size_t i = 0; i < 5; i++) std::printf(" %5.2f", places[g * 5 + i]);
    std::printf("\n");
  }
}

// How much of the variance the two main directions hold: eigenvectors of the covariance.
void show_main_directions(const Tensor& points) {
  const Tensor centred = points - points.mean(0);
  const Tensor covariance =
      matmul(centred.transpose(), centred) / static_cast<double>(points.size(0) - 1);
  const auto [variances, directions] = eigh(covariance);  // ascending
  const Tensor flat = matmul(centred, directions.narrow(1, 3, 2));
  std::printf("2 of 5 directions hold %.1f %% of the variance\n",
              100 * (flat.square().sum() / centred.square().sum()).item<double>());
}

// Three notes of a second, found again as the strongest frequencies.
void show_notes() {
  constexpr std::int64_t rate = 8192;
  constexpr double notes[] = {440, 554, 659};
  const Tensor time = Tensor::arange(rate) / static_cast<double>(rate);
  Tensor sound = Tensor::randn({rate}) * 0.5;
  for (const double note : notes) sound = sound + (time * (2 * std::numbers::pi * note)).sin();

  const Tensor spectrum = rfft(sound).square().sum(-1);  // (rate / 2 + 1,)
  const Tensor strongest = sort(topk(spectrum, 3).indices).values;
  std::printf("notes at");
  for (const int hertz : strongest.to_vector<int>()) std::printf(" %d Hz", hertz);
  std::printf("\n");
}

}  // namespace

int main() {
  try {
    manual_seed(1);
    const Tensor points = make_points();
    show_groups(points);
    show_main_directions(points);
    show_notes();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "explore: %s\n", error.what());
    return 1;
  }
}
