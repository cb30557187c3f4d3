// eval_fashion.cpp -- croze eval fashion-mnist: accuracy of saved weights on the test images.
#include <croze/base/options.h>
#include <croze/io/safetensors.h>
#include <croze/run/devices.h>
#include <fmt/format.h>

#include <memory>

#include "command_line/json.h"
#include "commands.h"
#include "fashion/fashion.h"

namespace croze::tool {
namespace {

struct Settings {
  std::string weights;
  std::string device;
  bool json = false;
};

void run_evaluation(const Settings& settings) {
  Options::Scope scope{
      {Option::Device, settings.device.empty() ? Options::text(Option::Device) : settings.device}};
  const SafeTensors saved = load_safetensors(settings.weights);
  FashionNet net;
  nn::load_state_dict(net, saved.tensors);
  const ImageSet images = fashion_mnist().test;
  const std::vector<std::int64_t> predicted = predict(net, images);
  const double test_accuracy = accuracy(predicted, images);
  if (settings.json) {
    const Json result{{"test_accuracy", test_accuracy},
                      {"images", images.size()},
                      {"weights", settings.weights},
                      {"device", device_name(default_device())}};
    fmt::print("{}\n", result.dump());
    return;
  }
  show_predictions(stdout, predicted, images, 4);
  fmt::print("test accuracy {:.4f} on {} images\n", test_accuracy, images.size());
}

}  // namespace

void add_eval(const Command& program) {
  const Command eval_command = program.group("eval", "Test a trained model");
  const Command command =
      eval_command.subcommand("fashion-mnist", "On the test images of Fashion-MNIST");
  const auto s = std::make_shared<Settings>();
  command.option("--weights", s->weights, "File that croze train wrote").required();
  command.option("--device", s->device, "Device to compute on, as croze devices names it");
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s] { run_evaluation(*s); });
}

}  // namespace croze::tool
