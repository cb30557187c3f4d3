// web_models.cpp -- exports models for browsers, with what they compute on CPU beside them:
//
//     web_models FOLDER MODELS
//
// makes a folder for each model, in which inputs.bin and outputs.bin hold the arrays of all runs
// one after the other, and truth.json, which names the models.  MODELS is where the files of ONNX
// are that tests/models/fetch.sh fetches; those that are missing are left out.
#include <croze/croze.h>
#include <croze/export/onnx.h>
#include <croze/nn/nn.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "examples/data/fashion_mnist.h"
#include "examples/data/fashion_net.h"

using namespace croze;

namespace {

using Tensors = std::vector<Tensor>;
using Json = nlohmann::ordered_json;

std::string root;            // the folder
Json truth = Json::array();  // of models

// The runs of one model.  Values may differ from CPU's by `tolerance` times the greatest.
class Runs {
 public:
  Runs(std::string name, double tolerance)
      : folder_(root + "/" + name),
        inputs_(folder_ + "/inputs.bin", std::ios::binary),
        outputs_(folder_ + "/outputs.bin", std::ios::binary),
        about_{{"name", name}, {"tolerance", tolerance}, {"runs", Json::array()}} {}
  ~Runs() { truth.push_back(about_); }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  // `sizes`: those that are open.
  void add(const Tensors& inputs, const Tensors& outputs, const Json& sizes = Json::object()) {
    about_["runs"].push_back(sizes);
    for (const Tensor& x : inputs) write(inputs_, x);
    for (const Tensor& y : outputs) write(outputs_, y);
  }

 private:
  static void write(std::ofstream& file, const Tensor& tensor) {
    const std::vector<std::byte> bytes = tensor.to_bytes();
    file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }

  std::string folder_;
  std::ofstream inputs_, outputs_;
  Json about_;
};

template <typename F>
void export_to(const Captured<F>& step, WebGpuExportOptions options) {
  const std::string folder = root + "/" + options.name;
  export_webgpu(step, folder, options);
}

// ---- networks -----------------------------------------------------------------------------------

// A little training, so that classes are told apart; then an image a run, and the training itself.
void fashion(const ImageSet& train, const ImageSet& test) {
  FashionNet net;
  optim::Adam adam(nn::parameters(net), {.learning_rate = 2e-3});
  auto step = capture([&](const Tensor& images, const Tensor& labels) {
    const Tensor loss = cross_entropy(net(images), labels.cast(DType::Int32));
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  const auto batch = [&](std::int64_t number) {
    const Batch b = train.batch(32 * number, 32);
    return Tensors{b.images.realize(), b.labels.realize()};
  };
  for (int i = 0; i < 100; i++) step(batch(i)[0], batch(i)[1]);

  auto scores = capture([&](const Tensor& image) { return net(image); });
  scores(test.batch(0, 1).images.realize());
  export_to(scores, {.name = "fashion", .inputs = {"image"}, .outputs = {"scores"}});
  {
    Runs runs("fashion", 1e-5);
    for (std::int64_t i = 0; i < 100; i++) {
      const Tensor image = test.batch(i, 1).images.realize();
      runs.add({image}, {scores(image)});
    }
  }
  export_to(step, {.name = "training",
                   .inputs = {"images", "labels"},
                   .outputs = {"loss"},
                   .tensors = nn::state_dict(net)});
  Runs runs("training", 1e-3);  // roundings grow from step to step
  for (int i = 100; i < 110; i++) runs.add(batch(i), {step(batch(i)[0], batch(i)[1])});
}

// Results by name as results in order.
Tensors results_of(const onnx::Model& model, const std::map<std::string, onnx::Value>& given) {
  const auto outputs = model.run(given);
  Tensors results;
  for (const onnx::Port& port : model.outputs()) results.push_back(outputs.at(port.name).tensor());
  return results;
}

// Faces in images.
void blazeface(const std::string& models) {
  const std::string path = models + "/face_detection_front_128x128_barracuda.onnx";
  if (!std::filesystem::exists(path)) return;
  const onnx::Model model(path);
  export_webgpu(model, {}, root + "/blazeface", {.name = "blazeface"});
  const std::string input = model.inputs()[0].name;
  const Shape shape = onnx::shape_of(model.inputs()[0], {});
  Runs runs("blazeface", 1e-5);
  for (int i = 0; i < 100; i++) {
    const Tensor image = Tensor::uniform(shape, -1, 1).realize();
    runs.add({image}, results_of(model, {{input, image}}));
  }
}

// Speech in 512 samples of sound and a state, which is a result too.
void silero(const std::string& models) {
  const std::string path = models + "/silero_vad_v5.onnx";
  if (!std::filesystem::exists(path)) return;
  const onnx::Model model(path);
  const Tensor rate = Tensor::scalar(std::int64_t{16000}).realize();
  export_webgpu(
      model,
      {.sizes = {{"input.0", 1}, {"input.1", 512}, {"state.1", 1}}, .constants = {{"sr", rate}}},
      root + "/silero", {.name = "silero"});
  Tensor state = Tensor::zeros({2, 1, 128}).realize();
  Runs runs("silero", 1e-4);
  for (int i = 0; i < 20; i++) {
    const Tensor sound = Tensor::uniform({1, 512}, -0.3, 0.3).realize();
    const Tensors results = results_of(model, {{"input", sound}, {"state", state}, {"sr", rate}});
    runs.add({sound, state}, results);
    state = results[1];
  }
}

// ---- steps that ask for one thing each ----------------------------------------------------------

void open_sizes() {
  const Tensor w = (Tensor::arange(5 * 4).cast(DType::Float32).reshape({5, 4}) / 10).realize();
  auto step = capture([&](const Tensor& x) {
    const Tensor p = softmax(matmul(x, w), 0);
    return std::pair(p, (x - x.mean(0)).square().sum());
  });
  step.open("input 0", 0, Dim("length", 8, 800, 8));
  const auto rows = [](std::int64_t n) { return Tensor::uniform({n, 5}, -1, 1).realize(); };
  for (std::int64_t length : {16, 48}) step(rows(length));
  export_to(step, {.name = "open", .inputs = {"x"}, .outputs = {"p", "spread"}});
  Runs runs("open", 1e-5);
  for (std::int64_t length : {8, 24, 800, 16, 400}) {
    const Tensor x = rows(length);
    const auto [p, spread] = step(x);
    runs.add({x}, {p, spread}, {{"length", length}});
  }
}

// More weights than every device binds at once.
void large() {
  const Tensor w = Tensor::uniform({4096, 4500}, -1, 1).realize();
  const Tensor v = Tensor::uniform({4500, 4096}, -1, 1).realize();
  auto step = capture([&](const Tensor& x) { return matmul(matmul(x, w), v); });
  const Tensor x = Tensor::uniform({1, 4096}, -1, 1).realize();
  step(x);
  export_to(step, {.name = "large", .inputs = {"x"}, .outputs = {"y"}});
  Runs("large", 1e-5).add({x}, {step(x)});
}

// Random keys, a state, an input that is assigned to, and a result that is given twice.
void state() {
  Tensor sum = Tensor::zeros({4, 16}).realize();
  auto step = capture([&](const Tensor& x) {
    Tensor own = x;
    own.assign(own * 2.);
    sum.assign(sum.flip({0}) + own + Tensor::rand({4, 16}));
    const Tensor again = own + 1.;
    return std::vector<Tensor>{sum + 0., again, again};
  });
  const Tensor x = Tensor::uniform({4, 16}, -1, 1).realize();
  step(x);
  export_to(step, {.name = "state", .inputs = {"x"}, .tensors = {{"sum", sum}}});
  Runs runs("state", 1e-6);
  for (int i = 0; i < 5; i++) runs.add({x}, step(x));
}

// Elements of every size, and arrays that are no whole words.
void types() {
  auto step = capture([](const Tensor& x) {
    const Tensor y = x * 3. - 1.;
    return std::vector<Tensor>{y.cast(DType::Int8),      y.cast(DType::UInt16),
                               y.cast(DType::Int64),     y.cast(DType::BFloat16),
                               y.cast(DType::Float16),   y > 0.,
                               x.cast(DType::Float8E4M3)};
  });
  const Tensor x =
      Tensor::from_data(std::vector<float>{0, 1.25f, 7, -3, 20.5f, -40, 0.1f}, {7}).realize();
  step(x);
  export_to(step, {.name = "types"});
  Runs("types", 0).add({x}, step(x));
}

void run_all(const std::string& models) {
  manual_seed(1);
  const FashionMnist data = fashion_mnist();
  fashion(data.train, data.test);
  blazeface(models);
  silero(models);
  open_sizes();
  large();
  state();
  types();
  std::ofstream(root + "/truth.json") << truth.dump(1) << "\n";
}

}  // namespace

int main(int arguments, char** argument) {
  if (arguments != 3) {
    std::fprintf(stderr, "usage: web_models FOLDER MODELS\n");
    return 2;
  }
  root = argument[1];
  try {
    run_all(argument[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "web_models: %s\n", error.what());
    return 1;
  }
  return 0;
}
