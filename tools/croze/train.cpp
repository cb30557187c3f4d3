// train.cpp -- croze train fashion-mnist: a convolutional network, from random weights to a file.
#include <croze/base/file.h>
#include <croze/base/log.h>
#include <croze/base/options.h>
#include <croze/io/safetensors.h>
#include <croze/run/devices.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <numbers>

#include "command_line/json.h"
#include "commands.h"
#include "fashion.h"
#include "interrupt.h"

namespace croze::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  int epochs = 4;
  std::int64_t batch = 128;
  double learning_rate = 2e-3;
  std::uint64_t seed = 1;
  std::string weights = "fashion_mnist.safetensors";
  std::string device;
  bool json = false;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Falls from 1 to 0 along half a cosine.
double decay(double progress) { return (1 + std::cos(progress * std::numbers::pi)) / 2; }

std::string bar(double share) {
  constexpr int width = 24;
  std::string text;
  for (int i = 0; i < width; i++) text += i < share * width ? "━" : "─";
  return text;
}

// Loss and accuracy over the batches so far.
struct Average {
  double loss = 0, accuracy = 0;
  int count = 0;

  void add(const Tensor& batch_loss, const Tensor& batch_accuracy) {
    loss += batch_loss.item<double>();
    accuracy += batch_accuracy.item<double>();
    count++;
  }
  std::string text() const {
    if (count == 0) return "no step";
    return fmt::format("loss {:.4f}  accuracy {:.4f}", loss / count, accuracy / count);
  }
};

struct Training {
  FashionNet net;
  RunSummary step;
  double seconds = 0;
};

// One pass over the training images, or as far as it gets before an interrupt; `step` maps images
// and labels to loss and accuracy.
template <typename StepFunction>
Average train_epoch(const Settings& settings, int epoch, const ImageSet& data, optim::Adam& adam,
                    StepFunction& step, const Interrupt& interrupt) {
  const auto batches = shuffled_batches(data.size(), settings.batch,
                                        settings.seed + static_cast<std::uint64_t>(epoch));
  ProgressLine progress;
  Average average;
  for (const std::vector<std::int64_t>& numbers : batches) {
    if (interrupt.requested()) break;
    const double share = static_cast<double>(average.count) / static_cast<double>(batches.size());
    adam.set_learning_rate(settings.learning_rate * decay((epoch + share) / settings.epochs));
    const Batch batch = data.batch(numbers);
    const std::vector<Tensor> results = step(batch.images, batch.labels);
    average.add(results[0], results[1]);
    if (!progress.visible()) continue;
    progress.update(fmt::format("epoch {}/{} {} {:3.0f}%  {}", epoch + 1, settings.epochs,
                                bar(share), share * 100, average.text()));
  }
  return average;
}

// Trains until the end or an interrupt and reports to `out`, one line an epoch.
Training train(const Settings& settings, const ImageSet& data, const Interrupt& interrupt,
               std::FILE* out) {
  const Clock::time_point start = Clock::now();
  manual_seed(settings.seed);
  Training training;
  optim::Adam adam(nn::parameters(training.net), {.learning_rate = settings.learning_rate});
  auto step = capture([&](const Tensor& images, const Tensor& labels) {
    const Tensor scores = training.net(images);
    const Tensor loss = cross_entropy(scores, labels.cast(DType::Int32));
    const Tensor accuracy = (scores.argmax(1) == labels).cast(DType::Float32).mean();
    adam.step(loss.gradient(adam.parameters));
    return std::vector<Tensor>{loss, accuracy};
  });
  for (int epoch = 0; epoch < settings.epochs && !interrupt.requested(); epoch++) {
    const Clock::time_point epoch_start = Clock::now();
    const Average average = train_epoch(settings, epoch, data, adam, step, interrupt);
    fmt::print(out, "epoch {}/{}  {}  {:.1f} s\n", epoch + 1, settings.epochs, average.text(),
               seconds_since(epoch_start));
    std::fflush(out);
  }
  if (step.step().is_traced()) training.step = step.step().summary();
  training.seconds = seconds_since(start);
  return training;
}

// Whatever ends the training, its weights are saved.
Training train_and_save(const Settings& settings, const ImageSet& data, std::FILE* out) {
  const Interrupt interrupt;
  const Training training = train(settings, data, interrupt, out);
  save_safetensors(settings.weights, nn::state_dict(training.net), {{"network", "fashion-mnist"}});
  fmt::print(out, "{}weights saved to {}\n", interrupt.requested() ? "interrupted: " : "",
             settings.weights);
  if (interrupt.requested()) interrupt.obey();
  return training;
}

void run_training(const Settings& settings) {
  { const FileWriter probe(settings.weights); }  // throws now what saving would throw at the end
  Options::Scope scope{
      {Option::Device, settings.device.empty() ? Options::text(Option::Device) : settings.device}};
  const std::string device_used(device_name(default_device()));
  // With --json, standard output is for the program that reads it.
  std::FILE* out = settings.json ? stderr : stdout;
  const FashionMnist data = fashion_mnist();
  check(settings.batch <= data.train.size(), "a batch of {} images, where there are {}",
        settings.batch, data.train.size());
  fmt::print(out, "Fashion-MNIST: {} images to train on, {} to test, on {}\n", data.train.size(),
             data.test.size(), device_used);

  const Training training = train_and_save(settings, data.train, out);
  const std::vector<std::int64_t> predicted = predict(training.net, data.test);
  const double test_accuracy = accuracy(predicted, data.test);
  const RunStatistics statistics = run_statistics();
  show_predictions(out, predicted, data.test, 4);
  fmt::print(out, "test accuracy {:.4f} after {:.1f} s\n", test_accuracy, training.seconds);
  if (!settings.json) return;
  const Json result{
      {"test_accuracy", test_accuracy},
      {"train_seconds", training.seconds},
      {"compile_seconds", statistics.schedule_seconds + statistics.compile_wall_seconds},
      {"kernels_per_step", training.step.kernels},
      {"peak_rss_mb", peak_rss_mb()},
      {"epochs", settings.epochs},
      {"batch", settings.batch},
      {"parameters", nn::parameter_count(training.net)},
      {"kernels_compiled", statistics.kernels_compiled},
      {"device", device_used},
      {"weights", settings.weights}};
  std::fflush(out);
  fmt::print("{}\n", result.dump());
}

}  // namespace

void add_train(const Command& program) {
  const Command train_command = program.group("train", "Train a model");
  const Command command =
      train_command.subcommand("fashion-mnist", "A convolutional network on Fashion-MNIST");
  const auto s = std::make_shared<Settings>();
  command.option("--epochs", s->epochs, "Passes over the training images")
      .in_range(1, 1000)
      .shows_default();
  command.option("--batch", s->batch, "Images in a step").in_range(1, 60000).shows_default();
  command.option("--lr", s->learning_rate, "Learning rate at the start; falls to zero")
      .positive()
      .shows_default();
  command.option("--seed", s->seed, "Seed of weights and order").shows_default();
  command.option("--weights", s->weights, "File to write the weights to").shows_default();
  command.option("--device", s->device, "Device to train on, as croze devices names it");
  command.flag("--json", s->json, "Print the result as one line of JSON on standard output");
  command.action([s] { run_training(*s); });
}

}  // namespace croze::tool
