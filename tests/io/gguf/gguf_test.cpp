// GGUF: files written by ggml's own package (tests/golden/make_gguf.py), and hostile files.
#include "croze/io/gguf/gguf.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "croze/croze.h"
#include "libfuzzer/memory_file.h"
#include "support/files.h"
#include "support/memory.h"

namespace croze {
namespace {

using test::error_of;

// The types of values, by their numbers in files.
enum : std::uint32_t {
  uint8_type = 0,
  uint32_type = 4,
  bool_type = 7,
  text_type = 8,
  array_type = 9
};

// The bytes of a file, written piece by piece.
class Writer {
 public:
  template <typename T>
  Writer& add(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Writer& text(std::string_view text) {
    add(std::uint64_t{text.size()});
    bytes_ += text;
    return *this;
  }
  // The name and the type of a value; the value is what comes next.
  Writer& value(std::string_view name, std::uint32_t type) { return text(name).add(type); }
  Writer& array(std::uint32_t type, std::uint64_t size) { return add(type).add(size); }
  Writer& tensor(std::string_view name, const std::vector<std::uint64_t>& sizes, std::uint32_t type,
                 std::uint64_t offset) {
    text(name).add(static_cast<std::uint32_t>(sizes.size()));
    for (std::uint64_t size : sizes) add(size);
    return add(type).add(offset);
  }
  Writer& data(std::string_view data, std::size_t alignment = 32) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    bytes_ += data;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

Writer header(std::uint64_t tensors, std::uint64_t values, std::uint32_t version = 3) {
  Writer writer;
  writer.add('G').add('G').add('U').add('F').add(version).add(tensors).add(values);
  return writer;
}

// A file of one tensor.
std::string file_of(const std::vector<std::uint64_t>& sizes, std::uint32_t type,
                    std::uint64_t offset, std::size_t data_bytes) {
  return header(1, 0).tensor("t", sizes, type, offset).data(std::string(data_bytes, 'x')).bytes();
}

std::string golden(const std::string& name) { return GGUF_GOLDEN "/" + name; }

class Gguf : public test::FilesTest {
 protected:
  GgufFile load(const std::string& bytes) { return load_gguf(file("a.gguf", bytes)); }
  std::string refusal(const std::string& bytes) {
    const std::string message = error_of([&] { load(bytes); });
    EXPECT_NE(message.find("a.gguf"), std::string::npos) << message;
    return message;
  }
  void expect_refused(const std::string& bytes, const std::string& reason) {
    const std::string message = refusal(bytes);
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
};

// ---- files of others --------------------------------------------------------------------------

class GgufOrder : public testing::TestWithParam<const char*> {};

TEST_P(GgufOrder, AllTypesOfMetadataAreRead) {
  const GgufFile file = load_gguf(golden(GetParam()));
  EXPECT_EQ(file.version, 3);
  EXPECT_EQ(file.big_endian, std::string_view(GetParam()) == "big.gguf");
  const GgufMetadata& m = file.metadata;
  EXPECT_EQ(m.text("general.architecture"), "golden");
  EXPECT_EQ(std::get<std::uint8_t>(m.at("a.uint8")), 200);
  EXPECT_EQ(std::get<std::int8_t>(m.at("a.int8")), -100);
  EXPECT_EQ(std::get<std::uint16_t>(m.at("a.uint16")), 60'000);
  EXPECT_EQ(std::get<std::int16_t>(m.at("a.int16")), -30'000);
  EXPECT_EQ(std::get<std::uint32_t>(m.at("a.uint32")), 4'000'000'000u);
  EXPECT_EQ(std::get<std::int32_t>(m.at("a.int32")), -2'000'000'000);
  EXPECT_EQ(std::get<std::uint64_t>(m.at("a.uint64")), std::uint64_t{1} << 63);
  EXPECT_EQ(std::get<float>(m.at("a.float32")), 1.5f);
  EXPECT_EQ(std::get<double>(m.at("a.float64")), 0.1);
  EXPECT_EQ(m.integer("a.int64"), -(std::int64_t{1} << 62));
  EXPECT_EQ(m.integer("a.uint8"), 200);
  EXPECT_EQ(m.number("a.float32"), 1.5);
  EXPECT_EQ(m.number("a.int8"), -100);
  EXPECT_TRUE(m.flag("a.bool"));
  EXPECT_EQ(m.text("a.string"), "Grüße");
  EXPECT_EQ(m.integers("a.integers"), (std::vector<std::int64_t>{1, -2, 3}));
  EXPECT_EQ(m.numbers("a.floats"), (std::vector<double>{0.5, -0.25}));
  EXPECT_EQ(m.texts("a.strings"), (std::vector<std::string>{"one", "", "three"}));
  EXPECT_EQ(std::get<std::vector<bool>>(std::get<GgufArray>(m.at("a.bools")).elements),
            (std::vector<bool>{true, false, true}));
}

TEST_P(GgufOrder, PlainTensorsHaveTheirDTypeAndRowMajorShape) {
  const GgufFile file = load_gguf(golden(GetParam()));
  for (DType dtype : {DType::Float16, DType::Float32, DType::Float64, DType::Int8, DType::Int16,
                      DType::Int32, DType::Int64}) {
    const GgufTensor& t = file.tensor(name_of(dtype));
    EXPECT_EQ(t.stored.dtype(), dtype);
    EXPECT_EQ(t.shape, (Shape{2, 3}));
    EXPECT_EQ(t.offset % 32, 0);
    EXPECT_EQ(t.decoded().dtype(), DType::Float32);
    EXPECT_EQ(t.decoded().to_vector<float>(), (std::vector<float>{-20, -9, 2, 13, 24, 35}));
    EXPECT_EQ(t.decoded(DType::Int32).dtype(), DType::Int32);
  }
}

TEST_P(GgufOrder, BlocksAreThoseOfALittleEndianFile) {
  const GgufFile file = load_gguf(golden(GetParam())), little = load_gguf(golden("little.gguf"));
  for (const char* name : {"Q4_0", "Q8_0", "Q4_K", "Q6_K", "MXFP4"}) {
    EXPECT_EQ(file.tensor(name).stored.to_bytes(), little.tensor(name).stored.to_bytes()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, GgufOrder, testing::Values("little.gguf", "big.gguf"),
                         [](const auto& param) {
                           const std::string_view name = param.param;
                           return std::string(name.substr(0, name.find('.')));
                         });

TEST_F(Gguf, AFileOfVersion2IsReadToo) {
  const GgufFile file = load(header(0, 1, 2).value("a", uint8_type).add(std::uint8_t{7}).bytes());
  EXPECT_EQ(file.version, 2);
  EXPECT_EQ(file.metadata.integer("a"), 7);
}

TEST_F(Gguf, TheAlignmentOfTheFileCounts) {
  Writer writer = header(2, 1);
  writer.value("general.alignment", uint32_type).add(std::uint32_t{4});
  writer.tensor("a", {1}, 24, 0).tensor("b", {1}, 0, 4);
  writer.data("x...", 4).add(2.5f);
  EXPECT_EQ(load(writer.bytes()).tensor("b").stored.item<float>(), 2.5f);
}

TEST_F(Gguf, DataThatADTypeCannotBeLoadedFromAreCopied) {
  Writer writer = header(1, 1);
  writer.value("general.alignment", uint32_type).add(std::uint32_t{1});
  writer.tensor("b", {1}, 0, 0).add(2.5f);
  EXPECT_EQ(load(writer.bytes()).tensor("b").decoded().item<float>(), 2.5f);
}

TEST_F(Gguf, TensorsMayBeEmptyOrHaveNoAxes) {
  Writer writer = header(3, 0);
  writer.tensor("none", {32, 0}, 2, 0).tensor("scalar", {}, 0, 0).tensor("end", {0}, 0, 32);
  writer.data("").add(1.5f).data("");
  const GgufFile file = load(writer.bytes());
  EXPECT_EQ(file.tensor("none").decoded().shape(), (Shape{0, 32}));
  EXPECT_EQ(file.tensor("none").decoded().to_vector<float>().size(), 0u);
  EXPECT_EQ(file.tensor("scalar").decoded().item<float>(), 1.5f);
}

TEST_F(Gguf, ArraysNestAsDeepAsTheyMay) {
  Writer writer = header(0, 1);
  writer.value("a", array_type).array(array_type, 3);
  writer.array(uint8_type, 2).add('a').add('b').array(array_type, 0);
  writer.array(array_type, 1).array(text_type, 1).text("deep");
  const GgufFile file = load(writer.bytes());
  const auto& outer =
      std::get<std::vector<GgufArray>>(std::get<GgufArray>(file.metadata.at("a")).elements);
  ASSERT_EQ(outer.size(), 3u);
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(outer[0].elements),
            (std::vector<std::uint8_t>{'a', 'b'}));
  EXPECT_EQ(outer[1].size(), 0);
  const auto& inner = std::get<std::vector<GgufArray>>(outer[2].elements);
  EXPECT_EQ(std::get<std::vector<std::string>>(inner.at(0).elements).at(0), "deep");
  for (int depth : {4, 5, 1'000'000}) {
    Writer deep = header(0, 1);
    deep.value("a", array_type);
    for (int i = 1; i < depth; i++) deep.array(array_type, 1);
    deep.array(uint8_type, 1).add('x');
    if (depth == 4) {
      EXPECT_TRUE(load(deep.bytes()).metadata.has("a"));
    } else {
      expect_refused(deep.bytes(), "nest deeper than 4");
    }
  }
}

// ---- what names hold --------------------------------------------------------------------------

TEST(GgufMetadata, AskingForAnotherKindSaysWhatIsThere) {
  const GgufFile file = load_gguf(golden("little.gguf"));
  const GgufMetadata& m = file.metadata;
  const auto says = [&](const auto& ask, const std::string& reason) {
    const std::string message = error_of(ask);
    EXPECT_NE(message.find("little.gguf"), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  };
  says([&] { m.integer("nothing"); }, "no \"nothing\"");
  says([&] { m.integer("a.uint64"); }, "\"a.uint64\" are uint64, not an integer that fits");
  says([&] { m.integer("a.float32"); }, "float32");
  says([&] { m.number("a.bool"); }, "bool");
  says([&] { m.flag("a.uint8"); }, "uint8");
  says([&] { m.text("a.strings"); }, "array of string");
  says([&] { m.texts("a.string"); }, "string");
  says([&] { m.integers("a.floats"); }, "array of float32");
  says([&] { m.numbers("a.strings"); }, "array of string");
  says([&] { m.numbers("a.uint8"); }, "uint8");
  EXPECT_NE(error_of([&] { file.tensor("nothing"); }).find("no tensor \"nothing\""),
            std::string::npos);
}

// ---- saving -----------------------------------------------------------------------------------

TEST_F(Gguf, ComesBackAsItWasSaved) {
  const GgufFile golden_file = load_gguf(golden("little.gguf"));
  GgufMetadata::Map metadata = golden_file.metadata.values();
  GgufArray inner, outer;
  inner.elements = std::vector<std::string>{"deep"};
  outer.elements = std::vector<GgufArray>{inner, GgufArray()};
  metadata["nested"] = outer;
  metadata["general.alignment"] = std::uint32_t{64};
  metadata["split.count"] = std::uint16_t{3};
  const StateDict saved = {{"lazy", Tensor::arange(6).reshape({2, 3}) * 2},
                           {"bfloat16", Tensor::from_data({1.5f, -2.f}, {2}).cast(DType::BFloat16)},
                           {"scalar", Tensor::from_data({std::int8_t{-7}}, {})},
                           {"empty", Tensor::zeros({0, 4})},
                           {"wide", Tensor::from_data({2.5}, {1, 1, 1, 1})}};
  save_gguf(path("a.gguf"), saved, metadata);
  const GgufFile loaded = load_gguf(path("a.gguf"));
  EXPECT_EQ(file_count(), 1);
  EXPECT_EQ(loaded.version, 3);
  EXPECT_FALSE(loaded.metadata.has("split.count"));
  for (const auto& [name, value] : golden_file.metadata.values()) {
    EXPECT_EQ(loaded.metadata.at(name).index(), value.index()) << name;
  }
  EXPECT_EQ(loaded.metadata.integers("a.integers"), golden_file.metadata.integers("a.integers"));
  EXPECT_EQ(loaded.metadata.texts("a.strings"), golden_file.metadata.texts("a.strings"));
  EXPECT_EQ(loaded.metadata.number("a.float64"), 0.1);
  const auto& nested = std::get<GgufArray>(loaded.metadata.at("nested"));
  EXPECT_EQ(std::get<std::vector<GgufArray>>(nested.elements).at(0).size(), 1);
  ASSERT_EQ(loaded.tensors.size(), saved.size());
  for (std::size_t i = 0; i < saved.size(); i++) {
    const GgufTensor& t = loaded.tensors[i];
    EXPECT_EQ(t.name, saved[i].name);
    EXPECT_EQ(t.offset % 64, 0);
    EXPECT_EQ(t.stored.dtype(), saved[i].tensor.dtype());
    EXPECT_EQ(t.shape, saved[i].tensor.shape());
    EXPECT_EQ(t.stored.to_bytes(), saved[i].tensor.to_bytes());
  }
}

// Byte for byte what ggml's package wrote, but for the order of the metadata, which are one here.
TEST_F(Gguf, SavesTheBytesThatOthersSave) {
  const std::string original = content(golden("plain.gguf"));
  const GgufFile loaded = load_gguf(golden("plain.gguf"));
  StateDict tensors;
  for (const GgufTensor& t : loaded.tensors) tensors.push_back({t.name, t.stored});
  save_gguf(path("a.gguf"), tensors, loaded.metadata.values());
  EXPECT_EQ(content(path("a.gguf")), original);
}

TEST_F(Gguf, RefusesToSaveWhatTheFormatHasNot) {
  const Tensor t = Tensor::from_data({1.f}, {1});
  const auto says = [&](const StateDict& tensors, const GgufMetadata::Map& metadata,
                        const std::string& reason) {
    const std::string message = error_of([&] { save_gguf(path("a"), tensors, metadata); });
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  };
  says({{"x", t}, {"x", t}}, {}, "two tensors are named \"x\"");
  says({{"none", Tensor()}}, {}, "is not defined");
  says({{"x", t.cast(DType::UInt8)}}, {}, "is uint8, which GGUF does not have");
  says({{"x", t.reshape({1, 1, 1, 1, 1})}}, {}, "5 axes");
  says({{"x", t}}, {{"general.alignment", std::uint32_t{3}}}, "no power of two");
  GgufArray deep;
  for (int i = 0; i < 4; i++) {
    GgufArray around;
    around.elements = std::vector<GgufArray>{deep};
    deep = around;
  }
  says({{"x", t}}, {{"a", deep}}, "nest deeper than 4");
  EXPECT_EQ(file_count(), 0);
}

// ---- split models -----------------------------------------------------------------------------

class GgufSplit : public Gguf {
 protected:
  void SetUp() override {
    Gguf::SetUp();
    for (int i = 1; i <= 3; i++) file(name(i), content(golden(name(i))));
  }
  static std::string name(int part) {
    return "split-0000" + std::to_string(part) + "-of-00003.gguf";
  }
  // With the first such bytes of a part replaced.
  void change(int part, const std::string& from, const std::string& to) {
    std::string bytes = content(path(name(part)));
    const std::size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    file(name(part), bytes.replace(at, from.size(), to));
  }
  std::string refusal_of(int part) {
    return error_of([&] { load_gguf(path(name(part))); });
  }
};

TEST_F(GgufSplit, AnyPartOpensAll) {
  for (int part = 1; part <= 3; part++) {
    const GgufFile file = load_gguf(path(name(part)));
    EXPECT_EQ(file.parts, 3);
    EXPECT_EQ(file.metadata.text("general.name"), "in three parts");
    ASSERT_EQ(file.tensors.size(), 5u);
    for (int i = 0; i < 5; i++) {
      const GgufTensor& t = file.tensor("t" + std::to_string(i));
      EXPECT_EQ(t.part, i / 2);
      EXPECT_EQ(t.shape, (Shape{i + 1, 2}));
      EXPECT_EQ(t.decoded().to_vector<int>(), std::vector<int>(2 * (i + 1), i));
    }
  }
}

TEST_F(GgufSplit, PartsThatAreMissingOrOfAnotherModelAreRefused) {
  const auto says = [&](int part, const std::string& reason) {
    const std::string message = refusal_of(part);
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  };
  const auto restore = [&](int part) { file(name(part), content(golden(name(part)))); };
  std::filesystem::remove(path(name(2)));
  says(1, name(2));
  file(name(2), content(golden(name(3))));
  says(1, name(2) + ": by its name this is part 2 of 3, by its metadata part 3 of 3");
  restore(2);
  change(3, std::string("t4"), std::string("t1"));
  says(2, "two tensors are named \"t1\"");
  restore(3);
  const std::string total = "split.tensors.count";
  std::string said = content(path(name(2)));
  said[said.find(total) + total.size() + 4] = 6;
  file(name(2), said);
  says(3, "a model of 6 tensors, but its 3 parts have 5");
  restore(2);
  const std::string renamed = file("model.gguf", content(golden(name(1))));
  EXPECT_NE(error_of([&] { load_gguf(renamed); }).find("is not named as such"), std::string::npos);
}

// ---- hostile files ----------------------------------------------------------------------------

TEST_F(Gguf, RefusesWhatIsNoGgufFileOfAVersionThatItKnows) {
  for (const char* bytes : {"", "GGU", "GGML....", "\x80\0\0\0"}) {
    expect_refused(bytes, "not a GGUF file");
  }
  expect_refused("GGUF", "4 bytes wanted");
  for (std::uint32_t version : {0u, 1u, 4u, 0x01000000u, 0x04000000u, 0xffffffffu}) {
    expect_refused(header(0, 0, version).bytes(), "version");
  }
}

TEST_F(Gguf, RefusesCountsBeyondTheEndOfTheFile) {
  for (std::uint64_t count : {std::uint64_t{1}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    expect_refused(header(count, 0).bytes(), "tensors");
    expect_refused(header(0, count).bytes(), "metadata, but 0 bytes remain");
    const Writer name = header(0, 1).add(count);
    refusal(name.bytes());
    Writer text = header(0, 1);
    text.value("abcdefgh", text_type).add(count);
    expect_refused(text.bytes(), "bytes of a text");
    for (std::uint32_t type = 0; type < 13; type++) {
      Writer array = header(0, 1);
      array.value("abcdefgh", array_type).array(type, count + (count == ~std::uint64_t{0} ? 0 : 1));
      refusal(array.add('\1').bytes());
    }
  }
}

TEST_F(Gguf, RefusesTypesThatDoNotExist) {
  expect_refused(header(0, 1).value("a", 13).add(std::uint64_t{0}).bytes(), "type 13");
  Writer array = header(0, 1);
  array.value("a", array_type).array(13, 0);
  expect_refused(array.bytes(), "an array of type 13");
  expect_refused(header(0, 1).value("a", bool_type).add('\2').bytes(), "a bool of 2");
  for (std::uint32_t type : {4u, 5u, 31u, 36u, 1000u}) {
    expect_refused(file_of({32}, type, 0, 4096), "which is not known");
  }
}

TEST_F(Gguf, RefusesNamesThatStandTwice) {
  Writer values = header(0, 2);
  values.value("a", uint8_type).add('x').value("a", uint8_type).add('y');
  expect_refused(values.bytes(), "\"a\" stand twice");
  Writer tensors = header(2, 0);
  tensors.tensor("t", {1}, 24, 0).tensor("t", {1}, 24, 32).data(std::string(64, 'x'));
  expect_refused(tensors.bytes(), "two tensors are named \"t\"");
}

TEST_F(Gguf, WhatATerminalWouldObeyIsShownInMessages) {
  Writer tensors = header(1, 0);
  tensors.tensor("\x1b[2J", {1}, 1000, 0).data("");
  const std::string message = refusal(tensors.bytes());
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_NE(message.find("\\x1b[2J"), std::string::npos) << message;
  Writer long_name = header(1, 0);
  long_name.tensor(std::string(100'000, 'n'), {1}, 1000, 0).data("");
  EXPECT_LT(refusal(long_name.bytes()).size(), 1000u);
}

TEST_F(Gguf, RefusesShapesThatAreNone) {
  const std::uint64_t huge = ~std::uint64_t{0}, half = std::uint64_t{1} << 32;
  expect_refused(file_of({huge}, 24, 0, 32), "has an axis of");
  expect_refused(file_of({half, half}, 24, 0, 32), "does not fit 64 bits");
  expect_refused(file_of({std::uint64_t{1} << 62, 32}, 2, 0, 32), "does not fit 64 bits");
  expect_refused(file_of({1, 1, 1, 1, 1}, 24, 0, 32), "more than 4");
  expect_refused(file_of({48}, 2, 0, 32), "no whole number of blocks of Q4_0");
  expect_refused(file_of({}, 12, 0, 4096), "no whole number of blocks of Q4_K");
}

TEST_F(Gguf, RefusesDataThatAreNotAllThereAlignedAndApart) {
  EXPECT_EQ(load(file_of({32}, 24, 0, 32)).tensors.size(), 1u);
  expect_refused(file_of({33}, 24, 0, 32), "but the file ends at");
  expect_refused(file_of({1}, 24, 32, 32), "but the file ends at");
  expect_refused(file_of({1}, 24, 16, 64), "no multiple of the alignment 32");
  expect_refused(file_of({1}, 24, std::uint64_t{1} << 62, 64), "bytes into the data");
  expect_refused(file_of({1}, 24, ~std::uint64_t{31}, 64), "bytes into the data");
  Writer overlap = header(2, 0);
  overlap.tensor("a", {33}, 24, 0).tensor("b", {1}, 24, 32).data(std::string(64, 'x'));
  expect_refused(overlap.bytes(), "the tensors \"a\" and \"b\" overlap");
  for (std::uint32_t alignment : {0u, 3u, 0xffffffffu}) {
    Writer writer = header(0, 1);
    writer.value("general.alignment", uint32_type).add(alignment);
    expect_refused(writer.bytes(), "no power of two");
  }
}

TEST_F(Gguf, RefusesBigEndianBlocksOfWhichNoFormIsKnown) {
  std::string bytes = content(golden("big.gguf"));
  const std::string name("Q6_K");
  // Behind the name: the number of sizes, one size or two, the type.
  const std::size_t at = bytes.find(name) + name.size();
  const std::size_t type = at + 4 + 8 * static_cast<std::size_t>(bytes[at + 3]) + 3;
  ASSERT_EQ(bytes[type], 14);
  bytes[type] = 18;
  expect_refused(bytes, "no big-endian form of IQ3_XXS is known");
}

TEST_F(Gguf, SurvivesEveryTruncationAndManyFlippedBits) {
  const std::string whole = content(golden("little.gguf"));
  const auto error_of_loading = [](std::string_view bytes) {
    const test::MemoryFile bad(bytes);
    return test::error_if_any([&] { load_gguf(bad.path()); });
  };
  const std::size_t last_bytes = 32;  // padding
  for (std::size_t size = 0; size + last_bytes < whole.size(); size += 3) {
    EXPECT_NE(error_of_loading(std::string_view(whole).substr(0, size)), "") << size;
  }
  for (std::size_t i = 0; i < whole.size(); i += 2) {
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i / 2 % 8)));
    error_of_loading(bad);  // loads or throws Error, nothing else
  }
}

TEST_F(Gguf, MapsTheFileInsteadOfReadingIt) {
  constexpr std::size_t megabytes = 64;
  const std::string big = file("big.gguf", file_of({megabytes << 20}, 24, 0, megabytes << 20));
  const std::int64_t before = test::resident_bytes();
  const GgufFile loaded = load_gguf(big);
  EXPECT_LT(test::resident_bytes() - before, std::int64_t{megabytes << 20} / 4);
  EXPECT_EQ(loaded.tensors[0].stored.numel(), std::int64_t{megabytes << 20});
}

TEST_F(Gguf, TimeGrowsWithTheFileAndMemoryIsBounded) {
  constexpr std::uint64_t many = 5'000'000;
  Writer texts = header(0, 1);
  texts.value("a", array_type).array(text_type, many);
  for (std::uint64_t i = 0; i < many; i++) texts.text("");
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  expect_refused(texts.bytes(), "more than 4194304 names, texts and arrays");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 512 << 10);  // KiB
}

}  // namespace
}  // namespace croze
