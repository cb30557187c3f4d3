// record.h -- what the compiler makes of a graph, and the file that keeps it.
//
// A record holds numbers and hashes, a kernel a line, sorted, so that the difference of two files
// says what a change of the compiler did.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command_line/json.h"

namespace croze::replay {

// What a run of the graph does.
struct Totals {
  std::int64_t launches = 0;
  std::int64_t nests = 0;  // in them
  std::int64_t flops = 0;
  std::int64_t bytes = 0;              // that nests load and store, but in the memory of a block
  std::int64_t arena_bytes = 0;        // of temporaries
  std::int64_t arena_lower_bound = 0;  // the most of them alive at once
  std::int64_t block_bytes = 0;        // of all sequences, for one block each
  std::int64_t cycles = 0;             // as estimated (measure.h)

  bool operator==(const Totals&) const = default;
};

// Names and members, in the order of the file.
inline constexpr std::pair<const char*, std::int64_t Totals::*> total_members[] = {
    {"launches", &Totals::launches},
    {"nests", &Totals::nests},
    {"flops", &Totals::flops},
    {"bytes", &Totals::bytes},
    {"arena_bytes", &Totals::arena_bytes},
    {"arena_lower_bound", &Totals::arena_lower_bound},
    {"block_bytes", &Totals::block_bytes},
    {"cycles", &Totals::cycles}};

struct KernelRecord {
  std::string name;         // after its loops; kernels may share it
  std::string key;          // a hash of what it computes
  bool in_blocks = false;   // it runs block by block, on one thread
  std::int64_t nests = 0;   // of the schedule that are this kernel
  std::int64_t flops = 0;   // of one run
  std::int64_t bytes = 0;   // likewise
  std::int64_t cycles = 0;  // likewise
  std::string edits;        // that the compiler chose
  std::string program;      // a hash of the linear program

  auto operator<=>(const KernelRecord&) const = default;
};

struct GraphRecord {
  std::string name;
  std::string machine;  // that it is compiled for
  Totals totals;
  std::vector<KernelRecord> kernels;  // sorted

  bool operator==(const GraphRecord&) const = default;
};

Json json_of(const Totals& totals);
Json json_of(const KernelRecord& kernel);

// The file of a graph in a folder of records.
std::string record_path(const std::string& folder, const std::string& graph);
// Replaces it.
void write_record(const std::string& path, const GraphRecord& record);
// Throws Error that names the file if it cannot be read, is no record or one of another version.
GraphRecord read_record(const std::string& path);

// The graphs of a folder of records, by name.  Throws Error if there is no such folder.
std::vector<std::string> recorded_graphs(const std::string& folder);

}  // namespace croze::replay
