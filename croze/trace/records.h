// records.h -- what a trace holds, and how it is written.
//
// A trace is a file that a program writes while it runs, for tools that show what it did.  It opens
// with `magic` and the version, 32 bits; chunks follow.  A chunk is the number of its bytes, 32
// bits, and records; it is written in one go, so a program that dies leaves whole chunks behind and
// perhaps a piece of one, which readers ignore.  All numbers are little-endian.
//
// A record is its kind, one byte, the number of bytes of its fields, and the fields.  Readers skip
// kinds that they do not know, and fields beyond those that they know.  Numbers have variable
// length, seven bits a byte, the lowest first; signed ones are zigzagged before.  Times are
// nanoseconds since the trace began, written as the difference to the time before in the same
// chunk.
//
// What is wanted often is written once and then named by its number, which is its place among the
// records of its kind: texts (counted from 1; 0 is the empty text), rows, rules, nodes, passes,
// kernels, schedules, runs.  A record names only what stands before it, so nodes cannot form a
// circle.
//
// Each record is a struct whose code() lists its fields for the Encoder and the Decoder alike.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace croze::traces {

constexpr std::string_view magic = "croze trace\n";
constexpr std::uint32_t version = 1;
constexpr std::int64_t max_chunk_bytes = 64 << 20;

enum class Kind : std::uint8_t {
  Text = 1,
  Fact,
  Row,
  Scope,
  Rule,
  Node,
  Pass,
  PassResult,
  Match,
  Kernel,
  Schedule,
  Run,
  Launch,
  Allocation,
  Release,
  Lost,
  TensorName,
  Origins,
  Samples,
  ModelNodes,
  TensorGraph,
};

// A number that names another record.
using Name = std::uint32_t;  // a text
using Number = std::uint32_t;

// The numbers, with the least bytes of one each.
template <typename C>
void code_numbers(C& c, std::vector<std::uint32_t>& numbers) {
  c.list(numbers, 1, [&](std::uint32_t& n) { c.number(n); });
}

// Something of the machine or the program: "version", "program", "device CPU".
struct Fact {
  static constexpr Kind kind = Kind::Fact;
  Name key = 0, value = 0;

  template <typename C>
  void code(C& c) {
    c.name(key);
    c.name(value);
  }
};

// What things happen on: a thread of the program, or what a thread has launched on a device.
struct Row {
  static constexpr Kind kind = Kind::Row;
  enum class What : std::uint8_t { Thread, Queue };
  What what = What::Thread;
  Name name = 0;

  template <typename C>
  void code(C& c) {
    c.choice(what, What::Queue);
    c.name(name);
  }
};

// Something that took time on a row.  Scopes of a row nest.  Written at its end.
struct Scope {
  static constexpr Kind kind = Kind::Scope;
  enum class What : std::uint8_t { Schedule, Kernel, Pass, Run };
  What what = What::Schedule;
  Number row = 0;
  Name name = 0, detail = 0;
  std::int64_t start = 0, duration = 0;

  template <typename C>
  void code(C& c) {
    c.choice(what, What::Run);
    c.number(row);
    c.name(name);
    c.name(detail);
    c.time(start);
    c.duration(duration);
  }
};

// ---- rewrites ---------------------------------------------------------------------------------

struct Rule {
  static constexpr Kind kind = Kind::Rule;
  Name text = 0;   // "x + 0 -> x"; of a rule that is a function, what it matches
  Name place = 0;  // "algebra.cpp:12"

  template <typename C>
  void code(C& c) {
    c.name(text);
    c.name(place);
  }
};

struct Node {
  static constexpr Kind kind = Kind::Node;
  Name op = 0, dtype = 0, argument = 0;
  std::vector<Number> sources;  // how many nodes before this one each stands

  template <typename C>
  void code(C& c) {
    c.name(op);
    c.name(dtype);
    c.name(argument);
    code_numbers(c, sources);
  }
};

// A pass over a kernel begins.
struct Pass {
  static constexpr Kind kind = Kind::Pass;
  Name kernel = 0, name = 0;
  std::int64_t start = 0;

  template <typename C>
  void code(C& c) {
    c.name(kernel);
    c.name(name);
    c.time(start);
  }
};

// The kernel as a pass has left it.
struct PassResult {
  static constexpr Kind kind = Kind::PassResult;
  Number pass = 0, node = 0;

  template <typename C>
  void code(C& c) {
    c.number(pass);
    c.number(node);
  }
};

// A rule has put `after` in the place of `before`.
struct Match {
  static constexpr Kind kind = Kind::Match;
  Number pass = 0;
  Name set = 0;  // of rules
  Number rule = 0, before = 0, after = 0;
  std::int64_t ns = 0;

  template <typename C>
  void code(C& c) {
    c.number(pass);
    c.name(set);
    c.number(rule);
    c.number(before);
    c.number(after);
    c.duration(ns);
  }
};

// ---- what is launched -------------------------------------------------------------------------

// A compiled loop nest.
struct Kernel {
  static constexpr Kind kind = Kind::Kernel;
  Name name = 0, key = 0, device = 0;
  Name graph = 0;    // as it was scheduled: print_graph()
  Name edits = 0;    // that were made of it
  Name program = 0;  // the linear program
  Name source = 0, assembly = 0;
  Name size = 0;  // of a launch: "tasks x items"
  std::int64_t flops = 0, bytes = 0, code_bytes = 0;

  template <typename C>
  void code(C& c) {
    for (Name* n : {&name, &key, &device, &graph, &edits, &program, &source, &assembly, &size}) {
      c.name(*n);
    }
    c.number(flops);
    c.number(bytes);
    c.number(code_bytes);
  }
};

// How often a thread was seen at an instruction.
struct Sample {
  static constexpr std::int64_t least_bytes = 2;
  std::int64_t offset = 0;  // in the code: what stands before it in the disassembly
  std::int64_t count = 0;

  template <typename C>
  void code(C& c) {
    c.number(offset);
    c.number(count);
  }
};

// Where threads were in the code of a kernel.  There may be several of a kernel, which add up.
struct Samples {
  static constexpr Kind kind = Kind::Samples;
  Number kernel = 0;
  std::vector<Sample> places;

  template <typename C>
  void code(C& c) {
    c.number(kernel);
    c.list(places, Sample::least_bytes, [&](Sample& s) { s.code(c); });
  }
};

// What one launch of a schedule runs: kernels at once or block by block, or a copy (none).
struct PlannedLaunch {
  static constexpr std::int64_t least_bytes = 14;
  Name device = 0;
  std::vector<Number> kernels;
  std::vector<std::uint32_t> reads, writes;  // buffers of the schedule
  std::int64_t flops = 0, bytes = 0;
  double cycles = 0;  // estimated

  template <typename C>
  void code(C& c) {
    c.name(device);
    code_numbers(c, kernels);
    code_numbers(c, reads);
    code_numbers(c, writes);
    c.number(flops);
    c.number(bytes);
    c.real(cycles);
  }
};

struct PlannedBuffer {
  static constexpr std::int64_t least_bytes = 11;
  enum class What : std::uint8_t { Input, Result, Temporary, Block };
  What what = What::Input;
  Name device = 0, dtype = 0;
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;                           // of its value
  std::int64_t room = 0;                            // that it takes
  std::int64_t offset = 0;                          // Temporary: in the arena
  std::uint32_t first_plus_1 = 0, last_plus_1 = 0;  // launches that use it; 0: none does
  Name why = 0, call = 0;                           // why it is there, and whose call recorded it

  template <typename C>
  void code(C& c) {
    c.choice(what, What::Block);
    c.name(device);
    c.name(dtype);
    c.list(shape, 1, [&](std::int64_t& size) { c.number(size); });
    c.number(bytes);
    c.number(room);
    c.number(offset);
    c.number(first_plus_1);
    c.number(last_plus_1);
    c.name(why);
    c.name(call);
  }
};

// Memory for the temporaries of a run on a device.
struct PlannedArena {
  static constexpr std::int64_t least_bytes = 3;
  Name device = 0;
  std::int64_t bytes = 0;
  std::int64_t peak = 0;  // the most that is alive at once

  template <typename C>
  void code(C& c) {
    c.name(device);
    c.number(bytes);
    c.number(peak);
  }
};

struct Schedule {
  static constexpr Kind kind = Kind::Schedule;
  std::vector<PlannedLaunch> launches;
  std::vector<PlannedBuffer> buffers;
  std::vector<PlannedArena> arenas;

  template <typename C>
  void code(C& c) {
    const auto item = [&](auto& i) { i.code(c); };
    c.list(launches, PlannedLaunch::least_bytes, item);
    c.list(buffers, PlannedBuffer::least_bytes, item);
    c.list(arenas, PlannedArena::least_bytes, item);
  }
};

// What a kernel of a launch does, and for whom.
struct Origin {
  static constexpr std::int64_t least_bytes = 6;
  Name module = 0;           // of a model: "blocks.0.query"; "." is all of it
  Name call = 0;             // of the user's that recorded it: "conv2d (net.cpp:12)"
  bool is_gradient = false;  // of that call
  std::int64_t cycles = 0;   // estimated
  std::vector<std::uint32_t> reads, writes;  // buffers of the schedule

  template <typename C>
  void code(C& c) {
    c.name(module);
    c.name(call);
    c.number(is_gradient);
    c.number(cycles);
    code_numbers(c, reads);
    code_numbers(c, writes);
  }
};

// Of the kernels of a launch, in order.
struct LaunchOrigins {
  static constexpr std::int64_t least_bytes = 1;
  std::vector<Origin> kernels;

  template <typename C>
  void code(C& c) {
    c.list(kernels, Origin::least_bytes, [&](Origin& o) { o.code(c); });
  }
};

// Follows a schedule, where calls were noted when it was made.
struct Origins {
  static constexpr Kind kind = Kind::Origins;
  Number schedule = 0;
  std::vector<LaunchOrigins> launches;  // in order
  std::vector<Name> buffers;            // what their contents are called: "blocks.0.query.weight"

  template <typename C>
  void code(C& c) {
    c.number(schedule);
    c.list(launches, LaunchOrigins::least_bytes, [&](LaunchOrigins& l) { l.code(c); });
    c.list(buffers, 1, [&](Name& name) { c.name(name); });
  }
};

// The nodes of a model file that a launch computes: "Conv (node "stem")".
struct LaunchNodes {
  static constexpr std::int64_t least_bytes = 1;
  std::vector<Name> nodes;

  template <typename C>
  void code(C& c) {
    c.list(nodes, 1, [&](Name& name) { c.name(name); });
  }
};

// Follows a schedule, where calls were noted and it runs a model file.
struct ModelNodes {
  static constexpr Kind kind = Kind::ModelNodes;
  Number schedule = 0;
  std::vector<LaunchNodes> launches;  // in order

  template <typename C>
  void code(C& c) {
    c.number(schedule);
    c.list(launches, LaunchNodes::least_bytes, [&](LaunchNodes& l) { l.code(c); });
  }
};

// A node of the tensor graph, as the program recorded it.
struct TensorNode {
  static constexpr std::int64_t least_bytes = 9;
  Name op = 0, dtype = 0, argument = 0;
  std::vector<std::int64_t> shape;
  std::vector<Number> sources;  // how many nodes before this one each stands
  Name module = 0, call = 0;    // as of an Origin
  bool is_gradient = false;
  std::uint32_t buffer_plus_1 = 0;  // its memory, or what gets its value; 0: nothing does

  template <typename C>
  void code(C& c) {
    c.name(op);
    c.name(dtype);
    c.name(argument);
    c.list(shape, 1, [&](std::int64_t& size) { c.number(size); });
    code_numbers(c, sources);
    c.name(module);
    c.name(call);
    c.number(is_gradient);
    c.number(buffer_plus_1);
  }
};

// What a schedule computes.  Follows it, where calls were noted when it was made.
struct TensorGraph {
  static constexpr Kind kind = Kind::TensorGraph;
  Number schedule = 0;
  std::vector<TensorNode> nodes;  // sources first

  template <typename C>
  void code(C& c) {
    c.number(schedule);
    c.list(nodes, TensorNode::least_bytes, [&](TensorNode& n) { n.code(c); });
  }
};

// ---- what happened ----------------------------------------------------------------------------

// A result of a run, and the memory that it is written to.
struct RunResult {
  std::uint32_t buffer = 0;  // of the schedule
  std::int64_t memory = 0;

  template <typename C>
  void code(C& c) {
    c.number(buffer);
    c.number(memory);
  }
};

// A schedule is about to be launched; a Scope tells of its end.
struct Run {
  static constexpr Kind kind = Kind::Run;
  Number row = 0, schedule = 0;
  Name call = 0;  // the user's
  std::int64_t start = 0;
  std::vector<std::int64_t> arenas;  // memory of its temporaries, in the order of the schedule
  std::vector<RunResult> results;

  template <typename C>
  void code(C& c) {
    c.number(row);
    c.number(schedule);
    c.name(call);
    c.time(start);
    c.list(arenas, 1, [&](std::int64_t& memory) { c.number(memory); });
    c.list(results, 2, [&](RunResult& result) { result.code(c); });
  }
};

struct Launch {
  static constexpr Kind kind = Kind::Launch;
  Number row = 0, run = 0;
  std::uint32_t launch = 0;  // of the schedule
  std::int64_t start = 0, duration = 0;

  template <typename C>
  void code(C& c) {
    c.number(row);
    c.number(run);
    c.number(launch);
    c.time(start);
    c.duration(duration);
  }
};

struct Allocation {
  static constexpr Kind kind = Kind::Allocation;
  enum class What : std::uint8_t { Buffer, Arena };
  What what = What::Buffer;
  std::int64_t memory = 0;  // its id; that of released memory may come again
  Name device = 0;
  std::int64_t bytes = 0, time = 0;
  Name contents = 0, call = 0;  // "float32[1000]", and whose call asked for it

  template <typename C>
  void code(C& c) {
    c.choice(what, What::Arena);
    c.number(memory);
    c.name(device);
    c.number(bytes);
    c.time(time);
    c.name(contents);
    c.name(call);
  }
};

struct Release {
  static constexpr Kind kind = Kind::Release;
  std::int64_t memory = 0, time = 0;

  template <typename C>
  void code(C& c) {
    c.number(memory);
    c.time(time);
  }
};

// What the contents of memory are called from now on: "blocks.0.query.weight".
struct TensorName {
  static constexpr Kind kind = Kind::TensorName;
  std::int64_t memory = 0;
  Name name = 0;

  template <typename C>
  void code(C& c) {
    c.number(memory);
    c.name(name);
  }
};

// Records that had no room any more.
struct Lost {
  static constexpr Kind kind = Kind::Lost;
  std::int64_t records = 0;

  template <typename C>
  void code(C& c) {
    c.number(records);
  }
};

}  // namespace croze::traces
