// Thousands of files that are almost right.  Each is read or refused with an Error, soon and
// without memory that its size does not justify; and what no reader may open is refused by all of
// them.
//
// FUZZ_CASES=n reads n files of each format instead of the quick number, FUZZ_SEED=s starts at seed
// s.  The good files are the seeds of the libFuzzer targets.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdio>
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
#include "libfuzzer/memory_file.h"
#include "support/files.h"
#include "support/mutator.h"

namespace croze {
namespace {

namespace fs = std::filesystem;

std::int64_t bytes_of(const StateDict& tensors) {
  std::int64_t bytes = 0;
  for (const NamedTensor& t : tensors) bytes += t.tensor.numel() * size_of(t.tensor.dtype());
  return bytes;
}

// A format: its readers give the bytes of what is in the file.
struct Format {
  const char* name;
  const char* seeds;  // folder
  const char* extension;
  std::int64_t (*read)(const std::string& path);
  std::int64_t always = 0;  // what a small file may hold whatever its size
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

constexpr std::int64_t small_image = 1 << 24;  // where equal pixels take no bytes

const Format formats[] = {
    {"Safetensors", CORPUS "/safetensors", "",
     [](const std::string& path) { return bytes_of(load_safetensors(path).tensors); }},
    {"Gguf", CORPUS "/gguf", "", read_gguf},
    {"Npy", CORPUS "/npy", ".npy",
     [](const std::string& path) {
       return bytes_of({{"", load_npy(path)}});
     }},
    {"Npz", CORPUS "/npy", ".npz",
     [](const std::string& path) { return bytes_of(load_npz(path)); }},
    {"Idx", CORPUS "/idx", "",
     [](const std::string& path) { return std::ssize(read_idx(path).bytes); }},
    {"PyTorch", PYTORCH_GOLDEN, ".pth", read_pytorch},
#if CROZE_HAVE_PNG
    {"Png", CORPUS "/image", ".png", read_image},
#endif
#if CROZE_HAVE_JPEG
    {"Jpeg", CORPUS "/image", ".jpg", read_image},
#endif
#if CROZE_HAVE_TIFF
    {"Tiff", CORPUS "/image", ".tif", read_image, small_image},
#endif
#if CROZE_HAVE_WEBP
    {"Webp", CORPUS "/image", ".webp", read_image, small_image},
#endif
#if CROZE_HAVE_JPEG2000
    {"Jp2", CORPUS "/image", ".jp2", read_image, small_image},
    {"J2k", CORPUS "/image", ".j2k", read_image, small_image},
#endif
    {"Bmp", CORPUS "/image", ".bmp", read_image, small_image},
    {"Ppm", CORPUS "/image", ".ppm", read_image},
};

class Mutated : public testing::TestWithParam<Format> {};

std::int64_t peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_P(Mutated, FilesAreReadOrRefusedSoonAndInLittleMemory) {
  constexpr std::int64_t max_ratio = 1040;           // of what deflate can make of its bytes
  constexpr std::int64_t max_kilobytes = 128 << 10;  // all files together
  constexpr double max_seconds = 1;                  // of the processor, for one file
  const std::int64_t before = peak_kilobytes();
  double longest = 0;
  const auto read = [&](const std::string& bytes) {
    const test::MemoryFile file(bytes);
    const std::clock_t begin = std::clock();
    std::int64_t found = -1;
    try {
      found = GetParam().read(file.path());
    } catch (const Error&) {
    }
    longest = std::max(longest, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    EXPECT_LE(found, std::max(GetParam().always, std::ssize(bytes) * max_ratio));
    EXPECT_LE(longest, max_seconds);
    return found >= 0;
  };
  const test::MutantCounts counts =
      test::for_each_mutant(test::good_files(GetParam().seeds, GetParam().extension), read);
  const std::int64_t growth = peak_kilobytes() - before;
  EXPECT_LE(growth, max_kilobytes);
  std::printf("%s: seed %lu, %lu files, %lu read, %lu refused, %.3f s at most, %ld KiB\n",
              GetParam().name, counts.seed, counts.files, counts.read, counts.files - counts.read,
              longest, growth);
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
