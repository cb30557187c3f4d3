// Training of a small network: that it learns, goes on from a checkpoint to the last bit, and knows
// whose checkpoint it is given.
#include "croze/llm/train/gpt_training.h"

#include <cmath>

#include "croze/io/checkpoint.h"
#include "croze/run/random_state.h"
#include "croze/tensor/network/loss.h"
#include "llm/train/texts.h"
#include "support/files.h"

namespace croze::llm {
namespace {

using namespace croze::test;

class Training : public FilesTest {
 protected:
  SmallCorpus small;
};

TEST_F(Training, LearnsTheText) {
  GptTraining training(small.corpus, small_shape(), small_settings());
  const double before = training.validate();
  for (int i = 0; i < 40; i++) training.step();
  const double after = training.validate();
  EXPECT_EQ(training.steps(), 40);
  EXPECT_LT(after, 0.7 * before);
  EXPECT_EQ(training.history().back().validation, after);
  // At first nothing is likelier than anything else.
  EXPECT_NEAR(training.history()[0].loss, std::log(280), 0.1);
}

// What validation computes, window by window and without capture.
TEST_F(Training, ValidatesOnAllWindows) {
  GptTraining training(small.corpus, small_shape(), small_settings());
  double nats = 0;
  for (std::int64_t i = 0; i < small.corpus.validation_windows(); i++) {
    const Tensor window = small.corpus.validation_batch(i, 1);
    const Tensor scores = training.network()(window.narrow(1, 0, 16)).select(0, 0);
    nats += cross_entropy(scores, window.select(0, 0).narrow(0, 1, 16)).item<double>() * 16;
  }
  EXPECT_NEAR(training.validate(), nats / static_cast<double>(small.corpus.validation_bytes()),
              1e-5);
}

TEST_F(Training, FollowsItsSchedule) {
  GptSettings settings = small_settings();
  settings.steps = 8;
  settings.warmup = 2;
  GptTraining training(small.corpus, small_shape(), settings);
  for (int i = 0; i < 8; i++) training.step();
  for (int i = 0; i < 8; i++) {
    const double fall = 0.1 + 0.9 * (1 + std::cos((i - 2) * M_PI / 6)) / 2;
    const double expected = i < 2 ? (i + 1) / 3. : fall;
    EXPECT_NEAR(training.history()[static_cast<std::size_t>(i)].learning_rate, 1e-2 * expected,
                1e-7)
        << i;
  }
}

TEST_F(Training, GoesOnFromACheckpointToTheLastBit) {
  for (const double dropout : {0., 0.25}) {
    GptSettings settings = small_settings();
    settings.dropout = dropout;
    GptTraining whole(small.corpus, small_shape(), settings);
    for (int i = 0; i < 10; i++) {
      whole.step();
      if (i == 5) whole.validate();
    }
    GptTraining cut(small.corpus, small_shape(), settings);
    for (int i = 0; i < 6; i++) cut.step();
    cut.validate();
    cut.save(path("cut"));
    cut.step();  // is lost

    GptTraining rest(small.corpus, small_shape(), settings);
    rest.step();  // is forgotten
    rest.load(path("cut"));
    EXPECT_EQ(rest.steps(), 6);
    for (int i = 6; i < 10; i++) rest.step();
    EXPECT_EQ(rest.history(), whole.history()) << dropout;
    EXPECT_EQ(rest.validate(), whole.validate()) << dropout;
  }
}

// In training alone, and what others draw does not change by it.
TEST_F(Training, DropsOutWhenItLearns) {
  GptSettings settings = small_settings();
  GptTraining whole(small.corpus, small_shape(), settings);
  settings.dropout = 0.25;
  GptTraining dropping(small.corpus, small_shape(), settings);
  EXPECT_EQ(dropping.validate(), whole.validate());
  const RandomState before = random_state();
  std::vector<float> differences;
  for (int i = 0; i < 4; i++) {
    differences.push_back(dropping.step().gradient_norm - whole.step().gradient_norm);
  }
  EXPECT_EQ(random_state(), before);
  for (const float d : differences) EXPECT_NE(d, 0);
  settings.dropout = 1;
  EXPECT_NE(
      error_of([&] { GptTraining t(small.corpus, small_shape(), settings); }).find("dropout of 1"),
      std::string::npos);
}

TEST_F(Training, RefusesCheckpointsOfOthers) {
  GptTraining training(small.corpus, small_shape(), small_settings());
  training.save(path("mine"));
  const auto refused = [&](const Corpus& corpus, const GptShape& shape,
                           const GptSettings& settings) {
    GptTraining other(corpus, shape, settings);
    return error_of([&] { other.load(path("mine")); });
  };
  GptShape shape = small_shape();
  shape.layers = 1;
  EXPECT_NE(refused(small.corpus, shape, small_settings()).find("2 layers"), std::string::npos);
  GptSettings settings = small_settings();
  settings.steps = 41;
  EXPECT_NE(refused(small.corpus, small_shape(), settings).find("41 steps"), std::string::npos);
  const Corpus other("x" + small.text, "other", small.tokenizer, 16);
  EXPECT_NE(refused(other, small_shape(), small_settings()).find("text"), std::string::npos);

  nn::save_checkpoint(path("plain"), training, 0);
  EXPECT_NE(error_of([&] { training.load(path("plain")); }).find("network"), std::string::npos);
  EXPECT_NE(error_of([&] { training.load(path("none")); }), "");
}

TEST_F(Training, RefusesSizesThatDoNotFit) {
  GptShape shape = small_shape();
  shape.heads = 3;
  EXPECT_NE(error_of([&] { Gpt network(shape); }).find("3 heads"), std::string::npos);
  shape = small_shape();
  shape.width = 0;
  EXPECT_NE(error_of([&] { Gpt network(shape); }).find("width of 0"), std::string::npos);
  shape = small_shape();
  shape.context = 8;
  EXPECT_NE(error_of([&] { GptTraining t(small.corpus, shape, small_settings()); }), "");
  GptSettings settings = small_settings();
  settings.batch = 0;
  EXPECT_NE(error_of([&] { GptTraining t(small.corpus, small_shape(), settings); }), "");
}

}  // namespace
}  // namespace croze::llm
