// gru_text.cpp -- a recurrent network that learns to write like a text, and a training that can be
// killed at any time: started again it goes on from its last checkpoint, with losses equal to the
// last bit to those of a training that was not interrupted.
//
//     gru_text <text> <checkpoint> [steps]
#include <croze/croze.h>
#include <croze/io/checkpoint.h>
#include <croze/nn/nn.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace croze;

namespace {

constexpr std::int64_t batch_size = 32, length = 16, width = 32, hidden = 64;
constexpr int steps_between_checkpoints = 25;

struct Net {
  nn::Embedding letters{256, width};
  nn::GRU gru{width, hidden, {.batch_first = true}};
  nn::Dropout dropout{0.1};
  nn::Linear output{hidden, 256};

  // Bytes (n, t) and the state before them -> scores of the bytes that follow (n, t, 256), and the
  // state after them.
  std::pair<Tensor, Tensor> operator()(const Tensor& bytes, const Tensor& state,
                                       bool training) const {
    const SequenceResult r = gru(letters(bytes), state);
    return {output(dropout(r.output, training)), r.h};
  }
};

struct Training {
  Net net;
  optim::AdamW adam{nn::parameters(net), {.learning_rate = 3e-3}};
};

Tensor read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  check(std::ssize(text) > length, "{} is missing or too short", path);
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  return Tensor::from_data(bytes, {std::ssize(bytes)}, {.dtype = DType::Int32}).realize();
}

void train(Training& training, const Tensor& text, const std::string& checkpoint,
           std::int64_t steps) {
  auto step = capture([&] {
    // Windows from anywhere in the text.  The draws are croze's own, so a checkpoint has them too.
    const Tensor begins = Tensor::randint(0, text.numel() - length, {batch_size, 1});
    const Tensor window = text.index({begins + Tensor::arange(length + 1)});
    const Tensor scores = training.net(window.narrow(1, 0, length), {}, true).first;
    const Tensor loss = cross_entropy(scores.flatten(0, 1), window.narrow(1, 1, length).flatten());
    training.adam.step(loss.gradient(training.adam.parameters));
    return loss;
  });
  std::int64_t done = 0;
  if (std::filesystem::exists(checkpoint)) done = nn::load_checkpoint(checkpoint, training);
  while (done < steps) {
    const float loss = step().item<float>();
    done++;
    std::printf("step %lld: loss %.9g\n", static_cast<long long>(done), loss);
    std::fflush(stdout);
    if (done % steps_between_checkpoints == 0 || done == steps) {
      nn::save_checkpoint(checkpoint, training, done);
    }
  }
}

// Draws the bytes that follow, one by one.
std::string write(const Net& net, std::string text, int count) {
  auto next = capture([&](const Tensor& byte, const Tensor& state) {
    const auto [scores, after] = net(byte, state, false);
    return std::vector<Tensor>{multinomial(scores.flatten(0, 1).softmax(1), 1), after};
  });
  std::vector<Tensor> drawn;
  Tensor state = Tensor::zeros({1, 1, hidden}).realize();
  for (int i = 0; i < count; i++) {
    const Tensor byte =
        Tensor::from_data({std::int64_t{static_cast<std::uint8_t>(text.back())}}, {1, 1});
    drawn = next(byte, state);
    state = drawn[1];
    text += static_cast<char>(drawn[0].item<std::int64_t>());
  }
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fputs("usage: gru_text <text> <checkpoint> [steps]\n", stderr);
    return 2;
  }
  try {
    Training training;
    const std::int64_t steps = count > 3 ? std::atoll(arguments[3]) : 1000;
    train(training, read_text(arguments[1]), arguments[2], steps);
    std::printf("%s\n", write(training.net, "T", 200).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gru_text: %s\n", error.what());
    return 1;
  }
}
