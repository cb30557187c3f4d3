// Checkpoints that PyTorch wrote; golden/make_pytorch.py made them and says what is in them.
#include "croze/io/pytorch/pytorch.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "croze/graph/dtype.h"
#include "support/files.h"

namespace croze {
namespace {

using Json = nlohmann::ordered_json;
using test::error_of;

std::string golden(const std::string& name) { return PYTORCH_GOLDEN "/" + name; }

std::vector<int> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<int> numbers;
  for (const std::byte b : bytes) numbers.push_back(std::to_integer<int>(b));
  return numbers;
}

struct ToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const std::vector<std::byte>& bytes) const { return numbers_of(bytes); }
  template <typename T>
  Json operator()(const T& value) const {
    return value;
  }
};

// As expected.json has it.
Json contents_of(const PyTorchFile& file) {
  const std::map<DType, const char*> names = {{DType::Bool, "bool"},
                                              {DType::UInt8, "uint8"},
                                              {DType::Int8, "int8"},
                                              {DType::Int16, "int16"},
                                              {DType::UInt16, "uint16"},
                                              {DType::Int32, "int32"},
                                              {DType::UInt32, "uint32"},
                                              {DType::Int64, "int64"},
                                              {DType::UInt64, "uint64"},
                                              {DType::Float16, "float16"},
                                              {DType::BFloat16, "bfloat16"},
                                              {DType::Float32, "float32"},
                                              {DType::Float64, "float64"},
                                              {DType::Float8E4M3, "float8_e4m3fn"},
                                              {DType::Float8E5M2, "float8_e5m2"}};
  Json result;
  for (const NamedTensor& t : file.tensors) {
    const Shape shape = t.tensor.shape();
    result[t.name] = {{"dtype", names.at(t.tensor.dtype())},
                      {"sizes", std::vector<std::int64_t>(shape.begin(), shape.end())},
                      {"bytes", numbers_of(t.tensor.to_bytes())}};
  }
  for (const auto& [name, value] : file.values) {
    result[name] = {{"value", std::visit(ToJson(), value)}};
  }
  return result;
}

TEST(PyTorch, FilesHaveWhatPyTorchPutThere) {
  const Json expected = Json::parse(test::content_of(golden("expected.json")));
  ASSERT_GT(expected.size(), 15u);
  for (const auto& [name, members] : expected.items()) {
    SCOPED_TRACE(name);
    const Json found = contents_of(load_pytorch(golden(name)));
    EXPECT_EQ(found.size(), members.size());
    for (const auto& [member, value] : members.items()) {
      EXPECT_EQ(found.value(member, Json("missing")), value) << member;
    }
  }
}

TEST(PyTorch, DtypesAreConvertedIfAsked) {
  const PyTorchFile file = load_pytorch(golden("tensor.pth"), {.dtype = DType::Float64});
  ASSERT_EQ(file.tensors.size(), 1u);
  EXPECT_EQ(file.tensors[0].tensor.dtype(), DType::Float64);
  EXPECT_EQ(file.tensors[0].tensor.to_vector<double>(), (std::vector<double>{1.5, -2}));
}

TEST(PyTorch, NothingElseIsMadeAndWhatAFileNamesIsNotCalled) {
  const auto error = [](const char* name) { return error_of([&] { load_pytorch(golden(name)); }); };
  EXPECT_NE(error("refused.model.pth").find("\"torch.nn.modules.linear.Linear\""),
            std::string::npos);
  EXPECT_NE(error("refused.evil.pth").find(".system\""), std::string::npos);
  EXPECT_NE(error("refused.complex.pth").find("ComplexFloatStorage"), std::string::npos);
}

// ---- pickles made by hand ---------------------------------------------------------------------

using PyTorchFiles = test::FilesTest;

// A file of the old format around the pickle of an object.
std::string legacy(const std::string& object) {
  using namespace std::string_literals;
  return "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s + "\x80\x02M\xe9\x03."s +
         "\x80\x02}."s + object + "\x80\x02]."s;
}

TEST_F(PyTorchFiles, ThatAreDamagedOrHostileAreRefused) {
  const std::pair<const char*, std::string> cases[] = {
      {"begins as none", "hello"},
      {"begins as none", ""},
      {"no data.pkl", test::content_of(golden("../../libfuzzer/corpus/npy/stored.npz"))},
      {"posix.system", legacy("cposix\nsystem\n.")},
      {"builtins.eval", legacy("\x8c\x08"
                               "builtins\x8c\x04"
                               "eval\x93.")},
      {"operation", legacy("(ios\nsystem\n.")},
      {"without an object", legacy("0.")},
      {"without a mark", legacy("t.")},
      {"not remembered", legacy("h\x05.")},
      {"behind", legacy("NN.")},
      {"64 bits", legacy("L99999999999999999999L\n.")},
      {"integer of 9 bytes", legacy("\x8a\x09"
                                    "123456789.")},
      {"value", legacy("(Nd.")},
      {"container", legacy("NNa.")},
      {"function", legacy("N)R.")},
      {"each other", legacy("]q" + std::string("\0", 1) + "h" + std::string("\0", 1) + "a.")},
      {"not a zip archive", "PK"},
  };
  for (const auto& [words, bytes] : cases) {
    const std::string path = file("bad.pth", bytes);
    const std::string error = error_of([&] { load_pytorch(path); });
    EXPECT_NE(error.find(words), error.npos) << words << ": " << error;
    EXPECT_NE(error.find("bad.pth"), error.npos) << error;
  }
}

// PyTorch always writes the records of large archives; where numbers of the last one say that they
// do not fit, those count.
TEST_F(PyTorchFiles, ArchivesMayBeLarge) {
  std::string bytes = test::content_of(golden("tensor.pth"));
  constexpr std::size_t end_bytes = 22, counts = 8, numbers = 12;  // from its beginning
  const std::size_t end = bytes.size() - end_bytes;
  bytes.replace(end + counts, numbers, numbers, '\xff');
  EXPECT_EQ(load_pytorch(file("large.pth", bytes)).tensors.size(), 1u);
  const std::size_t place = bytes.rfind("PK\x06\x07");
  ASSERT_NE(place, bytes.npos);
  for (const std::size_t damaged : {place + 8, place + 14, bytes.rfind("PK\x06\x06") + 30}) {
    std::string bad = bytes;
    bad[damaged] = '\x7f';
    EXPECT_NE(error_of([&] { load_pytorch(file("bad.pth", bad)); }), "");
  }
}

// Lists of two of the one before: small in the file, without end when they are named.
TEST_F(PyTorchFiles, WhatStandsInItselfAgainAndAgainIsRefused) {
  std::string pickle = "K\x01";
  for (int i = 0; i < 60; i++) pickle += "2\x86";
  const std::string path = file("bomb.pth", legacy(pickle + "."));
  EXPECT_NE(error_of([&] { load_pytorch(path); }).find("too often"), std::string::npos);
  std::string deep(100'000, ']');
  deep += std::string(99'999, 'a');
  const std::string nested = file("deep.pth", legacy(deep + "."));
  EXPECT_NE(error_of([&] { load_pytorch(nested); }).find("names of more"), std::string::npos);
}

}  // namespace
}  // namespace croze
