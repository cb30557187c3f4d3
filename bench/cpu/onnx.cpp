// onnx.cpp -- whole models, as bench/cpu/models/fetch.sh fetches them.
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "cpu/case.h"
#include "croze/base/options.h"
#include "croze/io/onnx/model.h"

namespace croze::bench {
namespace {

struct NamedInput {
  const char* name;
  Input input;
};

struct Row {
  const char* file;
  std::vector<NamedInput> inputs;
  std::vector<std::pair<const char*, std::int64_t>> scalars = {};  // of Int64
  double most_compile_seconds = 0;
};

const Input picture{{1, 3, 224, 224}};

const Row rows[] = {
    {"face_detection_front_128x128_barracuda.onnx", {{"input:0", {{1, 128, 128, 3}}}}},
    {"face_detection_back_256x256_barracuda.onnx", {{"input:0", {{1, 256, 256, 3}}}}},
    {"silero_vad_v5.onnx", {{"input", {{1, 576}}}, {"state", {{2, 1, 128}}}}, {{"sr", 16000}}},
    {"light_bvlc_alexnet.onnx", {{"data_0", picture}}},
    {"light_densenet121.onnx", {{"data_0", picture}}},
    {"light_inception_v1.onnx", {{"data_0", picture}}},
    {"light_inception_v2.onnx", {{"data_0", picture}}},
    {"light_resnet50.onnx", {{"gpu_0/data_0", picture}}, {}, 1.0},
    {"light_shufflenet.onnx", {{"gpu_0/data_0", picture}}},
    {"light_squeezenet.onnx", {{"data_0", picture}}},
    {"light_vgg19.onnx", {{"data_0", picture}}},
    {"light_zfnet512.onnx", {{"gpu_0/data_0", picture}}},
    {"ch_PP-OCRv4_det_infer.onnx", {{"x", {{1, 3, 320, 320}}}}},
    {"ch_PP-OCRv4_rec_infer.onnx", {{"x", {{1, 3, 48, 320}}}}},
    {"ch_ppocr_mobile_v2.0_cls_infer.onnx", {{"x", {{1, 3, 48, 192}}}}},
    {"ddddocr_common_det.onnx", {{"images", {{1, 3, 416, 416}}}}},
    {"magika_v3_3.onnx", {{"bytes", {{1, 2048}, DType::Int32, 257}}}},
    {"nudenet_320n.onnx", {{"images", {{1, 3, 320, 320}}}}},
};

// Runs of the model as a program runs it.  Where compiling has a limit, nothing compiled before is
// used.
Runs runs_of(const std::string& path, const Row& row, const std::vector<Tensor>& inputs) {
  const Options::Scope cold{
      {Option::Cache, row.most_compile_seconds > 0 ? false : Options::flag(Option::Cache)}};
  const auto model = std::make_shared<const onnx::Model>(path);
  std::map<std::string, onnx::Value> given;
  for (std::size_t i = 0; i < inputs.size(); i++) given.emplace(row.inputs[i].name, inputs[i]);
  for (const auto& [name, number] : row.scalars) {
    given.emplace(name, Tensor::scalar(number, {.dtype = DType::Int64}).realize());
  }
  const auto run = [model, given] { return model->run(given); };
  const std::map<std::string, onnx::Value> values = run();
  Runs runs{.kept = [run] { run(); }};
  for (const onnx::Port& port : model->outputs()) {
    runs.results.push_back(values.at(port.name).tensor());
  }
  return runs;
}

Case case_of(const std::string& path, const Row& row) {
  Json names = Json::array(), scalars = Json::object();
  for (const NamedInput& named : row.inputs) names.push_back(named.name);
  for (const auto& [name, number] : row.scalars) scalars[name] = number;
  Case c{.name = std::filesystem::path(row.file).stem().string(),
         .operation = "onnx",
         .options = {{"file", row.file}, {"inputs", names}, {"scalars", scalars}}};
  for (const NamedInput& named : row.inputs) c.inputs.push_back(named.input);
  c.most_compile_seconds = row.most_compile_seconds;
  c.tolerance = 1e-2;
  c.prepare = [path, &row](const std::vector<Tensor>& inputs) {
    return runs_of(path, row, inputs);
  };
  return c;
}

}  // namespace

Suite onnx_suite() {
  Suite suite{"onnx", Work::Runs, {}, {}};
  Group group{"models", {.geometric_mean = 1, .worst = 0.7}, {}};
  for (const Row& row : rows) {
    const std::string path = std::string(CROZE_BENCH_MODELS "/") + row.file;
    if (std::filesystem::exists(path)) {
      group.cases.push_back(case_of(path, row));
    } else {
      suite.missing.emplace_back(row.file);
    }
  }
  suite.groups.push_back(std::move(group));
  return suite;
}

}  // namespace croze::bench
