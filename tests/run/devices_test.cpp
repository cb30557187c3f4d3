// devices_test.cpp -- devices by kind and ordinal: what is their own, and what they share.
#include "croze/run/devices.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/graph/graph.h"
#include "croze/run/buffers.h"
#include "croze/run/execute.h"
#include "croze/run/queue_scope.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::message_of;

std::string refusal_of(std::string_view name) {
  return message_of([&] { device_index(name); });
}

using Floats = std::vector<float>;

UOp buffer_of(Graph& graph, const Floats& values, std::string_view device) {
  const UOp x = new_buffer(graph, DType::Float32, std::ssize(values), device_index(device));
  write_buffer(x, std::as_bytes(std::span(values)));
  return x;
}

Floats read(UOp buffer) {
  Floats values(static_cast<std::size_t>(buffer.elements()));
  read_buffer(buffer, std::as_writable_bytes(std::span(values)));
  return values;
}

UOp realized(UOp root) { return realize(std::span(&root, 1))[0]; }

UOp copied(UOp x, std::string_view device) {
  return x.graph().make(Op::Copy, x.dtype(), {x},
                        Arg(static_cast<std::int64_t>(device_index(device))));
}

// Two devices of each kind that the machine has two of.  OPENCL is among them where PoCL is told to
// show two (CMakeLists.txt).
std::vector<std::pair<std::string, std::string>> pairs_of_devices() {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const DeviceEntry& entry : list_devices()) {
    if (!entry.available) continue;
    if (entry.last_ordinal > 0) pairs.emplace_back(entry.name, entry.name + ":1");
    if (entry.name == "OPENCL:1") pairs.emplace_back("OPENCL", entry.name);
  }
  return pairs;
}

// ---- names ------------------------------------------------------------------------------------

TEST(Devices, TheFirstOfAKindNeedsNoOrdinal) {
  for (const char* kind : {"CPU", "OPENCL", "C", "INTERP", "NULL", "WEBGPU", "CUDA", "VULKAN"}) {
    EXPECT_EQ(device_index(std::string(kind) + ":0"), device_index(kind));
    EXPECT_EQ(device_name(device_index(kind)), kind);
  }
}

TEST(Devices, AnOrdinalIsPartOfTheName) {
  for (const char* name : {"CPU:1", "CPU:15", "C:2", "INTERP:3", "NULL:4"}) {
    EXPECT_EQ(device_name(device_index(name)), name);
  }
  EXPECT_EQ(device_name(device_index("interp:02")), "INTERP:2");
  EXPECT_EQ(device(device_index("INTERP:3")).name(), "INTERP:3");
  EXPECT_EQ(device(device_index("NULL:4")).name(), "NULL:4");
}

TEST(Devices, WhatIsNoOrdinalIsRefusedSayingWhatThereIs) {
  for (const char* ordinal : {"", "-1", "+1", "16", "99999999999", "1 ", "x", "1:1", "0x1"}) {
    const std::string name = std::string("CPU:") + ordinal;
    EXPECT_EQ(refusal_of(name),
              "there is no device '" + name + "'; there are CPU:0, which is CPU, to CPU:15");
  }
  EXPECT_EQ(refusal_of("WEBGPU:1"),
            "there is no device 'WEBGPU:1'; there is one, WEBGPU or WEBGPU:0");
}

TEST(Devices, AKindThatIsNotKnownIsRefusedListingThoseThatAre) {
  for (const char* name : {"TPU", "TPU:0", ":1", "", "CPU1"}) {
    EXPECT_EQ(refusal_of(name),
              "there is no device '" + std::string(name) +
                  "'; croze knows CPU, OPENCL, C, INTERP, NULL, WEBGPU, CUDA, VULKAN");
  }
}

// Processors to compile for need not be here.
TEST(Devices, TargetsHaveNames) {
  for (const Target& target : list_targets()) {
    EXPECT_EQ(target_named(target.name).caps.architecture, target.caps.architecture);
    EXPECT_NE(target.renderer, nullptr);
  }
  try {
    target_named("sm_1");
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(),
              "croze does not compile for 'sm_1'; it does for sm_80, sm_90a, sm_100a, gfx942, "
              "gfx950, gfx1100, gfx1200, hip, metal");
  }
}

// Devices of OpenCL are what the machine has, each listed.
TEST(Devices, OfHardwareThereAreAsManyAsWereFound) {
  int found = 0;
  for (const DeviceEntry& entry : list_devices()) {
    if (!entry.name.starts_with("OPENCL") || !entry.available) continue;
    EXPECT_EQ(device_index(entry.name), device_index("OPENCL:" + std::to_string(found)));
    EXPECT_EQ(device(device_index(entry.name)).name(), entry.name);
    found++;
  }
  const std::string refusal = refusal_of("OPENCL:" + std::to_string(std::max(found, 1)));
  EXPECT_NE(refusal.find(found == 0   ? "this machine has none"
                         : found == 1 ? "there is one, OPENCL or OPENCL:0"
                                      : "to OPENCL:" + std::to_string(found - 1)),
            std::string::npos)
      << refusal;
}

TEST(Devices, TheDefaultDeviceMayHaveAnOrdinal) {
  const Options::Scope scope{{Option::Device, "INTERP:2"}};
  EXPECT_EQ(default_device(), device_index("INTERP:2"));
}

// ---- devices of the same machine --------------------------------------------------------------

TEST(Devices, EachHasItsOwnMemory) {
  const int first = device_index("CPU"), second = device_index("CPU:1");
  Graph graph;
  const MemoryUse all = memory_use(), before_first = memory_use(first),
                  before_second = memory_use(second);
  const UOp x = buffer_of(graph, Floats(1000), "CPU:1");
  EXPECT_EQ(memory_use(second).bytes, before_second.bytes + 4000);
  EXPECT_EQ(memory_use(second).buffers, before_second.buffers + 1);
  EXPECT_EQ(memory_use(first).bytes, before_first.bytes);
  EXPECT_EQ(memory_use(first).buffers, before_first.buffers);
  EXPECT_EQ(memory_use().bytes, all.bytes + 4000);
  release_buffer(x.buffer_id());
  EXPECT_EQ(memory_use(second).bytes, before_second.bytes);
  EXPECT_GE(memory_use(second).peak_bytes, 4000);
  EXPECT_EQ(memory_use().bytes, all.bytes);
}

TEST(Devices, EachComputesWhereItsMemoryIs) {
  for (const auto& [one, other] : pairs_of_devices()) {
    if (one == "NULL") continue;
    Graph graph;
    const UOp x = buffer_of(graph, {1, 2, 3}, one), y = buffer_of(graph, {10, 20, 30}, other);
    const UOp roots[] = {x * 2, y * 2, copied(x, other) + y, copied(y, one) - x};
    const std::vector<UOp> r = realize(roots);
    EXPECT_EQ(read(r[0]), (Floats{2, 4, 6}));
    EXPECT_EQ(read(r[1]), (Floats{20, 40, 60}));
    EXPECT_EQ(read(r[2]), (Floats{11, 22, 33}));
    EXPECT_EQ(read(r[3]), (Floats{9, 18, 27}));
    const std::vector<std::string> places = {one, other, other, one};
    for (std::size_t i = 0; i < places.size(); i++) {
      EXPECT_EQ(device_name(r[i].buffer_device()), places[i]);
    }
  }
}

// The disk has no part in it: the tests of this folder do not use its cache.
TEST(Devices, AKernelIsCompiledOnceForAllOfAKind) {
  for (const auto& [one, other] : pairs_of_devices()) {
    Graph graph;
    const auto compute = [&graph](const std::string& name) {
      const std::int64_t before = run_statistics().kernels_compiled;
      const UOp x = buffer_of(graph, {1, 2, 3, 4}, name);
      const Floats values = read(realized(x * graph.constant(DType::Float32, 0.375) + 17));
      if (!name.starts_with("NULL")) {
        EXPECT_EQ(values, (Floats{17.375f, 17.75f, 18.125f, 18.5f})) << name;
      }
      return run_statistics().kernels_compiled - before;
    };
    ASSERT_FALSE(Options::flag(Option::Cache));
    EXPECT_EQ(compute(one), 1) << one;
    EXPECT_EQ(compute(other), 0) << other;
  }
}

TEST(Devices, EachHasQueuesOfItsOwn) {
  Graph graph;
  const UOp x = buffer_of(graph, {1, 2, 3}, "CPU"), y = buffer_of(graph, {10, 20, 30}, "CPU:1");
  Queue first = make_queue("CPU"), second = make_queue("CPU:1");
  EXPECT_EQ(first.device().name(), "CPU");
  EXPECT_EQ(second.device().name(), "CPU:1");
  const Timeline go;
  first.wait(go, 1);  // the first one is held up
  UOp held, free;
  {
    const QueueScope scope(first);
    held = realized(x * 3);
  }
  {
    const QueueScope scope(second);
    free = realized(y * 3);
  }
  EXPECT_EQ(read(free), (Floats{30, 60, 90}));
  go.signal(1);
  EXPECT_EQ(read(held), (Floats{3, 6, 9}));
}

// What another queue computes is there before it is copied.
TEST(Devices, ACopyWaitsForTheQueueThatComputesWhatItTakes) {
  Graph graph;
  const UOp x = buffer_of(graph, {1, 2, 3}, "CPU");
  Queue first = make_queue("CPU"), second = make_queue("CPU:1");
  UOp there;
  const Timeline go;
  first.wait(go, 1);
  std::thread late([&] { go.signal(1); });
  {
    const QueueScope scope(first);
    const UOp tripled = realized(x * 3);
    const QueueScope inner(second);
    there = realized(copied(tripled, "CPU:1") + 1);
  }
  EXPECT_EQ(read(there), (Floats{4, 7, 10}));
  late.join();
}

}  // namespace
}  // namespace croze
