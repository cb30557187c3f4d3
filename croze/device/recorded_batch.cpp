// recorded_batch.cpp -- descriptions of launches that own what they are made of.
#include "croze/device/recorded_batch.h"

#include <atomic>
#include <memory>
#include <utility>

#include "croze/device/direct_stream.h"

namespace croze {
namespace {

// Sequences whose spans lie in vectors of its own.
class OwnedSequences {
 public:
  explicit OwnedSequences(std::span<const Sequence> sequences) {
    reserve(sequences);
    for (const Sequence& s : sequences) {
      const std::size_t first = nests_.size();
      for (const Nest& n : s.nests) {
        nests_.push_back({n.program, kept(buffers_, n.buffers), kept(numbers_, n.variables)});
      }
      sequences_.push_back({std::span(nests_).subspan(first), kept(numbers_, s.blocks),
                            s.block_bytes, s.prelude, s.in_order});
    }
  }
  OwnedSequences(const OwnedSequences&) = delete;
  OwnedSequences& operator=(const OwnedSequences&) = delete;

  std::span<const Sequence> sequences() const { return sequences_; }

 private:
  // What spans point into does not move.
  void reserve(std::span<const Sequence> sequences) {
    std::size_t nests = 0, buffers = 0, numbers = 0;
    for (const Sequence& s : sequences) {
      nests += s.nests.size();
      numbers += s.blocks.size();
      for (const Nest& n : s.nests) {
        buffers += n.buffers.size();
        numbers += n.variables.size();
      }
    }
    nests_.reserve(nests);
    buffers_.reserve(buffers);
    numbers_.reserve(numbers);
    sequences_.reserve(sequences.size());
  }

  template <typename T>
  static std::span<const T> kept(std::vector<T>& all, std::span<const T> values) {
    const std::size_t first = all.size();
    all.insert(all.end(), values.begin(), values.end());
    return std::span<const T>(all).subspan(first);
  }

  std::vector<MemoryView> buffers_;
  std::vector<std::int64_t> numbers_;
  std::vector<Nest> nests_;
  std::vector<Sequence> sequences_;
};

}  // namespace

void RecordedBatch::launch(std::span<const Sequence> sequences) {
  auto owned = std::make_shared<const OwnedSequences>(sequences);
  add([owned](DeviceStream& stream) { launch_named(stream, owned->sequences()); });
}

void RecordedBatch::copy_in(MemoryView to, std::span<const std::byte> from) {
  add([=](DeviceStream& stream) { stream.copy_in(to, from); });
  copies_host_memory_ = true;
}

void RecordedBatch::copy_out(std::span<std::byte> to, MemoryView from) {
  add([=](DeviceStream& stream) { stream.copy_out(to, from); });
  copies_host_memory_ = true;
}

void RecordedBatch::copy(MemoryView to, MemoryView from) {
  add([=](DeviceStream& stream) { stream.copy(to, from); });
}

void RecordedBatch::add(std::function<void(DeviceStream&)> command) {
  commands_.push_back(std::move(command));
  static std::atomic<std::uint64_t> last_id = 0;
  id_ = ++last_id;
}

void RecordedBatch::run(DeviceStream& stream) const {
  if (!stream.submit(*this)) enqueue(stream);
}

void RecordedBatch::enqueue(DeviceStream& stream) const {
  for (const auto& command : commands_) command(stream);
}

}  // namespace croze
