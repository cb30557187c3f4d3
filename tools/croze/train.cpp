// train.cpp -- croze train fashion-mnist: a convolutional network, from random weights to a file.
#include <croze/base/log.h>
#include <croze/base/options.h>
#include <croze/io/safetensors.h>
#include <croze/run/devices.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <numbers>

#include "command.h"
#include "fashion.h"

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
    return fmt::format("loss {:.4f}  accuracy {:.4f}", loss / count, accuracy / count);
  }
};

struct Training {
  FashionNet net;
  RunSummary step;
  double seconds = 0;
};

// One pass over the training images; `step` maps images and labels to loss and accuracy.
template <typename StepFunction>
Average train_epoch(const Settings& settings, int epoch, const ImageSet& data, optim::Adam& adam,
                    StepFunction& step) {
  const auto batches = shuffled_batches(data.size(), settings.batch,
                                        settings.seed + static_cast<std::uint64_t>(epoch));
  ProgressLine progress;
  Average average;
  for (const std::vector<std::int64_t>& numbers : batches) {
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

// Trains and reports to `out`, one line an epoch.
Training train(const Settings& settings, const ImageSet& data, std::FILE* out) {
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
  for (int epoch = 0; epoch < settings.epochs; epoch++) {
    const Clock::time_point epoch_start = Clock::now();
    const Average average = train_epoch(settings, epoch, data, adam, step);
    fmt::print(out, "epoch {}/{}  {}  {:.1f} s\n", epoch + 1, settings.epochs, average.text(),
               seconds_since(epoch_start));
    std::fflush(out);
  }
  training.step = step.step().summary();
  training.seconds = seconds_since(start);
  return training;
}

void run_training(const Settings& settings) {
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

  const Training training = train(settings, data.train, out);
  const std::vector<std::int64_t> predicted = predict(training.net, data.test);
  const double test_accuracy = accuracy(predicted, data.test);
  const RunStatistics statistics = run_statistics();
  show_predictions(out, predicted, data.test, 4);
  fmt::print(out, "test accuracy {:.4f} after {:.1f} s\n", test_accuracy, training.seconds);
  save_safetensors(settings.weights, nn::state_dict(training.net), {{"network", "fashion-mnist"}});
  fmt::print(out, "weights saved to {}\n", settings.weights);
  if (!settings.json) return;
  const nlohmann::ordered_json result{
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

void add_train(CLI::App& app) {
  CLI::App* train_command = app.add_subcommand("train", "Train a model");
  train_command->require_subcommand(1);
  CLI::App* command =
      train_command->add_subcommand("fashion-mnist", "A convolutional network on Fashion-MNIST");
  const auto s = std::make_shared<Settings>();
  command->add_option("--epochs", s->epochs, "Passes over the training images")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--batch", s->batch, "Images in a step")
      ->check(CLI::Range(1, 60000))
      ->capture_default_str();
  command->add_option("--lr", s->learning_rate, "Learning rate at the start; falls to zero")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", s->seed, "Seed of weights and order")->capture_default_str();
  command->add_option("--weights", s->weights, "File to write the weights to")
      ->capture_default_str();
  command->add_option("--device", s->device, "Device to train on, as croze devices names it");
  command->add_flag("--json", s->json, "Print the result as one line of JSON on standard output");
  command->callback([s] { run_training(*s); });
}

}  // namespace croze::tool
