// webgpu_test.cpp -- models for browsers, without a browser: what stands in the files, and what a
// library of WebGPU makes of them where there is one (tests/backends/webgpu/fetch.sh).
#include <croze/croze.h>
#include <croze/nn/nn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "croze/backends/webgpu/webgpu_device.h"
#include "croze/export/webgpu/model.h"
#include "player.h"
#include "support/files.h"
#include "support/networks.h"

namespace croze {
namespace {

using namespace croze::test;

class ExportedWeb : public FilesTest {
 protected:
  std::string out() const { return path("out"); }
  std::string text(const std::string& name) const { return content_of(out() + "/" + name); }
};

// ---- what is written ----------------------------------------------------------------------------

auto affine() {
  const Tensor w = Tensor::uniform({4, 3}, -1, 1).realize(), b = Tensor::ones({3}).realize();
  auto step = capture([w, b](const Tensor& x) { return matmul(x, w) + b; });
  step(Tensor::zeros({2, 4}));
  return step;
}

TEST_F(ExportedWeb, AFolderHasAModuleItsTypesWeightsAndAPage) {
  const WebGpuExportSummary summary = export_webgpu(affine(), out(), {.name = "affine"});
  std::vector<std::string> files;
  for (const char* name : {"affine.js", "affine.d.ts", "affine.weights", "index.html"}) {
    files.push_back((std::filesystem::path(out()) / name).string());
  }
  EXPECT_EQ(summary.files, files);
  EXPECT_EQ(summary.weight_bytes, std::ssize(text("affine.weights")));
  EXPECT_NE(text("index.html").find("from \"./affine.js\""), std::string::npos);
  EXPECT_EQ(text("index.html").find("@NAME@"), std::string::npos);
  EXPECT_NE(text("affine.js").find("export async function load("), std::string::npos);
}

// The members of an interface, one a line: "name: type".
std::vector<std::string> members(const std::string& types, const std::string& interface) {
  const std::size_t begin = types.find("export interface " + interface + " {\n");
  EXPECT_NE(begin, types.npos) << interface;
  std::vector<std::string> lines;
  std::string rest = types.substr(begin, types.find("\n}", begin) - begin);
  while (rest.find('\n') != rest.npos) {
    rest.erase(0, rest.find('\n') + 1);
    const std::string line = rest.substr(0, rest.find('\n'));
    if (line.find("/**") == line.npos) lines.push_back(line.substr(2));
  }
  return lines;
}

TEST_F(ExportedWeb, TypesAreThoseOfInputsResultsAndState) {
  Tensor count = Tensor::zeros({2}, DType::Int32).realize();
  auto step = capture([&](const Tensor& a, const Tensor& b) {
    count += 1;
    return std::vector<Tensor>{a.cast(DType::Int64), a.cast(DType::BFloat16), b > 0.,
                               b.cast(DType::UInt16)};
  });
  step(Tensor::zeros({2, 3}, DType::Int8), Tensor::zeros({5}));
  export_webgpu(step, out(),
                {.name = "typed",
                 .inputs = {"1st", "float"},
                 .outputs = {"a", "b", "a", "c"},
                 .tensors = {{"my.count", count}}});
  using Lines = std::vector<std::string>;
  const std::string types = text("typed.d.ts");
  EXPECT_EQ(members(types, "Inputs"), (Lines{"x1st: Int8Array;", "float: Float32Array;"}));
  EXPECT_EQ(members(types, "Outputs"),
            (Lines{"a: BigInt64Array;", "b: Uint16Array;", "a_2: Uint8Array;", "c: Uint16Array;"}));
  EXPECT_EQ(members(types, "State"), (Lines{"my_count: Int32Array;"}));
  EXPECT_NE(types.find("/** 1st: int8, shape (2, 3). */"), types.npos) << types;
  EXPECT_EQ(types.find("Sizes"), types.npos);
}

TEST_F(ExportedWeb, OpenSizesAreGivenToARun) {
  auto step = capture([](const Tensor& x) { return cat({x, x}, 0).sum(1); });
  step.open("input 0", 0, Dim("length", 4, 400, 4));
  for (std::int64_t n : {8, 20}) step(Tensor::zeros({n, 3}));
  export_webgpu(step, out(), {.name = "open", .inputs = {"x"}, .outputs = {"y"}});
  const std::string types = text("open.d.ts");
  EXPECT_EQ(members(types, "Sizes"), (std::vector<std::string>{"length: number;"}));
  EXPECT_NE(types.find("From 4 to 400, a multiple of 4."), types.npos) << types;
  EXPECT_NE(types.find("run(inputs: Inputs, sizes: Sizes): Promise<Outputs>;"), types.npos);
  EXPECT_NE(types.find("float32, shape (length, 3)"), types.npos) << types;
}

TEST_F(ExportedWeb, WhatCannotLeaveIsRefusedAndLeavesNothing) {
  EXPECT_NE(error_of([&] {
              export_webgpu(affine(), out(), {.name = "two words"});
            }).find("no identifier"),
            std::string::npos);
  auto wide = capture([](const Tensor& x) { return x * 2. + 1.; });
  wide(Tensor::zeros({3}, DType::Float64));
  const std::string error = error_of([&] { export_webgpu(wide, out()); });
  EXPECT_NE(error.find("device WEBGPU has no float64"), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(out()));
}

// ---- memory -------------------------------------------------------------------------------------

// What is read into the first memories one after the other is where kernels look for it.
TEST(WebModel, WeightsLieOnTheDeviceAsInTheFile) {
  const Mlp net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  step(Tensor::zeros({2, 8}));
  const web::WebModel model = web::make_web_model(step.step().open_recording(), {});
  ASSERT_FALSE(model.weights.empty());
  for (std::size_t i = 0; i < model.weights.size(); i++) {
    const web::Placed at = model.weights_at[i];
    std::int64_t offset = at.offset;
    for (int m = 0; m < at.memory; m++) offset += model.memories[static_cast<std::size_t>(m)];
    EXPECT_EQ(offset, model.file.weights[i]);
    EXPECT_LT(at.memory, model.file_memories);
  }
}

// No dispatch binds one piece of memory twice, or asks for more than every device has.
void expect_fits(const web::WebModel& model) {
  EXPECT_LE(model.needs.storage_buffers, 8);
  for (const web::Dispatch& d : model.dispatches) {
    for (std::size_t i = 0; i < d.pieces.size(); i++) {
      const wgsl::Piece& a = d.pieces[i];
      EXPECT_EQ(a.offset % 256, 0u);
      EXPECT_EQ(a.bytes % 4, 0u);
      EXPECT_LE(a.offset + a.bytes, static_cast<std::uint64_t>(model.memories[a.memory]));
      for (std::size_t k = 0; k < i; k++) {
        const wgsl::Piece& b = d.pieces[k];
        EXPECT_FALSE(a.memory == b.memory && a.offset < b.offset + b.bytes &&
                     b.offset < a.offset + a.bytes);
      }
    }
  }
}

// ---- what a device makes of it ------------------------------------------------------------------

class PlayedWeb : public testing::Test {
 protected:
  void SetUp() override {
    if (!Player::is_possible()) GTEST_SKIP() << "no library of WebGPU (CROZE_WEBGPU_LIBRARY)";
  }

  // Runs of the exported step give what the step gives, and go on from where it stands.
  template <typename F>
  static void expect_same(Captured<F>& step, const std::vector<std::vector<Tensor>>& runs,
                          double tolerance, const WebGpuExportOptions& options = {}) {
    const web::WebModel model = web::make_web_model(step.step().open_recording(), options);
    expect_fits(model);
    Player player(model);
    for (const std::vector<Tensor>& inputs : runs) {
      const std::vector<std::string> results = player.run(inputs);
      const std::vector<Tensor> expected = call(step, inputs);
      ASSERT_EQ(results.size(), expected.size());
      for (std::size_t i = 0; i < results.size(); i++) {
        expect_near(results[i], expected[i], tolerance);
      }
    }
  }

 private:
  template <typename F>
  static std::vector<Tensor> call(Captured<F>& step, const std::vector<Tensor>& inputs) {
    if constexpr (std::is_invocable_v<Captured<F>&, Tensor, Tensor>) {
      return tensors(step(inputs.at(0), inputs.at(1)));
    } else {
      return tensors(step(inputs.at(0)));
    }
  }
  static std::vector<Tensor> tensors(Tensor one) { return {std::move(one)}; }
  static std::vector<Tensor> tensors(std::vector<Tensor> all) { return all; }

  static void expect_near(const std::string& bytes, const Tensor& expected, double tolerance) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::ranges::copy(bytes, reinterpret_cast<char*>(values.data()));
    const std::vector<float> truth = expected.to_vector<float>();
    ASSERT_EQ(values.size(), truth.size());
    double greatest = 0;
    for (float v : truth) greatest = std::max(greatest, std::abs(double{v}));
    for (std::size_t i = 0; i < truth.size(); i++) {
      ASSERT_NEAR(values[i], truth[i], tolerance * greatest) << "at " << i;
    }
  }
};

std::vector<std::vector<Tensor>> random_runs(int count, const Shape& shape) {
  std::vector<std::vector<Tensor>> runs;
  for (int i = 0; i < count; i++) runs.push_back({Tensor::uniform(shape, -1, 1).realize()});
  return runs;
}

TEST_F(PlayedWeb, AnMlp) {
  const Mlp net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  step(Tensor::zeros({5, 8}));
  expect_same(step, random_runs(3, {5, 8}), 1e-6);
}

TEST_F(PlayedWeb, ATrainingStep) {
  const Mlp net;
  optim::Adam adam(nn::parameters(net), {.learning_rate = 0.01});
  auto step = capture([&](const Tensor& x, const Tensor& y) {
    const Tensor loss = cross_entropy(net(x), y);
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  std::vector<std::vector<Tensor>> runs = random_runs(10, {32, 8});
  for (std::vector<Tensor>& run : runs) {
    run.push_back(run[0].narrow(1, 0, 3).argmax(1).cast(DType::Int32).realize());
  }
  step(runs[0][0], runs[0][1]);
  expect_same(step, runs, 1e-4, {.tensors = nn::state_dict(net)});
}

// Parts of one tensor that one kernel reads and another writes.
TEST_F(PlayedWeb, PartsOfOneMemory) {
  Tensor rows = Tensor::uniform({4, 24}, -1, 1).realize();
  auto step = capture([&](const Tensor& x) {
    rows.assign(cat({rows.narrow(0, 1, 3), x.reshape({1, 24})}, 0));
    return rows.sum(0) + rows.narrow(0, 2, 1).squeeze(0);
  });
  step(Tensor::zeros({24}));
  expect_same(step, random_runs(5, {24}), 1e-6);
}

TEST_F(PlayedWeb, AnInputThatIsAssignedToAndAResultThatIsGivenTwice) {
  auto step = capture([](const Tensor& x) {
    Tensor own = x;
    own.assign(own * 2.);
    const Tensor y = own + 1.;
    return std::vector<Tensor>{y, y};
  });
  step(Tensor::zeros({7}));
  expect_same(step, random_runs(2, {7}), 0);
}

// What stands between this and the next backquote.
std::string quoted_after(const std::string& text, std::string_view mark) {
  const std::size_t begin = text.find(mark) + mark.size();
  return text.substr(begin, text.find('`', begin) - begin);
}

// The modules that stand in the file, by name.
std::vector<std::pair<std::string, std::string>> modules_in(const std::string& text) {
  constexpr std::string_view name = "{ name: \"", code = "code: /* wgsl */ `";
  constexpr std::string_view place = "${helpers}";
  const std::string helpers = quoted_after(text, "const helpers = /* wgsl */ `");
  std::vector<std::pair<std::string, std::string>> modules;
  for (std::size_t at = text.find("  modules: ["); (at = text.find(code, at)) != text.npos;) {
    const std::size_t named = text.rfind(name, at) + name.size();
    std::string module = quoted_after(text.substr(at), code);
    module.replace(module.find(place), place.size(), helpers);
    modules.emplace_back(text.substr(named, text.find('"', named) - named), std::move(module));
    at += code.size();
  }
  return modules;
}

struct ConvNet {
  nn::Conv2d conv{1, 4, 3};
  nn::Linear output{4 * 5 * 5, 3};
  Tensor operator()(const Tensor& x) const {
    return output(max_pool2d(relu(conv(x)), 2).flatten(1));
  }
};

TEST_F(ExportedWeb, EveryKernelIsTakenByTheCompiler) {
  const std::unique_ptr<Device> device = make_webgpu_device();
  if (!device) GTEST_SKIP() << "no library of WebGPU (CROZE_WEBGPU_LIBRARY)";
  const ConvNet net;
  optim::Adam adam(nn::parameters(net), {.learning_rate = 0.01});
  auto step = capture([&](const Tensor& x, const Tensor& y) {
    const Tensor loss = cross_entropy(net(x), y);
    adam.step(loss.gradient(adam.parameters));
    return std::vector<Tensor>{loss, softmax(dropout(x.flatten(1), 0.5, true), 1)};
  });
  step(Tensor::uniform({4, 1, 12, 12}, -1, 1), Tensor::zeros({4}, DType::Int32));
  const WebGpuExportSummary summary = export_webgpu(step, out(), {.name = "net"});
  const auto modules = modules_in(text("net.js"));
  EXPECT_EQ(std::ssize(modules), summary.kernels);
  EXPECT_GT(std::ssize(modules), 5);
  for (const auto& [name, code] : modules) EXPECT_NO_THROW(device->compile(name, code)) << name;
}

}  // namespace
}  // namespace croze
