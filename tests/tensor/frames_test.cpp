// Memory of the user that goes through tensors: it is given back as soon as no tensor can see it.

#include <cstdlib>
#include <memory>
#include <string>

#include "support/check.h"
#include "support/memory.h"
#include "support/sanitizers.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t elements = 1 << 18;  // 1 MiB of Float32

int frame_count() {
  const char* text = std::getenv("FRAMES");
  return text ? std::atoi(text) : 300;
}

// A sanitizer keeps what is freed for a while.
constexpr bool frees_at_once = !CROZE_ASAN && !CROZE_TSAN;

// A camera: its frames are memory that must be given back, the last of them perhaps after the
// camera is gone.
class Camera {
 public:
  Tensor frame(float value) {
    auto pixels = std::make_unique<std::vector<float>>(elements, value);
    const float* memory = pixels->data();
    ++counts_->held;
    counts_->most = std::max(counts_->most, counts_->held);
    const auto give_back = [counts = counts_](std::vector<float>* p) {
      delete p;
      --counts->held;
    };
    std::shared_ptr<std::vector<float>> owner(pixels.release(), give_back);
    return Tensor::from_blob(memory, {elements}, DType::Float32, std::move(owner));
  }
  int held() const { return counts_->held; }
  int most() const { return counts_->most; }

 private:
  struct Counts {
    int held = 0, most = 0;
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

template <typename F>
void expect_flat(Camera& camera, F each) {
  std::int64_t after_some = 0;
  const int count = frame_count();
  for (int i = 0; i < count; i++) {
    if (i == count / 4) after_some = resident_bytes();
    each(i, camera.frame(static_cast<float>(i % 7)));
  }
  EXPECT_LE(camera.most(), 3);
  if (frees_at_once) {
    EXPECT_LE(resident_bytes(), after_some + (16 << 20)) << "of " << count << " MiB";
  }
}

TEST(Frames, AreGivenBackWhenTheyHaveBeenUsed) {
  Camera camera;
  expect_flat(camera, [](int i, const Tensor& frame) {
    EXPECT_EQ(frame.mean().item<float>(), static_cast<float>(i % 7));
  });
}

TEST(Frames, AreGivenBackWithoutBeingUsed) {
  Camera camera;
  expect_flat(camera, [](int, const Tensor&) {});
}

// Each average was computed from a frame and the average before it.
TEST(Frames, AreGivenBackWhenOnlyTheHistoryOfAStateHoldsThem) {
  Camera camera;
  Tensor average = Tensor::zeros({elements}).realize();
  expect_flat(camera, [&](int, const Tensor& frame) {
    average = (average * 0.5f + frame * 0.5f).realize();
  });
  EXPECT_GT(average.mean().item<float>(), 0);
}

TEST(Frames, AreKeptForGradientsAndGivenBackWithTheLoss) {
  Camera camera;
  const Tensor w = Tensor::from_data({3.f}, {1});
  Tensor loss;
  {
    const Tensor frame = camera.frame(2);
    loss = (frame * w).mean().realize();
  }
  for (int i = 0; i < 5; i++) camera.frame(1).sum().realize();
  expect_numbers(loss.gradient({w})[0], {2});
  expect_flat(camera, [&](int i, const Tensor& frame) {
    loss = (frame * w).mean().realize();
    if (i % 3 == 0) expect_numbers(loss.gradient({w})[0], {static_cast<double>(i % 7)});
  });
}

}  // namespace
}  // namespace croze
