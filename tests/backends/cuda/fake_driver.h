// fake_driver.h -- a driver of CUDA for tests: two devices whose memory is that of the process.
//
// It implements the driver's functions that croze uses, under their names, in a library that croze
// loads like the real one.  No kernel is run: a launch is checked (its function, the arguments that
// it takes, whether their addresses lie in memory that is allocated when the kernel would run) and
// recorded.
//
// Streams are lazy: what is enqueued is done when somebody waits for it and not before, in the
// order that events ask for.  So whatever relies on more than that order is seen to be wrong.
//
// An image is a text: the kernel's name; a letter for each argument, p for an address, v for a
// number and m for a tensor map, of which the address is recorded, or - for none; and, of a kernel
// that is to fail, the number of the error.  Of PTX the head of its entry is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace croze::fake {

struct Launch {
  std::string kernel;
  int device = 0;
  unsigned groups[3], items[3], group_bytes;
  std::vector<std::uint64_t> arguments;
  bool in_graph = false;
};

// What has been done so far, in the order in which it was done.
const std::vector<Launch>& launches();

struct Counts {
  int allocations = 0, allocated_now = 0, pinned_now = 0;
  int modules_now = 0, streams_now = 0, graphs_now = 0, graph_launches = 0;
  int peer_copies = 0;
  int maps = 0;
};
Counts counts();

// Bytes that each device has.
void limit_memory(std::int64_t bytes);

// Forgets what was done, and heals the devices.
void reset();

}  // namespace croze::fake
