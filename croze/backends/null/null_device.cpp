// null_device.cpp -- nothing, correctly.
#include "croze/backends/null/null_device.h"

#include <algorithm>
#include <atomic>

#include "croze/base/error.h"
#include "croze/device/sealed.h"
#include "croze/render/c_family/c.h"

namespace croze {
namespace {

constexpr std::string_view mark = "null   1";
constexpr std::int64_t memory_limit = std::int64_t{1} << 50;  // a bug if anybody asks for more

class NullProgram final : public Program {
 public:
  NullProgram(ProgramInfo info, std::atomic<std::int64_t>& launches)
      : info_(std::move(info)), launches_(launches) {}
  const ProgramInfo& info() const override { return info_; }
  void launch(std::span<const MemoryView>, std::span<const std::int64_t>) override { launches_++; }

 private:
  ProgramInfo info_;
  std::atomic<std::int64_t>& launches_;
};

class Null final : public NullDevice {
 public:
  explicit Null(int ordinal) : name_(device_label("NULL", ordinal)) {
    caps_.device = "NULL";
    caps_.ops = CRenderer::ops();
    caps_.dtypes = caps_.storage = CRenderer::dtypes();
    caps_.vector_bytes = 32;
    caps_.masked_vectors = true;
  }

  std::string_view name() const override { return name_; }
  std::string description() const override { return "runs nothing, counts launches"; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }
  std::int64_t launches() const override { return launches_; }

  Memory allocate(std::int64_t bytes) override {
    check(bytes >= 0 && bytes <= memory_limit, "NULL: cannot allocate {} bytes", bytes);
    return {.handle = nullptr, .bytes = bytes};
  }
  void release(Memory) noexcept override {}
  void copy_in(MemoryView, std::span<const std::byte>) override {}
  void copy_out(std::span<std::byte> to, MemoryView) override {
    std::ranges::fill(to, std::byte{0});
  }

  std::string compile(const std::string&, const std::string& source) override {
    return seal(mark, source);
  }
  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    unseal(mark, code);
    return std::make_unique<NullProgram>(info, launches_);
  }
  void synchronize() override {}

 private:
  std::string name_;
  Caps caps_;
  CRenderer renderer_;
  std::atomic<std::int64_t> launches_ = 0;
};

}  // namespace

std::unique_ptr<NullDevice> make_null_device(int ordinal) {
  return std::make_unique<Null>(ordinal);
}

}  // namespace croze
