// Thousands of files that are almost right.  Each is read or refused with an Error, soon and
// without memory that its size does not justify; and what no reader may open is refused by all of
// them.
//
// FUZZ_CASES=n reads n files of each format instead of the quick number, FUZZ_SEED=s starts at seed
// s.  The good files are the seeds of the libFuzzer targets.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <ctime>
#include <functional>

#include "croze/io/gguf/gguf.h"
#include "croze/io/gzip.h"
#include "croze/io/idx.h"
#include "croze/io/image.h"
#include "croze/io/npy.h"
#include "croze/io/onnx/model.h"
#include "croze/io/pytorch/pytorch.h"
#include "croze/io/safetensors.h"
#include "io/mutator.h"
#include "libfuzzer/memory_file.h"
#include "support/files.h"

namespace croze {
namespace {

namespace fs = std::filesystem;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::int64_t bytes_of(const StateDict& tensors) {
  std::int64_t bytes = 0;
  for (const NamedTensor& t : tensors) bytes += t.tensor.numel() * size_of(t.tensor.dtype());
  return bytes;
}

// A format: its readers give the bytes of what is in the file.
struct Format {
  const char* name;
  const char* seeds;  // folder of the corpus
  const char* extension;
  std::int64_t (*read)(const std::string& path);
};

// Decoding is recorded, not computed.
std::int64_t read_gguf(const std::string& path) {
  std::int64_t bytes = 0;
  for (const GgufTensor& t : load_gguf(path).tensors) {
    t.decoded();
    bytes += t.stored.numel() * size_of(t.stored.dtype());
  }
  return bytes;
}

// An expanded tensor has more elements than there are bytes, and no memory for them.
std::int64_t read_pytorch(const std::string& path) {
  return std::ssize(load_pytorch(path).tensors);
}

std::int64_t read_image(const std::string& path) { return load_image(path).numel(); }

const Format formats[] = {
    {"Safetensors", "safetensors", "",
     [](const std::string& path) { return bytes_of(load_safetensors(path).tensors); }},
    {"Gguf", "gguf", "", read_gguf},
    {"Npy", "npy", ".npy",
     [](const std::string& path) {
       return bytes_of({{"", load_npy(path)}});
     }},
    {"Npz", "npy", ".npz", [](const std::string& path) { return bytes_of(load_npz(path)); }},
    {"Idx", "idx", "", [](const std::string& path) { return std::ssize(read_idx(path).bytes); }},
    {"PyTorch", "pytorch", ".pth", read_pytorch},
#if CROZE_HAVE_PNG
    {"Png", "image", ".png", read_image},
#endif
#if CROZE_HAVE_JPEG
    {"Jpeg", "image", ".jpg", read_image},
#endif
    {"Ppm", "image", ".ppm", read_image},
};

class Mutated : public testing::TestWithParam<Format> {
 protected:
  static std::vector<std::string> good_files() {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(fs::path(CORPUS) / GetParam().seeds)) {
      if (entry.path().extension() != GetParam().extension) continue;
      files.push_back(test::content_of(entry.path()));
    }
    std::ranges::sort(files);  // in an order that does not depend on the file system
    return files;
  }
};

std::int64_t peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_P(Mutated, FilesAreReadOrRefusedSoonAndInLittleMemory) {
  constexpr std::int64_t max_ratio = 1040;           // of what deflate can make of its bytes
  constexpr std::int64_t max_kilobytes = 128 << 10;  // all files together
  constexpr double max_seconds = 1;                  // of the processor, for one file
  const std::uint64_t seed = number_from("FUZZ_SEED", 1), cases = number_from("FUZZ_CASES", 500);
  test::Mutator mutator(good_files(), seed);
  const std::int64_t before = peak_kilobytes();
  std::uint64_t read = 0;
  double longest = 0;
  for (std::uint64_t i = 0; i < cases; i++) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", file " + std::to_string(i));
    const std::string bytes = mutator.next();
    const test::MemoryFile file(bytes);
    const std::clock_t begin = std::clock();
    std::int64_t found = 0;
    try {
      found = GetParam().read(file.path());
      read++;
    } catch (const Error&) {
    }
    longest = std::max(longest, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    ASSERT_LE(found, std::ssize(bytes) * max_ratio);
    ASSERT_LE(longest, max_seconds);
  }
  const std::int64_t growth = peak_kilobytes() - before;
  EXPECT_LE(growth, max_kilobytes);
  EXPECT_GT(read, 0u);
  EXPECT_LT(read, cases);
  std::printf("%s: seed %lu, %lu files, %lu read, %lu refused, %.3f s at most, %ld KiB\n",
              GetParam().name, seed, cases, read, cases - read, longest, growth);
}

INSTANTIATE_TEST_SUITE_P(Formats, Mutated, testing::ValuesIn(formats),
                         [](const auto& param) { return std::string(param.param.name); });

// ---- what is no file --------------------------------------------------------------------------

using Readers = test::FilesTest;

TEST_F(Readers, NoneWaitsForAFifo) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  std::vector<std::function<void(const std::string&)>> readers = {
      [](const std::string& p) { GzipReader{p}; }, [](const std::string& p) { onnx::Model{p}; }};
  for (const Format& format : formats) readers.emplace_back(format.read);
  for (const auto& read : readers) {
    for (const std::string& no_file : {path("fifo"), folder(), std::string("/dev/zero")}) {
      EXPECT_NE(test::error_of([&] { read(no_file); }).find("not a regular file"),
                std::string::npos);
    }
  }
}

}  // namespace
}  // namespace croze
