// caps.h -- what a device can do, as data.  The compiler above asks these numbers and nothing else:
// it never asks which device it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/graph/dtype.h"
#include "croze/graph/op.h"

namespace croze {

struct MatrixUnit;

// Caches move lines of so many bytes, and those that lie so far apart share a set of the first one:
// a page, by which it is addressed before the page is known.
inline constexpr std::int64_t cache_line_bytes = 64, cache_set_bytes = 4096;

// How far apart rows of so many bytes are put: those that would all lie in one set are kept apart
// by a line of it.
constexpr std::int64_t bytes_apart(std::int64_t row_bytes) {
  return row_bytes + (row_bytes % cache_set_bytes == 0 ? cache_line_bytes : 0);
}

struct Caps {
  std::string device;        // "CPU", "INTERP", "NULL", "OPENCL", ..: the family
  std::string architecture;  // enters cache keys: CPU model and features, driver version, ...

  // Extensions of the instruction set that compiled code may use, by name; on processors alone.
  std::string extensions;

  OpSet ops;                     // elementwise ops the renderer has; others expand
  std::uint32_t dtypes = 0;      // dtypes with arithmetic (1 << DType)
  std::uint32_t storage = 0;     // dtypes that can be loaded and stored; others travel as integers
  bool keeps_subnormals = true;  // else arithmetic on Float32 may take them for zeros

  // Parallelism.  A device has tasks (a thread pool) or groups of items, never both.
  std::int64_t threads = 1;  // tasks, or groups, worth running at once
  bool has_groups = false;
  std::int64_t max_items = 1;                   // work-items in a group, all axes together
  std::int64_t max_group_axis[3] = {1, 1, 1};   // work-items along one axis
  std::int64_t max_groups_axis[3] = {1, 1, 1};  // groups along one axis
  std::int64_t group_memory = 0;                // bytes of Space::Group memory
  std::int64_t group_element_bytes = 1;         // least that an element takes there
  // Words of 4 bytes that are read there at once; 1: a warp is a vector of a processor, and its
  // lanes read one after the other.
  std::int64_t group_memory_banks = 32;
  bool packs_words = false;  // a store of less than 4 bytes is one to the word around it

  // Items that run in lockstep, one instruction for all.  Where a warp is one item, each has
  // vectors and caches, as below, to itself, and groups are what tasks are elsewhere.
  std::int64_t warp_items = 1;
  bool shuffles_items = false;  // has Op::Shuffle, of warps whose items are neighbours in a group
  bool ballots_items = false;   // has Op::Ballot, of such warps
  bool loads_matrices = false;  // has Op::LoadMatrix, of group memory
  std::int64_t item_registers = 64;  // of 4 bytes, before values of an item go to memory
  std::int64_t unit_registers = 0;   // that the items of a compute unit share; 0: each has its own

  // Vectors and memory.
  std::int64_t vector_bytes = 0;  // widest vector register; 0: scalars only
  std::int64_t vector_registers = 16;
  std::int64_t datapath_bytes = 0;  // of a vector that its units take at a time; 0: all of it
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 1 << 20;
  std::int64_t last_cache_bytes = 0;  // of the cache that cores share; 0: it is not known
  // Places that a thread reads in order side by side where it gets most from memory.
  std::int64_t memory_places = 4;
  std::int64_t alignment = 64;  // of allocations and of offsets in an arena

  std::int64_t max_buffers = 64;  // buffers of one loop nest
  bool joins_nests = false;       // one launch can run many nests and sequences (Device::launch)
  bool masked_vectors = false;    // gated vector loads and stores
  bool exchanges_lanes = false;   // has Op::Exchange
  bool prefetches = false;        // has Op::Prefetch
  bool looks_up = false;          // has Op::Lookup, of whole vectors of elements of four bytes
  bool copies_async = false;      // an item goes on while what it copies to its group is on the way
  bool copies_boxes = false;      // has Op::CopyBox
  // Buffers may be read as images (ProgramInfo::images): four elements at once, through a cache of
  // its own.  The most vectors of four in one; 0: there are no images.
  std::int64_t image_vectors = 0;
  std::vector<const MatrixUnit*> matrix_units;  // by which it has Op::Contract; the best first

  // Whether items of a group work together.  Else a group is one item, and what a task is.
  bool runs_warps() const { return has_groups && warp_items > 1; }

  bool has_op(Op op) const { return contains(ops, op); }
  bool has_dtype(DType t) const { return (dtypes >> static_cast<int>(t)) & 1; }
  bool can_store(DType t) const { return (storage >> static_cast<int>(t)) & 1; }
};

}  // namespace croze
