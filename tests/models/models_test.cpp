// Models that people use, against what onnxruntime 1.30 computed for the same inputs (record.mjs).
// The models themselves are fetched by fetch.sh into the folder CROZE_MODELS_FOLDER.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "croze/io/npy.h"
#include "croze/io/onnx/model.h"
#include "croze/run/statistics.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/random/random.h"

namespace croze {
namespace {

constexpr float tolerance = 1e-4f;

class OnnxModels : public testing::Test {
 protected:
  // The path of a model; "" if it is not there.
  static std::string model(const std::string& name) {
    const std::string path = std::string(CROZE_MODELS_FOLDER "/") + name;
    return std::filesystem::exists(path) ? path : "";
  }
  static std::map<std::string, Tensor> recorded(const std::string& name) {
    std::map<std::string, Tensor> arrays;
    for (const NamedTensor& t : load_npz(std::string(CROZE_RECORDED_FOLDER "/") + name)) {
      arrays[t.name] = t.tensor;
    }
    return arrays;
  }
  static float distance(const Tensor& a, const Tensor& b) {
    EXPECT_EQ(a.shape(), b.shape());
    const std::vector<float> x = a.to_vector<float>(), y = b.to_vector<float>();
    float most = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
      // Relative to numbers above one: coordinates are in pixels.
      most = std::max(most, std::abs(x[i] - y[i]) / std::max(1.0f, std::abs(y[i])));
    }
    return most;
  }

  static void compare_faces(const std::string& file, const std::string& record) {
    const std::string path = model(file);
    if (path.empty()) GTEST_SKIP() << file << " is not there: run tests/models/fetch.sh";
    const auto arrays = recorded(record);
    const onnx::Model faces(path);
    const Tensor image = arrays.at("image").cast(DType::Float32) / 127.5f - 1;
    const auto outputs = faces.run({{faces.inputs()[0].name, image}});
    EXPECT_EQ(outputs.size() + 1, arrays.size());
    for (const auto& [name, value] : outputs) {
      const float most = distance(value.tensor(), arrays.at("output." + name));
      EXPECT_LT(most, tolerance) << name;
      RecordProperty("distance of " + name, std::to_string(most));
    }
  }
};

TEST_F(OnnxModels, BlazeFaceFindsTheAstronaut) {
  compare_faces("face_detection_front_128x128_barracuda.onnx", "blazeface_front.npz");
}

TEST_F(OnnxModels, BlazeFaceForBackCamerasFindsTheAstronaut) {
  compare_faces("face_detection_back_256x256_barracuda.onnx", "blazeface_back.npz");
}

// Frame after frame, each with the state that the one before left.
TEST_F(OnnxModels, SileroHearsSpeech) {
  const std::string path = model("silero_vad_v5.onnx");
  if (path.empty()) GTEST_SKIP() << "silero_vad_v5.onnx is not there: run tests/models/fetch.sh";
  const auto arrays = recorded("silero_vad_v5.npz");
  const onnx::Model detector(path);
  const Tensor samples = arrays.at("samples");
  const std::vector<float> wanted = arrays.at("speech").to_vector<float>();
  const Tensor rate = Tensor::scalar(std::int64_t{16000});
  Tensor state = Tensor::zeros({2, 1, 128});
  float most = 0;
  for (std::int64_t frame = 0; frame < samples.size(0); frame++) {
    const Tensor input = samples.narrow(0, frame, 1).cast(DType::Float32) / 32768;
    const auto outputs = detector.run({{"input", input}, {"state", state}, {"sr", rate}});
    state = outputs.at("stateN").tensor();
    const float speech = outputs.at("output").tensor().item<float>();
    most = std::max(most, std::abs(speech - wanted[static_cast<std::size_t>(frame)]));
  }
  EXPECT_LT(most, tolerance);
  EXPECT_LT(distance(state, arrays.at("state")), tolerance);
  RecordProperty("distance", std::to_string(most));
}

// Several texts at once: the two sizes of a batch have no names, and are one.  Two texts are as
// many as the model has states, so some of what it computes is the same there, and the graph
// another.
TEST_F(OnnxModels, SileroHearsAnyNumberWithOneCompile) {
  const std::string path = model("silero_vad_v5.onnx");
  if (path.empty()) GTEST_SKIP() << "silero_vad_v5.onnx is not there: run tests/models/fetch.sh";
  const Dim batch[] = {Dim("input.0=state.1", 1, 32)};
  const onnx::Model open(path, batch), closed(path);
  const Tensor rate = Tensor::scalar(std::int64_t{16000});
  for (std::int64_t count = 20; count > 0; count--) {
    const Tensor input = Tensor::uniform({count, 512}, -0.3, 0.3).realize();
    const Tensor state = Tensor::uniform({2, count, 128}, -1, 1).realize();
    const auto before = run_statistics().schedules_built;
    const auto outputs = open.run({{"input", input}, {"state", state}, {"sr", rate}});
    EXPECT_TRUE(count == 20 || count == 2 || run_statistics().schedules_built == before) << count;
    const Tensor speech = outputs.at("output").tensor(), next = outputs.at("stateN").tensor();
    const auto alone = closed.run({{"input", input.narrow(0, 0, 1).realize()},
                                   {"state", state.narrow(1, 0, 1).realize()},
                                   {"sr", rate}});
    EXPECT_LT(distance(speech.narrow(0, 0, 1), alone.at("output").tensor()), 1e-5);
    EXPECT_LT(distance(next.narrow(1, 0, 1), alone.at("stateN").tensor()), 1e-5);
  }
}

}  // namespace
}  // namespace croze
