// peer_copy_test.cpp -- copies between devices, and parts of views.
#include "croze/device/peer_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/device/direct_stream.h"
#include "croze/device/host_device.h"

namespace croze {
namespace {

// Memory of the process, which the host sees or is told that it does not.
class MemoryDevice final : public HostDevice {
 public:
  explicit MemoryDevice(bool is_seen) : HostDevice("MEMORY", 0), is_seen_(is_seen) {}

  int copies = 0;  // that the host asked for

  std::string description() const override { return "memory of a test"; }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { fail_internal({}, "there is nothing to render"); }
  std::string compile(const std::string&, const std::string& source) override { return source; }
  std::unique_ptr<Program> load(const ProgramInfo&, std::string_view) override { return nullptr; }

  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    copies++;
    HostDevice::copy_in(to, from);
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override {
    copies++;
    HostDevice::copy_out(to, from);
  }
  std::byte* host_address(MemoryView view) override {
    return is_seen_ ? HostDevice::host_address(view) : nullptr;
  }

 private:
  Caps caps_;
  bool is_seen_;
};

// Bytes on a device, numbered from `first` on.
struct Bytes {
  Bytes(MemoryDevice& d, std::int64_t count, int first) : device(d), memory(d.allocate(count)) {
    for (std::int64_t i = 0; i < count; i++) address()[i] = static_cast<std::byte>(first + i);
  }
  ~Bytes() { device.release(memory); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  std::byte* address() const { return static_cast<std::byte*>(memory.handle); }
  MemoryView part(std::int64_t offset, std::int64_t bytes) const {
    return MemoryView::all_of(memory).part(offset, bytes);
  }

  MemoryDevice& device;
  Memory memory;
};

// How often each device was asked to copy, source first.
std::pair<int, int> copies_between(bool sees_source, bool sees_target) {
  MemoryDevice source(sees_source), target(sees_target);
  const Bytes from(source, 16, 0), to(target, 16, 100);
  DirectStream source_stream(source), target_stream(target);
  copy_between({target, target_stream}, to.part(4, 8), {source, source_stream}, from.part(2, 8));
  for (int i = 0; i < 16; i++) {
    const int expected = i >= 4 && i < 12 ? i - 2 : 100 + i;
    EXPECT_EQ(to.address()[i], static_cast<std::byte>(expected)) << i;
  }
  return {source.copies, target.copies};
}

TEST(PeerCopy, IsDirectWhereTheHostSeesBoth) {
  EXPECT_EQ(copies_between(true, true), std::pair(0, 0));
}

TEST(PeerCopy, IsOneCopyWhereTheHostSeesOne) {
  EXPECT_EQ(copies_between(true, false), std::pair(0, 1));
  EXPECT_EQ(copies_between(false, true), std::pair(1, 0));
}

TEST(PeerCopy, GoesThroughTheHostWhereItSeesNeither) {
  EXPECT_EQ(copies_between(false, false), std::pair(1, 1));
}

TEST(PeerCopy, SizesMustMatch) {
  MemoryDevice device(true);
  const Bytes from(device, 16, 0), to(device, 16, 0);
  DirectStream stream(device);
  const DeviceWork work{device, stream};
  EXPECT_THROW(copy_between(work, to.part(0, 8), work, from.part(0, 4)), InternalError);
  copy_between(work, to.part(0, 0), work, from.part(16, 0));
}

TEST(MemoryView, APartIsCountedFromTheStartOfTheView) {
  std::byte bytes[64];
  const MemoryView all = MemoryView::all_of({bytes, 64});
  const MemoryView half = all.part(32, 32), quarter = half.part(8, 16);
  EXPECT_EQ(half.offset, 32);
  EXPECT_EQ(quarter.offset, 40);
  EXPECT_EQ(quarter.bytes, 16);
  EXPECT_EQ(host_bytes(quarter), bytes + 40);
  EXPECT_EQ(half.part(32, 0).bytes, 0);
}

TEST(MemoryView, APartThatLeavesTheViewIsRefused) {
  std::byte bytes[64];
  const MemoryView half = MemoryView::all_of({bytes, 64}).part(32, 32);
  const std::pair<std::int64_t, std::int64_t> parts[] = {
      {-1, 4}, {0, -1}, {0, 33}, {33, 0}, {8, 25}, {INT64_MAX, 1}, {1, INT64_MAX}};
  for (const auto& [offset, size] : parts) {
    try {
      half.part(offset, size);
      FAIL() << offset << " " << size;
    } catch (const Error& e) {
      EXPECT_EQ(e.message(), "a part of " + std::to_string(size) + " bytes from byte " +
                                 std::to_string(offset) + " on leaves a view of 32 bytes");
    }
  }
}

}  // namespace
}  // namespace croze
