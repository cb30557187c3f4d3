// The data set: loading from files made here (and the real one where it is installed), batches.
#include "examples/data/fashion_mnist.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "support/files.h"

namespace croze {
namespace {

using test::error_of;
using namespace std::string_literals;

constexpr std::string_view installed =
    "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz";

class Fashion : public test::FilesTest {
 protected:
  std::string write_labels(const std::string& name, std::string labels) {
    std::string text = "\0\0\x08\1"s;
    for (int shift = 24; shift >= 0; shift -= 8) {
      text += static_cast<char>(labels.size() >> shift);
    }
    return file(name, text + labels);
  }
  // Four files of the right shapes, not compressed.
  void write_all() {
    for (const auto& [prefix, count] : {std::pair("train"s, 60'000), std::pair("t10k"s, 10'000)}) {
      std::string images = "\0\0\x08\3"s;
      for (int size : {count, 28, 28}) {
        for (int shift = 24; shift >= 0; shift -= 8) images += static_cast<char>(size >> shift);
      }
      for (int i = 0; i < count; i++) images.append(784, static_cast<char>(i % 251));
      file(prefix + "-images-idx3-ubyte", images);
      std::string labels;
      for (int i = 0; i < count; i++) labels += static_cast<char>(i % 10);
      write_labels(prefix + "-labels-idx1-ubyte", labels);
    }
  }
};

TEST_F(Fashion, LoadsFourFiles) {
  write_all();
  const FashionMnist data = fashion_mnist(path(""));
  EXPECT_EQ(data.train.size(), 60'000);
  EXPECT_EQ(data.test.size(), 10'000);
  EXPECT_EQ(data.train.image(252)[5], 1);
  EXPECT_EQ(data.test.labels[123], 3);
}

TEST_F(Fashion, NamesTheMissingFileAndWhatToInstall) {
  const std::string message = error_of([&] { fashion_mnist(path("")); });
  EXPECT_NE(message.find("train-images-idx3-ubyte"), std::string::npos) << message;
  EXPECT_NE(message.find("dataset-fashion-mnist"), std::string::npos) << message;
}

TEST_F(Fashion, RefusesLabelsThatAreNoClass) {
  write_all();
  std::string labels(10'000, '\1');
  labels.back() = '\x0a';
  write_labels("t10k-labels-idx1-ubyte", labels);
  EXPECT_NE(error_of([&] { fashion_mnist(path("")); }).find("no class 10"), std::string::npos);
}

TEST_F(Fashion, RefusesFilesOfAnotherShape) {
  write_all();
  write_labels("train-labels-idx1-ubyte", std::string(59'999, '\1'));
  EXPECT_NE(error_of([&] { fashion_mnist(path("")); }).find("(60000,)"), std::string::npos);
}

TEST_F(Fashion, ReadsTheInstalledFiles) {
  if (!std::filesystem::exists(installed)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const FashionMnist data = fashion_mnist("/usr/share/datasets/fashion-mnist");
  EXPECT_EQ(FashionMnist::class_name(data.train.labels[0]), "ankle boot");
  std::vector<std::int64_t> count(10);
  for (std::uint8_t label : data.train.labels) count[label]++;
  EXPECT_EQ(count, std::vector<std::int64_t>(10, 6'000));
  // The mean that papers on the set give: 0.2860 of the brightest.
  double sum = 0;
  for (std::uint8_t pixel : data.train.pixels) sum += pixel;
  EXPECT_NEAR(sum / static_cast<double>(data.train.pixels.size()) / 255, 0.2860, 1e-4);
}

ImageSet small_set() {
  ImageSet set{
      .height = 2, .width = 3, .pixels = std::vector<std::uint8_t>(24), .labels = {7, 8, 9, 0}};
  std::iota(set.pixels.begin(), set.pixels.end(), std::uint8_t{0});
  return set;
}

TEST(ImageSet, BatchHoldsTheChosenImagesInOrder) {
  const std::int64_t numbers[] = {2, 0};
  const Batch batch = small_set().batch(numbers);
  EXPECT_EQ(batch.images.shape(), Shape({2, 1, 2, 3}));
  EXPECT_EQ(batch.images.dtype(), DType::UInt8);
  EXPECT_EQ(batch.images.to_vector<int>(),
            (std::vector<int>{12, 13, 14, 15, 16, 17, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(batch.labels.to_vector<int>(), (std::vector<int>{9, 7}));
}

TEST(ImageSet, RefusesImagesThatAreNotThere) {
  EXPECT_NE(error_of([] { small_set().batch(2, 3); }).find("no image 4"), std::string::npos);
  EXPECT_NE(error_of([] { small_set().image(-1); }).find("no image -1"), std::string::npos);
  EXPECT_NE(error_of([] { FashionMnist::class_name(10); }), "");
}

using test::error_of;

TEST(ShuffledBatches, HoldEveryNumberOnceAndLeaveOutTheRest) {
  const auto batches = shuffled_batches(103, 10, 5);
  ASSERT_EQ(batches.size(), 10u);
  std::set<std::int64_t> seen;
  for (const auto& batch : batches) {
    EXPECT_EQ(batch.size(), 10u);
    seen.insert(batch.begin(), batch.end());
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_GE(*seen.begin(), 0);
  EXPECT_LT(*seen.rbegin(), 103);
}

TEST(ShuffledBatches, DependOnTheSeedAlone) {
  EXPECT_EQ(shuffled_batches(1000, 8, 1), shuffled_batches(1000, 8, 1));
  EXPECT_NE(shuffled_batches(1000, 8, 1), shuffled_batches(1000, 8, 2));
}

TEST(ShuffledBatches, AreWellMixed) {
  // Each number should stand in each quarter of the order about equally often.
  std::vector<int> first_quarter(64);
  for (std::uint64_t seed = 0; seed < 1000; seed++) {
    const auto batches = shuffled_batches(64, 16, seed);
    for (std::int64_t n : batches[0]) first_quarter[static_cast<std::size_t>(n)]++;
  }
  // 250 expected, deviation 13.7: five of them.
  EXPECT_GT(*std::ranges::min_element(first_quarter), 180);
  EXPECT_LT(*std::ranges::max_element(first_quarter), 320);
}

TEST(ShuffledBatches, AcceptSetsOfAnySizeAndRefuseNoBatchSize) {
  EXPECT_TRUE(shuffled_batches(0, 4, 1).empty());
  EXPECT_TRUE(shuffled_batches(3, 4, 1).empty());
  EXPECT_NE(error_of([] { shuffled_batches(10, 0, 1); }), "");
}

}  // namespace
}  // namespace croze
