// device.h -- what a device offers: memory, programs, streams of work, and its capabilities.
// The whole contract of a back end stands on this page.  Every function may be called by several
// threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/small_vector.h"
#include "croze/device/caps.h"
#include "croze/device/launch_size.h"

namespace croze {

class Renderer;
class RecordedBatch;

// A piece of device memory.  What `handle` is, only the device knows (an address, a cl_mem, ...).
struct Memory {
  void* handle = nullptr;
  std::int64_t bytes = 0;
};

// Part of it: what a kernel gets for one of its parameters.
struct MemoryView {
  Memory memory;
  std::int64_t offset = 0;  // bytes, whole elements
  std::int64_t bytes = 0;
  bool per_block = false;  // part of the memory of a block of a Sequence; `memory` is empty

  static MemoryView all_of(Memory memory) { return {memory, 0, memory.bytes}; }
  // `bytes` of this view, from byte `offset` of it on.  Throws Error if it has no such part.
  MemoryView part(std::int64_t offset, std::int64_t bytes) const;
};

// How a program is launched.  On a device with a thread pool: `tasks` calls.  On a device with
// groups: a grid of groups of items.  Of no tasks, or no groups along an axis, nothing is run.
struct Launch {
  LaunchSize tasks;
  LaunchSize groups[3];
  std::int64_t items[3] = {1, 1, 1};
  std::int64_t scratch_bytes = 0;  // Space::Thread memory per task, on devices with tasks
};

// The values that a kernel was compiled for.
struct VariableBounds {
  std::int64_t lo = INT64_MIN, hi = INT64_MAX;
};

// What a buffer must have where that depends on variables.
struct BufferSize {
  int buffer = 0;
  LaunchSize bytes;
};

// How a kernel copies parts of a buffer by Op::CopyBox: axes in elements, the innermost first.
struct BoxedBuffer {
  std::int64_t slot = 0;
  DType dtype = DType::Void;
  std::vector<std::int64_t> sizes, strides, box;
  bool operator==(const BoxedBuffer&) const = default;
};

// A buffer that a kernel reads as an image, of whose elements four are a pixel.
struct ImageBuffer {
  std::int64_t slot = 0;
  std::int64_t element_bytes = 0;
  std::int64_t pixel_bytes() const { return 4 * element_bytes; }
  bool operator==(const ImageBuffer&) const = default;
};

// What is known of a compiled kernel beside its code.
struct ProgramInfo {
  std::string name;
  Launch launch;
  int num_buffers = 0;
  int num_variables = 0;
  std::int64_t flops = 0;  // arithmetic operations on elements, a multiply-add counts two
  std::int64_t bytes = 0;  // distinct bytes of the buffers touched
  std::vector<VariableBounds> variables = {};  // by slot; those beyond the end are any number
  std::vector<BufferSize> sizes = {};          // of buffers whose size is open
  std::uint64_t written = ~std::uint64_t{0};   // which buffers it stores into, where that is known
  std::vector<ImageBuffer> images = {};        // that it reads; a launch may have none of them
  std::vector<BoxedBuffer> boxed = {};         // how it copies from buffers by boxes

  bool writes(std::size_t buffer) const { return buffer >= 64 || (written >> buffer & 1) != 0; }
  bool reads_image(std::int64_t buffer) const;
};

// One task of a kernel, on the calling thread.  `buffers` and `variables` are in the order of its
// parameters; `scratch` is memory for this call alone, of Launch::scratch_bytes, aligned to 64.
using HostFunction = void (*)(void* const* buffers, const std::int64_t* variables,
                              std::int64_t task, void* scratch);

// A kernel ready to run.
class Program {
 public:
  virtual ~Program() = default;

  virtual const ProgramInfo& info() const = 0;

  // Enqueues one run.  The order of launches on a device is the order of calls.
  virtual void launch(std::span<const MemoryView> buffers,
                      std::span<const std::int64_t> variables) = 0;

  // The kernel as a function of this process, for as long as the program lives; it allocates
  // nothing, waits for nothing and calls no system.  Null where it is none.  (optional)
  virtual HostFunction host_function() const { return nullptr; }

  // The machine code as text, for CROZE_DEBUG=6.  (optional)
  virtual std::string disassembly() const { return {}; }

  // The machine code itself, where this process runs it: what disassembly() shows, for as long as
  // the program lives.  (optional)
  virtual std::span<const std::byte> machine_code() const { return {}; }
};

// Checks the arguments of a launch.  Throws InternalError if there are too few, and Error, naming
// the kernel, if a variable has a value that it was not compiled for or a buffer is too small.
void check_launch(const ProgramInfo& info, std::span<const MemoryView> buffers,
                  std::span<const std::int64_t> variables);

// Throws InternalError unless a view that is copied to or from is part of its memory and has so
// many bytes.
void check_copy(const MemoryView& view, std::int64_t bytes);

// One of the programs of a launch.
struct Nest {
  Program* program;
  std::span<const MemoryView> buffers;
  std::span<const std::int64_t> variables;
  // The buffers as programs of the host take them, where whoever launches has looked that up; else
  // empty.  Of memory of a block: any.
  std::span<void* const> addresses = {};
};

// Programs that run one after the other over a part of the data, and so over all parts, in any
// order and several at once.  `blocks` says into how many parts each of a few axes is cut; the
// programs' first variables are the number of the part along each of them, those of the nest
// follow. Each program is one task; what they pass to each other lies in block_bytes of memory that
// a block has to itself.
//
// The first `prelude` programs do the same in every block: a thread that takes one block after the
// other may leave what they have made where it is, and run them once.
//
// Each `in_order` consecutive blocks are run in order, adding to what the first of them writes.
//
// Without blocks: one program, with the tasks that it has.
struct Sequence {
  std::span<const Nest> nests;
  std::span<const std::int64_t> blocks = {};
  std::int64_t block_bytes = 0;
  std::size_t prelude = 0;
  std::int64_t in_order = 1;
};

// One of several launches of which each waits for those before it.  Its arguments were checked by
// check_launch(), and its nests have addresses where Device::host_address() says some.
struct BoundLaunch {
  std::span<const Sequence> sequences;
  std::int64_t tasks = 1;  // of all of them
};

// The number of blocks, and the place of one of them along the axes: the last counts fastest.
using BlockPosition = SmallVector<std::int64_t, 8>;
std::int64_t count_blocks(std::span<const std::int64_t> blocks);
BlockPosition position_of(std::int64_t block, std::span<const std::int64_t> blocks);
// The variables of a nest there.
BlockPosition variables_at(const BlockPosition& position, const Nest& nest);

// check_launch() for all its nests.
void check_arguments(const Sequence& sequence);
// Of a device with tasks: how many there are to take.
std::int64_t tasks_of(const Sequence& sequence);

// Work that one thread at a time gives to a device, which does it in this order and apart from what
// it is given in other ways: two streams may be at work at once.  What a queue (queue.h) gives its
// work to.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  // Enqueue, or are done when they return: the device decides.  Programs, memory and the bytes of
  // the host are used until finish() returns; what describes a launch is not.
  virtual void launch(std::span<const Sequence> sequences) = 0;
  // Launches in this order.  Errors name the kernels.
  virtual void launch_in_order(std::span<const BoundLaunch> launches);
  virtual void copy_in(MemoryView to, std::span<const std::byte> from) = 0;
  virtual void copy_out(std::span<std::byte> to, MemoryView from) = 0;
  // Within the device, from a view to one of the same size that it does not overlap.
  virtual void copy(MemoryView to, MemoryView from) = 0;

  // What the batch describes, as one piece of work; false where that is not faster than one command
  // after the other, and then nothing has been enqueued.  (optional)
  virtual bool submit(const RecordedBatch&) { return false; }

  // As launch(), after all before is done, and waits for it: the seconds that it took by the
  // device's own clock.  None where that has none, and then nothing has been launched.  (optional)
  virtual std::optional<double> launch_timed(std::span<const Sequence>) { return {}; }

  // Waits for all of it.  Throws what a launch failed with, naming the kernel.
  virtual void finish() = 0;
};

// The name of one of the devices of a kind: "CPU" for the first, "CPU:1" for the next.
std::string device_label(std::string_view kind, int ordinal);

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view name() const = 0;    // "CPU", "OPENCL:1", ...
  virtual std::string description() const = 0;  // one line for people
  virtual const Caps& caps() const = 0;
  virtual const Renderer& renderer() const = 0;

  // Memory is aligned to caps().alignment and not initialised.  Throws Error when there is none
  // left.
  virtual Memory allocate(std::int64_t bytes) = 0;
  // Launches made before may still be using it.
  virtual void release(Memory memory) noexcept = 0;
  // The same of memory that nobody is going to ask for again.
  virtual void discard(Memory memory) noexcept { release(memory); }

  // Copies between the host and the device.  Ordered after the launches before them; they return
  // when the host's bytes may be reused or read.
  virtual void copy_in(MemoryView to, std::span<const std::byte> from) = 0;
  virtual void copy_out(std::span<std::byte> to, MemoryView from) = 0;

  // Copies from memory of another device and returns when that is done; false if it is no device
  // that this one reads from.  Nothing that was launched uses the two views.  (optional)
  virtual bool copy_from(MemoryView /*to*/, const Device& /*source*/, MemoryView /*from*/) {
    return false;
  }

  // The bytes as the host sees them, or null if the host cannot.  (optional)
  virtual std::byte* host_address(MemoryView) { return nullptr; }

  // Source text to loadable code.  Throws InternalError with the compiler's message.
  virtual std::string compile(const std::string& name, const std::string& source) = 0;
  // Whether a compiler has to be loaded before that, said to one caller only, who may have another
  // thread do it meanwhile; compile() waits for it.  start_compiler() throws nothing.  (optional)
  virtual bool must_start_compiler() { return false; }
  virtual void start_compiler() noexcept {}

  // Code (from compile, now or in an earlier process) to a program.  Throws Error if it is damaged.
  virtual std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) = 0;

  // Whether launch() takes programs that another device of this kind has loaded, if it has the same
  // architecture.  (optional)
  virtual bool runs_programs_of_kin() const { return false; }

  // Enqueues sequences that wait for nothing of each other as one launch, where
  // caps().joins_nests.  Runs them one by one unless overridden.
  virtual void launch(std::span<const Sequence> sequences);

  // Launches in this order.  Errors name the kernels.  One launch() after the other unless
  // overridden.
  virtual void launch_in_order(std::span<const BoundLaunch> launches);

  // launch(), waited for and timed: as DeviceStream::launch_timed().  (optional)
  virtual std::optional<double> launch_timed(std::span<const Sequence>) { return {}; }

  // Waits for all launches, but for those of streams.  Errors of launches surface here, naming the
  // kernel.
  virtual void synchronize() = 0;

  // A stream, to be destroyed before the device.  One over the functions above unless overridden:
  // where a launch is done when it returns, that is all that there is to it.
  virtual std::unique_ptr<DeviceStream> make_stream();
};

}  // namespace croze
