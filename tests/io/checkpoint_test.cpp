// Checkpoints: a training that goes on from one is the training that was never interrupted.
#include "croze/io/checkpoint.h"

#include <optional>

#include "croze/croze.h"
#include "croze/nn/nn.h"
#include "support/files.h"

namespace croze {
namespace {

using test::error_of;

// Everything that must be restored: weights, momenta, running statistics, dropout, drawn batches.
struct Net {
  nn::Linear hidden{4, 16};
  nn::BatchNorm2d norm{16};
  nn::Dropout dropout{0.25};
  nn::Linear output{16, 1};

  Tensor operator()(const Tensor& x) {
    const Tensor h = norm(hidden(x).unsqueeze(2).unsqueeze(3), true).flatten(1);
    return output(dropout(relu(h), true));
  }
};

struct Training {
  Net net;
  optim::Adam adam{nn::parameters(net), {.learning_rate = 0.01}};
};

// The losses of the steps from `first` up to `last`, the checkpoint written before step `save_at`.
std::vector<float> losses(Training& training, int first, int last, const std::string& path,
                          std::optional<int> save_at = {}) {
  auto step = capture([&] {
    const Tensor x = Tensor::randn({8, 4});
    const Tensor loss = mse_loss(training.net(x), x.sum(1, true));
    training.adam.step(loss.gradient(training.adam.parameters));
    return loss;
  });
  std::vector<float> values;
  for (int i = first; i < last; i++) {
    if (i == save_at) nn::save_checkpoint(path, training, i);
    values.push_back(step().item<float>());
  }
  return values;
}

class CheckpointFile : public test::FilesTest {};

TEST_F(CheckpointFile, GoesOnToTheLastBit) {
  manual_seed(11);
  Training whole;
  const std::vector<float> expected = losses(whole, 0, 12, path("training"), 5);

  manual_seed(99);  // and other weights: all must come from the file
  Training resumed;
  ASSERT_EQ(nn::load_checkpoint(path("training"), resumed), 5);
  const std::vector<float> found = losses(resumed, 5, 12, "");
  EXPECT_EQ(found, std::vector<float>(expected.begin() + 5, expected.end()));
  const StateDict a = nn::state_dict(whole), b = nn::state_dict(resumed);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); i++) {
    EXPECT_EQ(a[i].tensor.to_vector<float>(), b[i].tensor.to_vector<float>()) << a[i].name;
  }
}

TEST_F(CheckpointFile, TakesPartsInATuple) {
  nn::Linear layer(2, 2);
  const optim::SGD sgd(nn::parameters(layer), {.momentum = 0.5});
  nn::save_checkpoint(path("a"), std::tie(layer, sgd), 3);
  const std::vector<float> before = layer.weight.to_vector<float>();
  layer.weight.assign(0).realize();
  EXPECT_EQ(nn::load_checkpoint(path("a"), std::tie(layer, sgd)), 3);
  EXPECT_EQ(layer.weight.to_vector<float>(), before);
}

TEST_F(CheckpointFile, KeepsNotes) {
  const nn::Linear layer(2, 2);
  nn::save_checkpoint(path("a"), layer, 3, {{"text", "the Bible\n"}});
  EXPECT_EQ(nn::load_checkpoint(path("a"), layer), 3);
  EXPECT_EQ(load_safetensors(path("a")).metadata.at("text"), "the Bible\n");
  EXPECT_NE(error_of([&] {
              nn::save_checkpoint(path("a"), layer, 3, {{"step", "4"}});
            }).find("step"),
            std::string::npos);
  EXPECT_EQ(nn::load_checkpoint(path("a"), layer), 3);
}

TEST_F(CheckpointFile, RefusesOtherFilesAndOtherTrainingsAndChangesNothing) {
  nn::Linear layer(2, 2), other(3, 2);
  save_safetensors(path("weights"), nn::state_dict(layer));
  EXPECT_NE(error_of([&] { nn::load_checkpoint(path("weights"), layer); }).find("no checkpoint"),
            std::string::npos);
  save_safetensors(path("bad"), nn::state_dict(layer),
                   {{"step", "3x"}, {"random_seed", "1"}, {"random_draws", "0"}});
  EXPECT_NE(error_of([&] { nn::load_checkpoint(path("bad"), layer); }).find("not a number"),
            std::string::npos);
  nn::save_checkpoint(path("other"), other, 1);
  manual_seed(5);
  const RandomState random = random_state();
  const std::string message = error_of([&] { nn::load_checkpoint(path("other"), layer); });
  EXPECT_NE(message.find("weight has shape (2, 3)"), std::string::npos) << message;
  EXPECT_NE(message.find("checkpoint_test.cpp"), std::string::npos) << message;
  EXPECT_EQ(random_state(), random);
}

}  // namespace
}  // namespace croze
