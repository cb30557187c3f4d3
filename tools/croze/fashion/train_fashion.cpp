// train_fashion.cpp -- croze train fashion-mnist: a convolutional network, from random weights to a
// file.
#include <croze/base/file.h>
#include <croze/base/options.h>
#include <croze/io/safetensors.h>
#include <croze/log/progress.h>
#include <croze/log/run.h>
#include <croze/run/devices.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numbers>
#include <optional>

#include "command_line/json.h"
#include "commands.h"
#include "fashion/fashion.h"
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
  std::string log;  // folder for the notes of the run; empty: none
  bool json = false;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Falls from 1 to 0 along half a cosine.
double decay(double progress) { return (1 + std::cos(progress * std::numbers::pi)) / 2; }

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

// What is noted of the training for `croze viz` and TensorBoard, if anybody wants it.
class Notes {
 public:
  explicit Notes(const std::string& folder) {
    if (folder.empty()) return;
    const std::filesystem::path path(folder);
    run_.emplace(path.filename().string(), logs::RunOptions{path.parent_path().string()});
  }

  void add_step(const Tensor& loss, const Tensor& accuracy, double learning_rate) {
    if (!run_) return;
    run_->scalar("loss/train", loss, step_);
    run_->scalar("accuracy/train", accuracy, step_);
    run_->scalar("learning rate", learning_rate, step_);
    step_++;
  }
  // After an epoch.
  void add_weights(const FashionNet& net) {
    if (!run_) return;
    for (const auto& [name, tensor] : nn::state_dict(net)) run_->histogram(name, tensor, step_);
  }
  void add_images(const ImageSet& data) {
    if (!run_) return;
    for (std::int64_t i = 0; i < 4; i++) {
      run_->image("images", data.batch(i, 1).images[0], i);
    }
  }
  void add_result(double test_accuracy) {
    if (run_) run_->scalar("accuracy/test", test_accuracy, step_);
  }
  void flush() {
    if (run_) run_->flush();
  }

 private:
  std::optional<logs::Run> run_;
  std::int64_t step_ = 0;
};

// One pass over the training images, or as far as it gets before an interrupt; `step` maps images
// and labels to loss and accuracy.
template <typename StepFunction>
Average train_epoch(const Settings& settings, int epoch, const ImageSet& data, optim::Adam& adam,
                    StepFunction& step, Notes& notes, const Interrupt& interrupt) {
  const auto batches = shuffled_batches(data.size(), settings.batch,
                                        settings.seed + static_cast<std::uint64_t>(epoch));
  logs::Progress progress(fmt::format("epoch {}/{}", epoch + 1, settings.epochs),
                          std::ssize(batches));
  Average average;
  for (const std::vector<std::int64_t>& numbers : batches) {
    if (interrupt.requested()) break;
    const double share = static_cast<double>(average.count) / static_cast<double>(batches.size());
    const double rate = settings.learning_rate * decay((epoch + share) / settings.epochs);
    adam.set_learning_rate(rate);
    const Batch batch = data.batch(numbers);
    const std::vector<Tensor> results = step(batch.images, batch.labels);
    average.add(results[0], results[1]);
    notes.add_step(results[0], results[1], rate);
    progress.step(progress.visible() ? average.text() : "");
  }
  return average;
}

// Trains until the end or an interrupt and reports to `out`, one line an epoch.
Training train(const Settings& settings, const ImageSet& data, Notes& notes,
               const Interrupt& interrupt, std::FILE* out) {
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
    const Average average = train_epoch(settings, epoch, data, adam, step, notes, interrupt);
    notes.add_weights(training.net);
    fmt::print(out, "epoch {}/{}  {}  {:.1f} s\n", epoch + 1, settings.epochs, average.text(),
               seconds_since(epoch_start));
    std::fflush(out);
  }
  if (step.step().is_traced()) training.step = step.step().summary();
  training.seconds = seconds_since(start);
  return training;
}

// Whatever ends the training, its weights are saved.
Training train_and_save(const Settings& settings, const ImageSet& data, Notes& notes,
                        std::FILE* out) {
  const Interrupt interrupt;
  const Training training = train(settings, data, notes, interrupt, out);
  save_safetensors(settings.weights, nn::state_dict(training.net), {{"network", "fashion-mnist"}});
  fmt::print(out, "{}weights saved to {}\n", interrupt.requested() ? "interrupted: " : "",
             settings.weights);
  notes.flush();
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

  Notes notes(settings.log);
  notes.add_images(data.train);
  const Training training = train_and_save(settings, data.train, notes, out);
  const std::vector<std::int64_t> predicted = predict(training.net, data.test);
  const double test_accuracy = accuracy(predicted, data.test);
  notes.add_result(test_accuracy);
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

void add_train_fashion(const Command& train_command) {
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
  command.option("--log", s->log,
                 "Folder for notes of the run, which croze viz and TensorBoard show: runs/first");
  command.flag("--json", s->json, "Print the result as one line of JSON on standard output");
  command.action([s] { run_training(*s); });
}

}  // namespace croze::tool
