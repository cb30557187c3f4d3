// cuda_stream.h -- a stream of work for a device of CUDA, and the programs that are launched there.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "croze/backends/cuda/memory_cache.h"
#include "croze/backends/cuda/staging.h"
#include "croze/device/begun_launches.h"
#include "croze/device/device.h"

namespace croze::cuda {

class CudaStream;

// What a device and its programs share; programs may live longer.
struct Shared {
  Shared(const Driver& driver, Ordinal ordinal, const std::string& name);
  ~Shared();

  Context context;
  StreamOrder order;
  MemoryCache memory;
  std::mutex mutex;                    // of the device's own stream
  std::unique_ptr<CudaStream> stream;  // what is not given to another goes there
};

class CudaProgram final : public Program {
 public:
  // Loads the image.  Throws Error, naming the kernel, if the driver does not take it.
  CudaProgram(std::shared_ptr<Shared> shared, ProgramInfo info, std::string_view image,
              std::int64_t group_bytes);
  ~CudaProgram() override;

  const ProgramInfo& info() const override { return info_; }
  void launch(std::span<const MemoryView> buffers,
              std::span<const std::int64_t> variables) override;

  void launch_on(StreamHandle stream, std::span<const MemoryView> buffers,
                 std::span<const std::int64_t> variables) const;

 private:
  void load_module(std::string_view image);
  TensorMap encoded(const BoxedBuffer& box, Address begin) const;

  std::shared_ptr<Shared> shared_;
  ProgramInfo info_;
  ModuleHandle module_ = nullptr;
  FunctionHandle function_ = nullptr;
  std::int64_t group_bytes_;
};

class CudaStream final : public DeviceStream {
 public:
  CudaStream(Context& context, StreamOrder& order);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  void launch(std::span<const Sequence> sequences) override;
  void launch(const CudaProgram& program, std::span<const MemoryView> buffers,
              std::span<const std::int64_t> variables);
  void copy_in(MemoryView to, std::span<const std::byte> from) override;
  void copy_out(std::span<std::byte> to, MemoryView from) override;
  void copy(MemoryView to, MemoryView from) override;
  void copy_from(MemoryView to, const Context& source, MemoryView from);

  // A batch that comes again becomes a graph of CUDA's, which is launched as one.
  bool submit(const RecordedBatch& batch) override;

  void finish() override;

 private:
  // A batch that has come before, and what it was captured as.
  struct Recorded {
    GraphExecHandle graph = nullptr;
    BegunLaunches kernels;
    std::uint64_t last_use = 0;
    bool cannot_be_captured = false;
  };
  static constexpr std::size_t most_recorded = 32;

  template <typename Work>
  void enqueue(Work work);
  Recorded& recorded(std::uint64_t id);
  bool capture(const RecordedBatch& batch, Recorded& into);
  void drop(const Recorded& recorded) noexcept;

  Context& context_;
  StreamOrder& order_;
  StreamHandle handle_;
  Staging staging_;
  BegunLaunches launches_;  // since the last time that all was done
  std::map<std::uint64_t, Recorded> recorded_;
  std::uint64_t uses_ = 0;
};

}  // namespace croze::cuda
