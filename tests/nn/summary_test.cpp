// Summaries of models.
#include "croze/nn/summary.h"

#include <sstream>

#include "nn/models.h"

namespace croze {
namespace {

struct Net {
  nn::Linear hidden{1000, 16};
  nn::BatchNorm1d norm{16};
  double dropout = 0.5;
  Tensor half = Tensor::zeros({3}, {.dtype = DType::BFloat16}).realize();
};

TEST(Summary, ListsTensorsAndAddsThemUp) {
  const nn::ModelSummary s = nn::summary(Net());
  ASSERT_EQ(s.tensors.size(), 7u);
  EXPECT_EQ(s.parameters, 16'000 + 16 + 16 + 16 + 3);
  EXPECT_EQ(s.bytes, 4 * (16'000 + 5 * 16) + 2 * 3);
  EXPECT_EQ(nn::to_text(s),
            "name               shape       dtype     elements   bytes\n"
            "hidden.weight      (16, 1000)  float32     16,000  64,000\n"
            "hidden.bias        (16,)       float32         16      64\n"
            "norm.weight        (16,)       float32         16      64\n"
            "norm.bias          (16,)       float32         16      64\n"
            "norm.running_mean  (16,)       float32         16      64  not trained\n"
            "norm.running_var   (16,)       float32         16      64  not trained\n"
            "half               (3,)        bfloat16         3       6\n"
            "16,051 parameters, 64,326 bytes\n");
  std::ostringstream stream;
  stream << s;
  EXPECT_EQ(stream.str(), nn::to_text(s));
}

TEST(Summary, OfWhatHasNoTensorsIsEmpty) {
  EXPECT_EQ(nn::to_text(nn::summary(nn::Dropout())),
            "name  shape  dtype  elements  bytes\n0 parameters, 0 bytes\n");
}

}  // namespace
}  // namespace croze
