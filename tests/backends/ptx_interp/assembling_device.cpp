// assembling_device.cpp -- runs ptxas on what the renderer writes.
#include "backends/ptx_interp/assembling_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "croze/backends/ptx_interp/ptx_interp_device.h"
#include "croze/base/error.h"
#include "croze/render/ptx/ptx.h"
#include "support/device_suite.h"
#include "support/files.h"

namespace croze::test {
namespace {

constexpr PtxTarget targets[] = {ptx_sm_80, ptx_sm_90a, ptx_sm_100a};

// A folder that is gone with the object.
struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "croze-ptx-XXXXXX").string();
    ensure(mkdtemp(pattern.data()) != nullptr, "no folder for the assembler");
    path = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path;
};

std::string header_of(const PtxTarget& target) {
  return fmt::format(".version {}\n.target {}\n", target.version, target.architecture);
}

// The number between these words of the assembler's notes.
std::int64_t number_in(const std::string& log, std::string_view before, std::string_view after) {
  const std::size_t begin = log.find(before) + before.size(), end = log.find(after, begin);
  std::int64_t number = -1;
  const bool is_there = log.find(before) != std::string::npos && end != std::string::npos;
  if (is_there) std::from_chars(log.data() + begin, log.data() + end, number);
  ensure(number >= 0, "the assembler says nothing of '{}':\n{}", after, log);
  return number;
}

class AssemblingDevice final : public Device {
 public:
  explicit AssemblingDevice(std::string ptxas) : ptxas_(std::move(ptxas)) {}

  std::string_view name() const override { return device_->name(); }
  std::string description() const override { return device_->description(); }
  const Caps& caps() const override { return device_->caps(); }
  const Renderer& renderer() const override { return device_->renderer(); }

  Memory allocate(std::int64_t bytes) override { return device_->allocate(bytes); }
  void release(Memory memory) noexcept override { device_->release(memory); }
  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    device_->copy_in(to, from);
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override { device_->copy_out(to, from); }
  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    return device_->load(info, code);
  }
  void synchronize() override {}

  std::string compile(const std::string& name, const std::string& source) override {
    const std::string header = header_of(ptx_sm_80);
    if (source.starts_with(header_of(ptx_sm_90a))) {  // what no other target has
      assemble(name, ptx_sm_90a, source);
      return device_->compile(name, source);
    }
    ensure(source.starts_with(header), "kernel {} is for another target", name);
    for (const PtxTarget& target : targets) {
      assemble(name, target, header_of(target) + source.substr(header.size()));
    }
    return device_->compile(name, source);
  }

 private:
  void assemble(const std::string& name, const PtxTarget& target, const std::string& text) {
    const std::string file = (folder_.path / "kernel.ptx").string();
    std::ofstream(file) << text;
    const std::string line = fmt::format("{0} -v -arch={1} {2} -o {2}.cubin >{2}.log 2>&1", ptxas_,
                                         target.architecture, file);
    const bool is_taken = std::system(line.c_str()) == 0;
    const std::string log = content_of(file + ".log");
    ensure(is_taken, "kernel {}: ptxas refuses it for {}: {}\n{}", name, target.architecture, log,
           text);
    Assembled& sum = assembled()[std::string(target.architecture)];
    sum.kernels++;
    sum.most_registers = std::max(sum.most_registers, number_in(log, "Used ", " registers"));
    sum.spilling += number_in(log, "stack frame, ", " bytes spill stores") > 0;
  }

  std::unique_ptr<Device> device_ = make_ptx_interp_device();
  std::string ptxas_;
  Folder folder_;
};

}  // namespace

std::map<std::string, Assembled>& assembled() {
  static std::map<std::string, Assembled> sums;
  return sums;
}

std::string find_ptxas() {
  namespace fs = std::filesystem;
  if (fs::is_directory(CUDA_TOOLS)) {
    for (const auto& entry : fs::recursive_directory_iterator(CUDA_TOOLS)) {
      if (entry.path().filename() == "ptxas") return entry.path().string();
    }
  }
  return std::system("ptxas --version >/dev/null 2>&1") == 0 ? "ptxas" : "";
}

std::unique_ptr<Device> make_assembling_device(std::string ptxas) {
  return std::make_unique<AssemblingDevice>(std::move(ptxas));
}

// The suites of all devices run on it.
Device* device_under_test() {
  static const std::unique_ptr<Device> device = []() -> std::unique_ptr<Device> {
    const std::string ptxas = find_ptxas();
    return ptxas.empty() ? nullptr : make_assembling_device(ptxas);
  }();
  return device.get();
}

}  // namespace croze::test
