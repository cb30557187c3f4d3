// explanation.h -- a schedule as a report: what is launched, what memory it takes, and why.
//
//     Explanation e = explain({loss});
//     for (int b : e.peaks[0].buffers) std::puts(e.buffers[b].why.c_str());
//     std::puts(to_text(e).c_str());
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "croze/graph/dtype.h"
#include "croze/schedule/explain/reason.h"

namespace croze {

struct Caps;
struct Schedule;

// What a loop nest does, and where it comes from.  What is not noted is empty.
struct NestOrigin {
  std::vector<int> reads, writes;  // numbers of buffers
  double cycles = 0;               // estimated
  std::string module;              // of a model: "blocks.0.query"; "." is all of it
  std::string call;                // of the user's that recorded it
  bool is_gradient = false;        // of that call
};

// One launch: loop nests that run at once or block by block, or a copy between devices.
struct ExplainedLaunch {
  std::vector<std::string> nests;   // named after their loops; none: a copy
  std::vector<int> reads, writes;   // numbers of buffers, each once
  std::vector<std::string> parts;   // nodes of a model that it computes, if that was noted
  std::vector<NestOrigin> origins;  // of the nests
  std::int64_t bytes = 0;           // read and written, without what stays in memory of a block
  std::int64_t flops = 0;
  double cycles = 0;             // estimated (schedule/explain/cost.h)
  std::int64_t alive_bytes = 0;  // of the temporaries of its device
  std::int64_t block_bytes = 0;  // memory of blocks, of all threads together
};

// Memory of the run.  Bytes of a Block are those of one block.
struct ExplainedBuffer {
  enum class Kind { Input, Result, Temporary, Block };
  Kind kind = Kind::Temporary;
  std::string device;
  DType dtype = DType::Void;
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;
  std::int64_t room = 0;           // Temporary: bytes of the arena, which are rounded up
  std::int64_t offset = -1;        // Temporary: in the arena; Block: in the memory of a block
  int first = -1, last = -1;       // launches that use it; -1: none does
  int readers = 0;                 // launches that read it
  BufferReason reason;             // why it has a buffer
  Refusal one_nest, one_sequence;  // why its maker and a reader are no one nest, or sequence
  std::string why;                 // the same in words
  std::string call;                // of the user's that recorded it, if that was noted
  std::string name;                // of an Input: the parameter's, if a model gave it one
};

// When most bytes of temporaries are alive on a device.
struct ExplainedPeak {
  std::string device;
  int launch = 0;
  std::int64_t bytes = 0;        // alive there: the room of the buffers together
  std::int64_t arena_bytes = 0;  // that hold them
  std::vector<int> buffers;      // the largest first
};

// A node of the tensor graph, as the program recorded it.
struct ExplainedNode {
  std::string op, argument;  // as print_graph() has them
  DType dtype = DType::Void;
  std::vector<std::int64_t> shape;  // the greatest, where a size is open
  std::vector<int> sources;         // numbers of nodes before it
  std::string module, call;         // as of a nest
  bool is_gradient = false;
  int buffer = -1;  // its memory, or what gets its value; -1: nothing does
};

struct Explanation {
  std::vector<ExplainedLaunch> launches;  // in order
  std::vector<ExplainedBuffer> buffers;   // by number
  std::vector<ExplainedPeak> peaks;       // of each device with temporaries
  std::vector<ExplainedNode> nodes;       // sources first, if calls are noted
  std::int64_t input_bytes = 0, result_bytes = 0;
};

// The tables of launches and buffers, and the peaks, as text for people.
std::string to_text(const Explanation& explanation);

// Internal: of a schedule for devices that can do this.  Calls, parts and nodes are left out.
Explanation explanation_of(const Schedule& schedule,
                           const std::function<const Caps&(int device)>& caps);

// "shared_reduction", for programs.
std::string_view name_of(BufferCause cause);
std::string_view name_of(RefusalCause cause);

// Internal: why, in words; "" if there is nothing to say.
std::string in_words(const BufferReason& reason);
std::string in_words(const Refusal& refusal);

}  // namespace croze
