// onnx.cpp -- croze-bench onnx: models beside onnxruntime.
//
// Open sizes: models of torch.onnx that leave sizes open run at twenty lists of them.  The first
// run compiles; none after it may, and all results are held against onnxruntime's.  Small models:
// the time of a run beside onnxruntime's with as many threads, which is measured before and after,
// the better of the two counting.  A Python with PyTorch and onnxruntime makes and runs the models
// (onnx_models.py, onnx_times.py).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "command_line/temporary_folder.h"
#include "croze/base/base64.h"
#include "croze/base/error.h"
#include "croze/io/npy.h"
#include "croze/io/onnx/model.h"
#include "croze/run/statistics.h"
#include "croze/tensor/random/random.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

namespace fs = std::filesystem;

constexpr double most_distance = 1e-4, most_ratio = 1.0;
constexpr int runs_at_open_sizes = 20;

struct OnnxOptions {
  bool as_json = false;
  std::string python;
  int threads = 1;
  double seconds = 0.5;
  std::string in_this_process;  // the folder of small models that a child times
};

using Inputs = std::map<std::string, onnx::Value>;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  check(file.good(), "cannot read {}", path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void run_shell(const std::string& line) {
  const ProcessResult result = run_process({"sh", "-c", line});
  check(result.status == 0, "{} failed", line);
}

// ---- open sizes -------------------------------------------------------------------------------

std::vector<Dim> bounds_of(const fs::path& file) {
  std::vector<Dim> dims;
  const Json bounds = Json::parse(read_file(file));
  for (const Json& d : bounds.elements()) {
    dims.emplace_back(d["name"].get<std::string>(), d["least"].get<std::int64_t>(),
                      d["most"].get<std::int64_t>(), d["multiple"].get<std::int64_t>());
  }
  return dims;
}

Inputs inputs_of(const std::string& run) {
  Inputs inputs;
  for (const NamedTensor& t : load_npz(run + ".inputs.npz")) inputs.emplace(t.name, t.tensor);
  return inputs;
}

// The greatest distance of a result from onnxruntime's, relative to numbers above one.
double distance(const std::map<std::string, onnx::Value>& outputs, const std::string& run) {
  double most = 0;
  for (const NamedTensor& wanted : load_npz(run + ".outputs.npz")) {
    const Tensor got = outputs.at(wanted.name).tensor();
    check(got.shape() == wanted.tensor.shape(), "{}: {} is {} and not {}", run, wanted.name,
          got.shape(), wanted.tensor.shape());
    const auto a = got.to_vector<float>(), b = wanted.tensor.to_vector<float>();
    for (std::size_t i = 0; i < a.size(); i++) {
      const double apart = std::abs(a[i] - b[i]) / std::max(1.0f, std::abs(b[i]));
      most = apart <= most ? most : std::isnan(apart) ? HUGE_VAL : apart;
    }
  }
  return most;
}

void add_open_sizes(Json& rows, const fs::path& folder) {
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".onnx") continue;
    const std::string name = file.path().stem().string(), base = (folder / name).string();
    const onnx::Model model(file.path().string(), bounds_of(base + ".json"));
    double most = 0;
    RunStatistics before;
    for (int run = 0; run < runs_at_open_sizes; run++) {
      if (run == 1) before = run_statistics();
      const std::string path = fmt::format("{}.{}", base, run);
      most = std::max(most, distance(model.run(inputs_of(path)), path));
    }
    const RunStatistics after = run_statistics();
    const auto add = [&](const char* what, double value, double limit) {
      rows.push_back(
          limited(fmt::format("{}, open sizes: {}", name, what), value, "", limit, Limit::Most));
    };
    add("schedules and kernels made after the first of 20 sizes",
        static_cast<double>(after.schedules_built - before.schedules_built +
                            after.kernels_compiled - before.kernels_compiled),
        0);
    add("distance from onnxruntime", most, most_distance);
  }
}

// ---- small models -----------------------------------------------------------------------------

struct Small {
  std::string name, file;
  std::map<std::string, std::int64_t> sizes;  // that the file leaves open
};

std::vector<Small> small_models(const fs::path& folder) {
  std::vector<Small> models;
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".onnx") continue;
    models.push_back({file.path().stem().string(), file.path().string(), {}});
  }
  std::ranges::sort(models, {}, &Small::name);
  const std::string faces = CROZE_BENCH_MODELS "/face_detection_front_128x128_barracuda.onnx",
                    speech = CROZE_BENCH_MODELS "/silero_vad_v5.onnx";
  if (fs::exists(faces)) models.push_back({"BlazeFace", faces, {}});
  if (fs::exists(speech)) {
    models.push_back({"Silero VAD v5", speech, {{"input.0", 1}, {"input.1", 512}, {"state.1", 1}}});
  }
  return models;
}

Inputs inputs_of(const onnx::Model& model, const Small& small) {
  Inputs inputs;
  for (const onnx::Port& port : model.inputs()) {
    const Shape shape = onnx::shape_of(port, small.sizes);
    const bool is_float = port.element == onnx::ElementType::Float;
    inputs.emplace(port.name,
                   is_float ? Tensor::uniform(shape, -1, 1).realize()
                            : Tensor::full(shape, std::int64_t{16000}, {.dtype = DType::Int64}));
  }
  return inputs;
}

std::string python_models(const std::vector<Small>& models) {
  std::string text = "MODELS = {";
  for (const Small& small : models) {
    const std::string bytes = read_file(small.file);
    text += fmt::format("'{}': ('{}', {{", small.name,
                        to_base64(std::as_bytes(std::span(bytes.data(), bytes.size()))));
    const onnx::Model model(small.file);
    for (const onnx::Port& port : model.inputs()) {
      const Shape shape = onnx::shape_of(port, small.sizes);
      text += fmt::format("'{}': [{}], ", port.name, fmt::join(shape, ", "));
    }
    text += "}),\n";
  }
  return text + "}\n";
}

// What onnxruntime takes.
Json their_times(const std::vector<Small>& models, const OnnxOptions& options, const fs::path& at) {
  const fs::path script = at / "times.py", result = at / "times.json";
  std::ofstream(script) << python_models(models)
                        << fmt::format("THREADS = {}\nSECONDS = {}\n", options.threads,
                                       options.seconds)
                        << read_file(CROZE_BENCH_SOURCES "/onnx_times.py");
  run_shell(fmt::format("{} - < '{}' > '{}'", options.python, script.string(), result.string()));
  return Json::parse(read_file(result));
}

double our_microseconds(const Small& small, const OnnxOptions& options) {
  const onnx::Model model(small.file);
  const Inputs inputs = inputs_of(model, small);
  for (int i = 0; i < 5; i++) (void)model.run(inputs);
  return interleaved({[&] { (void)model.run(inputs); }}, options.seconds)[0] * 1e6;
}

// In a process that has so many threads from its start.
Json our_times(const OnnxOptions& options, const fs::path& at) {
  return Json::parse(run_self({"onnx", "--in-this-process", (at / "small").string(), "--seconds",
                               fmt::format("{}", options.seconds)},
                              {{"CROZE_THREADS", fmt::format("{}", options.threads)}}));
}

void add_small_models(Json& rows, const OnnxOptions& options, const fs::path& at) {
  const std::vector<Small> models = small_models(at / "small");
  const Json before = their_times(models, options, at);
  const Json ours = our_times(options, at);
  const Json after = their_times(models, options, at);
  for (const Small& small : models) {
    const std::string& name = small.name;
    const double theirs = std::min(before["microseconds"][name].get<double>(),
                                   after["microseconds"][name].get<double>());
    const auto time = ours[name].get<double>();
    Json row =
        limited(name + ": time by onnxruntime's", time / theirs, "", most_ratio, Limit::Most);
    row["microseconds"] = time;
    row["onnxruntime_microseconds"] = theirs;
    rows.push_back(std::move(row));
  }
  for (const Small& small : models) {
    const std::string run = fs::path(small.file).replace_extension().string();
    if (!fs::exists(run + ".inputs.npz")) continue;
    rows.push_back(limited(small.name + ": distance from onnxruntime",
                           distance(onnx::Model(small.file).run(inputs_of(run)), run), "",
                           most_distance, Limit::Most));
  }
}

// ---- the suite --------------------------------------------------------------------------------

void run_onnx(const OnnxOptions& options) {
  if (!options.in_this_process.empty()) {
    Json times = Json::object();
    for (const Small& small : small_models(options.in_this_process)) {
      times[small.name] = our_microseconds(small, options);
    }
    fmt::print("{}\n", times.dump());
    return;
  }
  check(!options.python.empty(), "croze-bench onnx needs a Python: --python COMMAND");
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path();
  run_shell(fmt::format("{} - < '{}' | tar -x -C '{}'", options.python,
                        CROZE_BENCH_SOURCES "/onnx_models.py", folder.string()));
  Json rows = Json::array();
  add_open_sizes(rows, folder / "open");
  add_small_models(rows, options, folder);
  if (!options.as_json) print_limited(rows);
  finish_suite("onnx", rows, options.as_json, {{"threads_of_small_models", options.threads}});
}

}  // namespace

void add_onnx(const Command& program) {
  auto options = std::make_shared<OnnxOptions>();
  const Command command = program.subcommand("onnx", "Models of ONNX beside onnxruntime");
  command.option("--python", options->python,
                 "Command of a Python with PyTorch and onnxruntime, which makes the models");
  command.option("--threads", options->threads, "For the small models, of both");
  command.option("--seconds", options->seconds, "For each measurement");
  command.flag("--json", options->as_json, "One line of JSON");
  command.option("--in-this-process", options->in_this_process, "").hidden();
  command.action([options] { run_onnx(*options); });
}

}  // namespace croze::bench
