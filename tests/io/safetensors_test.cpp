// safetensors: round trips, files written by others, and hostile files.
#include "croze/io/safetensors.h"

#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <vector>

#include "croze/croze.h"
#include "libfuzzer/memory_file.h"
#include "support/files.h"
#include "support/memory.h"

namespace croze {
namespace {

using test::error_of;

// A file of this header, with its length before and the data behind.
std::string safetensors(std::string_view header, std::string_view data = {}) {
  const std::uint64_t size = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &size, 8);
  return text.append(header).append(data);
}

class SafeTensorsFile : public test::FilesTest {
 protected:
  SafeTensors load(std::string_view header, std::string_view data = {}) {
    return load_safetensors(file("a.safetensors", safetensors(header, data)));
  }
  std::string refusal(std::string_view header, std::string_view data = {}) {
    const std::string message = error_of([&] { load(header, data); });
    EXPECT_NE(message.find("a.safetensors"), std::string::npos) << message;
    return message;
  }
};

// ---- round trips ------------------------------------------------------------------------------

TEST_F(SafeTensorsFile, ComesBackAsItWasSaved) {
  const StateDict saved = {{"b", Tensor::from_data({1.5f, -2.f, NAN}, {3})},
                           {"flags", Tensor::from_data({true, false}, {2, 1})},
                           {"scalar", Tensor::from_data({std::int64_t{-7}}, {})},
                           {"empty", Tensor::zeros({0, 4})},
                           {"lazy", Tensor::arange(6).reshape({2, 3}) * 2}};
  save_safetensors(path("a"), saved, {{"epoch", "3"}});
  const SafeTensors loaded = load_safetensors(path("a"));
  EXPECT_EQ(loaded.metadata.at("epoch"), "3");
  ASSERT_EQ(loaded.tensors.size(), saved.size());
  for (const NamedTensor& expected : saved) {
    const auto found = std::ranges::find(loaded.tensors, expected.name, &NamedTensor::name);
    ASSERT_NE(found, loaded.tensors.end()) << expected.name;
    EXPECT_EQ(found->tensor.dtype(), expected.tensor.dtype());
    EXPECT_EQ(found->tensor.shape(), expected.tensor.shape());
    EXPECT_EQ(found->tensor.to_bytes(), expected.tensor.to_bytes());
  }
  EXPECT_EQ(file_count(), 1);
}

TEST_F(SafeTensorsFile, KeepsTheBytesOfEveryDtype) {
  StateDict saved;
  for (int i = 0; i < num_dtypes; i++) {
    const auto dtype = static_cast<DType>(i);
    if (size_of(dtype) == 0) continue;
    std::vector<std::byte> bytes(static_cast<std::size_t>(6 * size_of(dtype)));
    for (std::size_t j = 0; j < bytes.size(); j++) {
      bytes[j] = static_cast<std::byte>(dtype == DType::Bool ? j % 2 : j * 37 + 5);
    }
    saved.push_back({std::string(name_of(dtype)), Tensor::from_bytes(bytes, dtype, {2, 3})});
  }
  save_safetensors(path("a"), saved);
  const SafeTensors loaded = load_safetensors(path("a"));
  ASSERT_EQ(loaded.tensors.size(), saved.size());
  for (const NamedTensor& t : loaded.tensors) {
    EXPECT_EQ(t.name, name_of(t.tensor.dtype()));
    const auto original = std::ranges::find(saved, t.name, &NamedTensor::name);
    EXPECT_EQ(t.tensor.to_bytes(), original->tensor.to_bytes()) << t.name;
  }
}

TEST_F(SafeTensorsFile, WritesAlignedDataAndAPlainHeader) {
  save_safetensors(path("a"), {{"byte", Tensor::from_data({std::uint8_t{1}}, {1})},
                               {"wide", Tensor::from_data({2.0}, {1})}});
  const std::string text = content(path("a"));
  std::uint64_t header = 0;
  std::memcpy(&header, text.data(), 8);
  EXPECT_EQ((8 + header) % 64, 0u);
  EXPECT_EQ(text.size(), 8 + header + 9);
  EXPECT_EQ(text.substr(8, 58), R"({"wide":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},")");
}

TEST_F(SafeTensorsFile, ReadsAFileWrittenByOthers) {
  const float values[] = {1, 2, 3, 4};
  const std::string data(reinterpret_cast<const char*>(values), sizeof(values));
  const SafeTensors loaded = load(
      R"({"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"__metadata__":{"format":"pt"}}   )",
      data);
  ASSERT_EQ(loaded.tensors.size(), 1u);
  EXPECT_EQ(loaded.tensors[0].tensor.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(loaded.metadata.at("format"), "pt");
}

TEST_F(SafeTensorsFile, ReadsTensorsThatAreNotAligned) {
  const float value = 1.25f;
  std::string data = "x";
  data.append(reinterpret_cast<const char*>(&value), 4);
  const SafeTensors loaded = load(
      R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      data);
  EXPECT_EQ(loaded.tensors[0].name, "a");
  EXPECT_EQ(loaded.tensors[1].tensor.item<float>(), 1.25f);
}

TEST_F(SafeTensorsFile, ConvertsFloatsWhenAsked) {
  save_safetensors(path("a"),
                   {{"f", Tensor::from_data({1.5f}, {1})}, {"i", Tensor::from_data({7}, {1})}});
  const SafeTensors loaded = load_safetensors(path("a"), {.dtype = DType::Float64});
  for (const NamedTensor& t : loaded.tensors) {
    EXPECT_EQ(t.tensor.dtype(), t.name == "f" ? DType::Float64 : DType::Int32);
  }
}

TEST_F(SafeTensorsFile, AssigningToALoadedTensorLeavesTheFileAlone) {
  save_safetensors(path("a"), {{"x", Tensor::from_data({1.f, 2.f}, {2})}});
  const std::string before = content(path("a"));
  Tensor x = load_safetensors(path("a")).tensors[0].tensor;
  x += 10;
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{11, 12}));
  EXPECT_EQ(content(path("a")), before);
}

TEST_F(SafeTensorsFile, MapsTheFileInsteadOfReadingIt) {
  constexpr std::int64_t megabytes = 64;
  {
    const std::vector<float> values(megabytes << 18, 1.f);
    save_safetensors(path("big"), {{"x", Tensor::from_data(values, {megabytes << 18})}});
  }
  const std::int64_t before = test::resident_bytes();
  const SafeTensors loaded = load_safetensors(path("big"));
  // A sanitizer keeps a byte of its own for eight.
  EXPECT_LT(test::resident_bytes() - before, (megabytes << 20) / 4);
  EXPECT_EQ(loaded.tensors[0].tensor.numel(), megabytes << 18);
}

// ---- hostile files ----------------------------------------------------------------------------

TEST_F(SafeTensorsFile, RefusesFilesTooShortForAHeader) {
  for (std::size_t size = 0; size < 8; size++) {
    const std::string cut = file("a.safetensors", std::string(size, '\0'));
    EXPECT_NE(error_of([&] { load_safetensors(cut); }).find("not a safetensors file"),
              std::string::npos);
  }
}

TEST_F(SafeTensorsFile, RefusesAHeaderThatIsTooLargeOrLongerThanTheFile) {
  for (std::uint64_t size :
       {std::uint64_t{100'000'001}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    std::string text(8, '\0');
    std::memcpy(text.data(), &size, 8);
    const std::string bad = file("a", text + "{}");
    EXPECT_NE(error_of([&] { load_safetensors(bad); }).find("limit of 100000000"),
              std::string::npos);
  }
  std::string text = safetensors("{}");
  text[0] = 3;
  const std::string bad = file("a", text);
  EXPECT_NE(error_of([&] { load_safetensors(bad); }).find("2 bytes follow"), std::string::npos);
}

TEST_F(SafeTensorsFile, RefusesAHeaderThatIsNoJsonObject) {
  for (const char* header : {"", " {}", "[]", "{", "{\"a\":}", "{}x", "null", "\"{}\"", "{\"a\":1}",
                             "{\"\xff\":{}}", "{\"a\":{}}"}) {
    EXPECT_NE(refusal(header), "") << header;
  }
}

TEST_F(SafeTensorsFile, RefusesNestingAtADepthThatIsBounded) {
  const std::string deep = "{\"a\":" + std::string(1'000'000, '[');
  EXPECT_NE(refusal(deep).find("nests too deeply"), std::string::npos);
  std::string objects = "{\"a\":";
  for (int i = 0; i < 100'000; i++) objects += "{\"a\":";
  EXPECT_NE(refusal(objects).find("nests too deeply"), std::string::npos);
}

TEST_F(SafeTensorsFile, RefusesANameThatStandsTwice) {
  const char* entry = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  const std::string twice = std::string("{") + entry + "," + entry + "}";
  EXPECT_NE(refusal(twice, "x").find("\"a\" stands twice"), std::string::npos);
  EXPECT_NE(refusal(R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", "x")
                .find("\"dtype\" stands twice"),
            std::string::npos);
}

TEST_F(SafeTensorsFile, RefusesOffsetsThatDoNotFitTheShape) {
  for (const char* offsets : {"[0,3]", "[0,5]", "[4,0]", "[1,4]", "[0]", "[0,4,4]", "[-4,0]",
                              "[0,4.0]", "[\"0\",4]", "[0,18446744073709551615]", "{}"}) {
    const std::string header =
        std::string(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)") + offsets + "}}";
    EXPECT_NE(refusal(header, "xxxx"), "") << offsets;
  }
}

TEST_F(SafeTensorsFile, RefusesShapesThatAreNone) {
  for (const char* shape : {"[-1]", "[1.5]", "[\"1\"]", "1", "[[1]]", "null",
                            "[18446744073709551615]", "[4294967296,4294967296]",
                            "[9223372036854775807,9]", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"}) {
    const std::string header =
        std::string(R"({"a":{"dtype":"U8","data_offsets":[0,1],"shape":)") + shape + "}}";
    EXPECT_NE(refusal(header, "x"), "") << shape;
  }
}

TEST_F(SafeTensorsFile, RefusesHolesOverlapsAndBytesTooManyOrTooFew) {
  const auto two = [](int begin, int end) {
    return R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[)" +
           std::to_string(begin) + "," + std::to_string(end) + "]}}";
  };
  EXPECT_EQ(load(two(2, 4), "abcd").tensors.size(), 2u);
  EXPECT_NE(refusal(two(3, 5), "abcde").find("hole"), std::string::npos);
  EXPECT_NE(refusal(two(1, 3), "abc").find("overlap"), std::string::npos);
  EXPECT_NE(refusal(two(0, 2), "ab").find("overlap"), std::string::npos);
  EXPECT_NE(refusal(two(2, 4), "abc").find("3 are there"), std::string::npos);
  EXPECT_NE(refusal(two(2, 4), "abcde").find("5 are there"), std::string::npos);
  EXPECT_NE(refusal("{}", "x").find("1 are there"), std::string::npos);
}

TEST_F(SafeTensorsFile, RefusesUnknownDtypesAndMissingFields) {
  EXPECT_NE(
      refusal(R"({"a":{"dtype":"C64","shape":[],"data_offsets":[0,8]}})", "12345678").find("C64"),
      std::string::npos);
  EXPECT_NE(refusal(R"({"a":{"shape":[],"data_offsets":[0,8]}})").find("no dtype"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"a":{"dtype":"U8","data_offsets":[0,8]}})").find("no shape"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"a":{"dtype":"U8","shape":[]}})").find("no data_offsets"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"__metadata__":{"a":1}})").find("not a text"), std::string::npos);
  EXPECT_NE(refusal(R"({"__metadata__":[]})").find("not an object"), std::string::npos);
}

TEST_F(SafeTensorsFile, SurvivesEveryTruncationAndManyFlippedBits) {
  save_safetensors(path("whole"), {{"x", Tensor::from_data({1.f, 2.f, 3.f}, {3})},
                                   {"y", Tensor::from_data({1}, {1})}});
  const std::string whole = content(path("whole"));
  const auto error_of_loading = [](std::string_view bytes) {
    const test::MemoryFile bad(bytes);
    return test::error_if_any([&] { load_safetensors(bad.path()); });
  };
  for (std::size_t size = 0; size < whole.size(); size++) {
    EXPECT_NE(error_of_loading(std::string_view(whole).substr(0, size)), "") << size;
  }
  for (std::size_t i = 0; i < whole.size(); i++) {
    for (int bit = 0; bit < 8; bit++) {
      std::string bad = whole;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      error_of_loading(bad);  // loads or throws Error, nothing else
    }
  }
}

TEST_F(SafeTensorsFile, PassesOverFieldsThatItDoesNotKnow) {
  const SafeTensors loaded = load(
      R"({"a":{"dtype":"U8","note":{"by":["x",null]},"shape":[1],"data_offsets":[0,1]}})", "x");
  EXPECT_EQ(loaded.tensors.at(0).tensor.item<int>(), 'x');
  std::string many = R"({"a":{"dtype":"U8")";
  for (int i = 0; i < 1000; i++) many += ",\"field " + std::to_string(i) + "\":0";
  EXPECT_NE(refusal(many + "}}").find("too much describes tensor \"a\""), std::string::npos);
}

TEST_F(SafeTensorsFile, TheMetadataStandOnce) {
  EXPECT_NE(refusal(R"({"__metadata__":{},"__metadata__":{}})").find("stands twice"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"__metadata__":{"a":"1","a":"1"}})").find("\"a\" stands twice"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"__metadata__":{"a":["1"]}})").find("not a text"), std::string::npos);
}

// A header of so many tensors without elements.
std::string many_tensors(int count) {
  std::string header = "{";
  for (int i = 0; i < count; i++) {
    if (i > 0) header += ',';
    header += '"' + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  return header + '}';
}

TEST_F(SafeTensorsFile, TimeGrowsWithTheNumberOfTensorsAndNotWithItsSquare) {
  const auto seconds_for = [&](int count) {
    const std::string header = many_tensors(count);
    const std::clock_t begin = std::clock();
    const SafeTensors loaded = load(header);
    save_safetensors(path("again"), loaded.tensors);
    EXPECT_EQ(std::ssize(loaded.tensors), count);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const double few = seconds_for(5'000);
  EXPECT_LT(seconds_for(40'000), 24 * few);  // 8 times as many; with the square it was 64
}

TEST_F(SafeTensorsFile, MemoryIsBoundedByTheTensorsAndNotByTheHeader) {
  std::string metadata = R"({"__metadata__":{"a":"")", list = R"({"a":{"dtype":"U8","shape":[0)";
  for (int i = 0; i < 1'000'000; i++) {
    metadata += ",\"" + std::to_string(i) + "\":\"\"";
    list += ",0";
  }
  const std::string tensors = many_tensors(300'000);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_NE(refusal(metadata + "}}").find("names"), std::string::npos);
  EXPECT_NE(refusal(list + "]}}").find("too much describes"), std::string::npos);
  EXPECT_NE(refusal(tensors).find("names"), std::string::npos);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 256 << 10);  // KiB; the headers are 45 MB together
}

// ---- saving when it cannot be done ------------------------------------------------------------

TEST_F(SafeTensorsFile, RefusesTwoTensorsOfOneName) {
  const Tensor t = Tensor::from_data({1.f}, {1});
  EXPECT_NE(error_of([&] {
              save_safetensors(path("a"), {{"x", t}, {"x", t}});
            }).find("\"x\""),
            std::string::npos);
  EXPECT_NE(error_of([&] { save_safetensors(path("a"), {{"__metadata__", t}}); }), "");
  EXPECT_NE(error_of([&] {
              save_safetensors(path("a"), {{"\xff", t}});
            }).find("UTF-8"),
            std::string::npos);
  EXPECT_NE(error_of([&] { save_safetensors(path("a"), {{"none", Tensor()}}); }), "");
  EXPECT_EQ(file_count(), 0);
}

TEST_F(SafeTensorsFile, NamesAFolderThatDoesNotExist) {
  const StateDict dict = {{"x", Tensor::from_data({1.f}, {1})}};
  EXPECT_NE(error_of([&] { save_safetensors(path("none/a"), dict); }).find("none/a"),
            std::string::npos);
}

TEST_F(SafeTensorsFile, FullDiskIsAnErrorAndLeavesTheOldFile) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to mount a small file system";
  const std::string disk = path("disk");
  std::filesystem::create_directory(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "cannot mount";
  const std::string target = disk + "/a.safetensors";
  save_safetensors(target, {{"x", Tensor::from_data({1.f}, {1})}});
  const std::string old = content(target);
  const std::string message = error_of([&] {
    save_safetensors(target,
                     {{"x", Tensor::from_data(std::vector<float>(100'000, 1.f), {100'000})}});
  });
  EXPECT_NE(message.find("No space left"), std::string::npos) << message;
  EXPECT_EQ(content(target), old);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(disk), {}), 1);
  umount(disk.c_str());
}

}  // namespace
}  // namespace croze
