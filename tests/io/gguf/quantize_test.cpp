// GGUF files written piece by piece, and models in smaller types.
#include "croze/io/gguf/quantize.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "croze/base/options.h"
#include "croze/croze.h"
#include "croze/io/gguf/gguf.h"
#include "croze/io/gguf/writer.h"
#include "support/files.h"

namespace croze {
namespace {

using test::error_of;

std::string golden(const std::string& name) { return GGUF_GOLDEN "/" + name; }

class GgufFiles : public test::FilesTest {
 protected:
  // A file with tensors of these names and shapes, their elements 0, 1, ... by 1/8 to 16.
  std::string model(const std::vector<std::pair<std::string, Shape>>& tensors,
                    const GgufMetadata::Map& metadata = {}) const {
    StateDict state;
    for (const auto& [name, shape] : tensors) {
      std::vector<float> numbers(static_cast<std::size_t>(shape.numel()));
      for (std::size_t i = 0; i < numbers.size(); i++) {
        numbers[i] = static_cast<float>(i % 129) / 8;
      }
      state.push_back({name, Tensor::from_data(numbers, shape, {.device = "CPU"})});
    }
    save_gguf(path("model.gguf"), state, metadata);
    return path("model.gguf");
  }
};

// ---- writing ----------------------------------------------------------------------------------

class GgufCopy : public GgufFiles, public testing::WithParamInterface<const char*> {};

TEST_P(GgufCopy, AFileThatWasReadIsWrittenAgainByteForByte) {
  const std::string original = golden(GetParam());
  const MappedFile file(original);
  const GgufHeader header = read_gguf_header(file.data(), original);
  std::vector<GgufNamedValue> metadata;
  for (const std::string& name : header.metadata_order) {
    metadata.emplace_back(name, header.metadata.at(name));
  }
  std::vector<GgufTensorInfo> tensors;
  for (const GgufEntry& e : header.entries) tensors.push_back({e.name, e.shape, e.type->type});
  GgufWriter writer(path("copy.gguf"), metadata, tensors);
  for (const GgufEntry& e : header.entries) {
    const auto data =
        file.data().subspan(static_cast<std::size_t>(e.offset), static_cast<std::size_t>(e.bytes));
    writer.write(data.first(data.size() / 3));
    writer.write(data.subspan(data.size() / 3));
  }
  writer.commit();
  EXPECT_TRUE(content(path("copy.gguf")) == content(original));
}

INSTANTIATE_TEST_SUITE_P(Files, GgufCopy,
                         testing::Values("little.gguf", "plain.gguf", "blocks.gguf",
                                         "split-00002-of-00003.gguf"));

TEST_F(GgufFiles, AnEmptyTensorIsReadWhereverItStands) {
  for (const Shape& last : {Shape{0}, Shape{2, 0}, Shape{0, 32}}) {
    const std::string name = model({{"first", {0}}, {"weight", {3}}, {"last", last}});
    std::string bytes = content(name);
    // With and without the padding behind the last number.
    for (const std::size_t cut : {0, 20}) {
      const GgufFile loaded = load_gguf(file("cut.gguf", bytes.substr(0, bytes.size() - cut)));
      ASSERT_EQ(loaded.tensors.size(), 3u);
      EXPECT_EQ(loaded.tensor("weight").stored.to_vector<float>(),
                (std::vector<float>{0, 0.125f, 0.25f}));
      EXPECT_EQ(loaded.tensor("last").decoded().shape(), last);
      EXPECT_TRUE(loaded.tensor("last").decoded().to_vector<float>().empty());
    }
    GgufQuantizer(name, {}).save(path("quantized.gguf"));
    EXPECT_EQ(load_gguf(path("quantized.gguf")).tensor("last").shape, last);
  }
}

TEST_F(GgufFiles, AWriterRefusesWhatNoFileCanHold) {
  const auto refusal = [&](const std::vector<GgufNamedValue>& metadata,
                           const std::vector<GgufTensorInfo>& tensors) {
    const std::string text = error_of([&] { GgufWriter(path("a.gguf"), metadata, tensors); });
    EXPECT_EQ(file_count(), 0);
    return text;
  };
  const GgufTensorInfo tensor{"t", {4}, GgmlType::F32};
  EXPECT_NE(refusal({}, {tensor, tensor}).find("are named \"t\""), std::string::npos);
  EXPECT_NE(refusal({{"a", 1u}, {"a", 2u}}, {}).find("are named \"a\""), std::string::npos);
  EXPECT_NE(refusal({}, {{"t", {33}, GgmlType::Q4_0}}).find("whole number"), std::string::npos);
  EXPECT_NE(refusal({}, {{"t", {1, 1, 1, 1, 1}, GgmlType::F32}}).find("5 axes"), std::string::npos);
  EXPECT_NE(refusal({{"general.alignment", 48u}}, {}).find("power of two"), std::string::npos);
  EXPECT_NE(refusal({{"general.alignment", 1u << 30}}, {}).find("more than"), std::string::npos);
}

// ---- models -----------------------------------------------------------------------------------

TEST_F(GgufFiles, WeightsGetTheTypeAndTheRestStaysAsItIs) {
  const std::string name = model({{"output.weight", {4, 256}},
                                  {"blk.0.attn_q.weight", {4, 256}},
                                  {"blk.0.attn_norm.weight", {256}},
                                  {"blk.0.ffn_up.weight", {4, 64}},
                                  {"blk.0.ffn_odd.weight", {4, 30}},
                                  {"blk.0.ffn_gate_inp.weight", {4, 256}},
                                  {"blk.0.attn_q.bias", {256}},
                                  {"blk.0.ffn_up_exps.weight", {2, 3, 256}}},
                                 {{"general.name", std::string("small")}});
  GgufQuantizer(name, {.type = GgmlType::Q4_K}).save(path("out.gguf"));
  const GgufFile before = load_gguf(name), after = load_gguf(path("out.gguf"));
  const auto type = [&](const char* tensor) { return after.tensor(tensor).type; };
  EXPECT_EQ(type("output.weight"), GgmlType::Q6_K);
  EXPECT_EQ(type("blk.0.attn_q.weight"), GgmlType::Q4_K);
  EXPECT_EQ(type("blk.0.ffn_up_exps.weight"), GgmlType::Q4_K);
  EXPECT_EQ(type("blk.0.ffn_up.weight"), GgmlType::Q5_0);
  EXPECT_EQ(type("blk.0.ffn_odd.weight"), GgmlType::F16);
  for (const char* kept :
       {"blk.0.attn_norm.weight", "blk.0.attn_q.bias", "blk.0.ffn_gate_inp.weight"}) {
    EXPECT_EQ(type(kept), GgmlType::F32);
  }
  EXPECT_EQ(after.metadata.text("general.name"), "small");
  EXPECT_EQ(after.metadata.integer("general.file_type"), 14);
  EXPECT_EQ(after.metadata.integer("general.quantization_version"), 2);
  ASSERT_EQ(before.tensors.size(), after.tensors.size());
  for (std::size_t i = 0; i < before.tensors.size(); i++) {
    EXPECT_EQ(before.tensors[i].name, after.tensors[i].name);
    const auto x = before.tensors[i].decoded().to_vector<float>();
    const auto y = after.tensors[i].decoded().to_vector<float>();
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t k = 0; k < x.size(); k++) ASSERT_NEAR(x[k], y[k], 0.6) << k;
  }
}

TEST_F(GgufFiles, APureModelHasOneTypeOfBlocks) {
  const std::string name = model({{"token_embd.weight", {4, 256}}, {"a.weight", {4, 256}}});
  const GgufQuantizer mixed(name, {.type = GgmlType::Q4_0});
  EXPECT_EQ(mixed.steps()[0].to, GgmlType::Q6_K);
  const GgufQuantizer pure(name, {.type = GgmlType::Q4_0, .pure = true});
  EXPECT_EQ(pure.steps()[0].to, GgmlType::Q4_0);
  const GgufQuantizer wide(name, {.type = GgmlType::Q8_0});
  EXPECT_EQ(wide.steps()[0].to, GgmlType::Q8_0);
}

TEST_F(GgufFiles, WhatManyThreadsWriteIsWhatOneWrites) {
  const std::string name = model({{"a.weight", {5000, 512}}});  // more than one piece
  GgufQuantizer(name, {}).save(path("many.gguf"));
  {
    const Options::Scope one{{Option::Threads, 1}};
    GgufQuantizer(name, {}).save(path("one.gguf"));
  }
  EXPECT_TRUE(content(path("many.gguf")) == content(path("one.gguf")));
  const auto found = load_gguf(path("one.gguf")).tensor("a.weight").decoded().to_vector<float>();
  for (std::size_t i = 0; i < found.size(); i++) {
    ASSERT_NEAR(found[i], static_cast<float>(i % 129) / 8, 0.07) << i;
  }
}

TEST_F(GgufFiles, TheModelThatIsReadIsNotOverwritten) {
  const std::string name = model({{"a.weight", {2, 32}}});
  const std::string before = content(name);
  std::filesystem::create_symlink(name, path("link.gguf"));
  for (const std::string& same : {name, path("link.gguf"), folder() + "/./model.gguf"}) {
    const std::string text = error_of([&] { GgufQuantizer(name, {}).save(same); });
    EXPECT_NE(text.find("name another file"), std::string::npos) << text;
  }
  EXPECT_TRUE(content(name) == before);
}

TEST_F(GgufFiles, AWeightThatIsNotFiniteIsNamedAndNothingIsWritten) {
  const Tensor bad = Tensor::full({2, 32}, std::numeric_limits<float>::infinity());
  save_gguf(path("model.gguf"), {{"a.weight", bad}});
  file("out.gguf", "as before");
  const GgufQuantizer quantizer(path("model.gguf"), {});
  const std::string text = error_of([&] { quantizer.save(path("out.gguf")); });
  EXPECT_NE(text.find("tensor \"a.weight\": a number is inf"), std::string::npos) << text;
  EXPECT_EQ(content(path("out.gguf")), "as before");
  EXPECT_EQ(file_count(), 2);
}

TEST_F(GgufFiles, RefusesModelsInPartsAndOfTheOtherByteOrder) {
  const auto refusal = [](const std::string& name) {
    return error_of([&] { GgufQuantizer(golden(name), {}); });
  };
  EXPECT_NE(refusal("big.gguf").find("big-endian"), std::string::npos);
  EXPECT_NE(refusal("split-00001-of-00003.gguf").find("split model"), std::string::npos);
}

TEST_F(GgufFiles, SurvivesEveryTruncationOfAModel) {
  const std::string whole = content(golden("little.gguf"));
  for (std::size_t size = 0; size + 32 < whole.size(); size += 13) {
    const std::string name = file("cut.gguf", whole.substr(0, size));
    EXPECT_NE(error_of([&] { GgufQuantizer(name, {}).save(path("out.gguf")); }), "") << size;
  }
  EXPECT_EQ(file_count(), 1);
}

}  // namespace
}  // namespace croze
