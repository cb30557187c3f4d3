// trace.h -- a trace as it is read.
//
// Files may come from anybody: every length is held against the bytes that are left, every number
// against what stands before it, and memory is a small multiple of the file's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/trace/records.h"

namespace croze::traces {

struct Trace {
  std::vector<std::string_view> texts;  // of the bytes that it was read from
  std::vector<Fact> facts;
  std::vector<Row> rows;
  std::vector<Scope> scopes;
  std::vector<Rule> rules;
  std::vector<Node> nodes;
  std::vector<Pass> passes;
  std::vector<PassResult> pass_results;
  std::vector<Match> matches;
  std::vector<Kernel> kernels;
  std::vector<Schedule> schedules;
  std::vector<Run> runs;
  std::vector<Launch> launches;
  std::vector<Allocation> allocations;
  std::vector<std::int64_t> ends;       // of the allocations; INT64_MAX: not released
  std::vector<Name> names;              // of the allocations: what a model calls the contents
  std::vector<Origins> origins;         // of the schedules; some have none
  std::vector<ModelNodes> model_nodes;  // of the schedules; some have none
  std::vector<TensorGraph> graphs;      // of the schedules; some have none
  std::vector<Samples> samples;         // of kernels, in the order of the file
  std::int64_t lost = 0;                // records that had no room
  bool is_cut = false;                  // the program died while it wrote, or the file was cut

  std::string_view text(Name name) const { return name == 0 ? "" : texts[name - 1]; }
  // "" if there is no such fact.
  std::string_view fact(std::string_view key) const;
};

// Throws Error if the bytes are no trace, or one of a later version, or damaged in other ways than
// being cut short.  `name` is what messages call them.
Trace read_trace(std::span<const std::byte> bytes, std::string_view name);

// A text as a name for people: cut where it is long.
std::string short_name(std::string_view text);
// What a launch is called: its kernels, " > " between those that run block by block or at once.
std::string name_of(const Trace& trace, const PlannedLaunch& launch);
const PlannedLaunch& planned(const Trace& trace, const Launch& launch);
// Of its kernels, in order; empty where nothing was noted.
std::span<const Origin> origins_of(const Trace& trace, const Launch& launch);
// Of a model file, that it computes; empty where there is none.
std::span<const Name> nodes_of(const Trace& trace, const Launch& launch);

}  // namespace croze::traces
