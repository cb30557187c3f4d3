// export_c.cpp -- networks, models and a training leave as plain C: `make export-demo` compiles
// what this writes and compares it with croze.
//
//     export_c classifier MACHINE FOLDER WEIGHTS.safetensors
//     export_c training MACHINE FOLDER
//     export_c stream MACHINE FOLDER
//     export_c blazeface MACHINE FOLDER MODEL.onnx
//     export_c silero MACHINE FOLDER MODEL.onnx
//
// MACHINE is what kernels are made for: portable, x86-64-v3, ..
#include <croze/croze.h>
#include <croze/export/onnx.h>
#include <croze/io/safetensors.h>
#include <croze/nn/nn.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "data/c_comparison.h"
#include "data/fashion_mnist.h"
#include "data/fashion_net.h"

using namespace croze;

namespace {

using Tensors = std::vector<Tensor>;

struct Destination {
  std::string machine, folder;
};

void print(const CExportSummary& s) {
  std::printf("arena: %lld bytes, state: %lld, weights: %lld; %lld kernels, %lld calls of them\n",
              static_cast<long long>(s.arena_bytes), static_cast<long long>(s.state_bytes),
              static_cast<long long>(s.weight_bytes), static_cast<long long>(s.kernels),
              static_cast<long long>(s.calls));
}

// The network that `make demo` trains, an image a run.
void classifier(const Destination& to, const std::string& weights) {
  FashionNet net;
  nn::load_state_dict(net, load_safetensors(weights).tensors);
  const ImageSet images = fashion_mnist().test;
  auto scores = capture([&](const Tensor& image) { return net(image); });
  scores(images.batch(0, 1).images.realize());
  print(export_c(scores, to.folder,
                 {.name = "fashion",
                  .inputs = {"image"},
                  .outputs = {"scores"},
                  .tensors = nn::state_dict(net),
                  .machine = to.machine}));
  CComparison comparison(to.folder, "fashion");
  for (std::int64_t i = 0; i < 1000; i++) {
    comparison.add({images.batch(i, 1).images.realize()},
                   [&](const Tensors& given) { return Tensors{scores(given[0])}; });
  }
  comparison.write();
}

// Its training, parameters and what Adam keeps of them included: the losses of a hundred steps.
void training(const Destination& to) {
  FashionNet net;
  optim::Adam adam(nn::parameters(net), {.learning_rate = 1e-3});
  auto step = capture([&](const Tensor& images, const Tensor& labels) {
    const Tensor loss = cross_entropy(net(images), labels.cast(DType::Int32));
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  const ImageSet images = fashion_mnist().train;
  const auto batch = [&](std::int64_t number) {
    const Batch b = images.batch(32 * number, 32);
    return Tensors{b.images.realize(), b.labels.realize()};
  };
  step(batch(0)[0], batch(0)[1]);
  print(export_c(step, to.folder,
                 {.name = "training",
                  .inputs = {"images", "labels"},
                  .outputs = {"loss"},
                  .tensors = nn::state_dict(net),
                  .machine = to.machine}));
  // Roundings grow from step to step.
  CComparison comparison(to.folder, "training", 1e-2);
  for (std::int64_t i = 1; i <= 100; i++) {
    comparison.add(batch(i),
                   [&](const Tensors& given) { return Tensors{step(given[0], given[1])}; });
  }
  comparison.write();
}

// A filter for sound: a GRU over blocks of 64 samples, which remembers what it heard before.
struct Filter {
  nn::GRU gru{1, 16};
  nn::Linear output{16, 1};
  mutable Tensor hidden = Tensor::zeros({1, 16}).realize();

  Tensor operator()(const Tensor& samples) const {
    const SequenceResult r = gru(samples.unsqueeze(1), hidden);
    hidden.assign(r.h);
    return output(r.output).flatten();
  }
};

void stream(const Destination& to) {
  const Filter filter;
  auto block = capture([&](const Tensor& samples) { return filter(samples); });
  block(Tensor::zeros({64}).realize());
  StateDict tensors = nn::state_dict(filter.gru);
  tensors.push_back({"hidden", filter.hidden});
  print(export_c(block, to.folder,
                 {.name = "stream",
                  .inputs = {"samples"},
                  .outputs = {"filtered"},
                  .tensors = tensors,
                  .machine = to.machine}));
  CComparison comparison(to.folder, "stream");
  for (int i = 0; i < 1000; i++) {
    comparison.add({Tensor::uniform({64}, -1, 1).realize()},
                   [&](const Tensors& given) { return Tensors{block(given[0])}; });
  }
  comparison.write();
}

// Results by name as results in order.
Tensors results_of(const onnx::Model& model, const std::map<std::string, onnx::Value>& given) {
  const auto outputs = model.run(given);
  Tensors results;
  for (const onnx::Port& port : model.outputs()) results.push_back(outputs.at(port.name).tensor());
  return results;
}

// Faces in an image; what the image shows does not matter here.
void blazeface(const Destination& to, const std::string& path) {
  const onnx::Model model(path);
  const std::string input = model.inputs()[0].name;
  const Shape shape = onnx::shape_of(model.inputs()[0], {});
  print(export_c(model, {}, to.folder, {.name = "blazeface", .machine = to.machine}));
  results_of(model, {{input, Tensor::zeros(shape).realize()}});
  CComparison comparison(to.folder, "blazeface");
  for (int i = 0; i < 20; i++) {
    comparison.add({Tensor::uniform(shape, -1, 1).realize()}, [&](const Tensors& given) {
      return results_of(model, {{input, given[0]}});
    });
  }
  comparison.write();
}

// Speech in 512 samples of sound and a state, which is a result too.
void silero(const Destination& to, const std::string& path) {
  const onnx::Model model(path);
  const Tensor rate = Tensor::scalar(std::int64_t{16000}).realize();
  print(export_c(
      model,
      {.sizes = {{"input.0", 1}, {"input.1", 512}, {"state.1", 1}}, .constants = {{"sr", rate}}},
      to.folder, {.name = "silero", .machine = to.machine}));
  Tensor state = Tensor::zeros({2, 1, 128}).realize();
  const auto hear = [&](const Tensors& given) {
    return results_of(model, {{"input", given[0]}, {"state", given[1]}, {"sr", rate}});
  };
  hear({Tensor::zeros({1, 512}).realize(), state});
  CComparison comparison(to.folder, "silero", 1e-4);
  for (int i = 0; i < 200; i++) {
    state = comparison.add({Tensor::uniform({1, 512}, -0.3, 0.3).realize(), state}, hear)[1];
  }
  comparison.write();
}

}  // namespace

int main(int arguments, char** argument) {
  const std::string what = arguments > 3 ? argument[1] : "";
  const std::string file = arguments > 4 ? argument[4] : "";
  try {
    const Destination to = arguments > 3 ? Destination{argument[2], argument[3]} : Destination{};
    if (what == "classifier") return classifier(to, file), 0;
    if (what == "training") return training(to), 0;
    if (what == "stream") return stream(to), 0;
    if (what == "blazeface") return blazeface(to, file), 0;
    if (what == "silero") return silero(to, file), 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "export_c: %s\n", error.what());
    return 1;
  }
  std::fprintf(
      stderr,
      "usage: export_c classifier|training|stream|blazeface|silero MACHINE FOLDER [FILE]\n");
  return 2;
}
