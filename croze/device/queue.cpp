// queue.cpp -- one thread, a bounded list of commands, and a stream of the device.
#include "croze/device/queue.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/process.h"

namespace croze {

struct Queue::Parts {
  using Work = std::function<void(DeviceStream&)>;
  using GiveUp = std::function<void(const std::exception_ptr&)>;
  struct Command {
    Work work;
    GiveUp give_up;
    bool ends_failure = false;  // those behind it are done again
  };

  explicit Parts(Device& d);
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  void add(Command command);
  void do_commands();
  void perform(const Command& command);

  Device& device;
  std::unique_ptr<DeviceStream> stream;
  const int generation;        // of the process that the thread is in
  std::exception_ptr failure;  // the thread's own

  std::mutex mutex;
  std::condition_variable came, left;
  std::deque<Command> waiting;
  bool is_over = false;
  std::thread::id claimed_by;
  int claims = 0;

  std::thread thread;
};

Queue::Parts::Parts(Device& d) : device(d), stream(d.make_stream()), generation(fork_generation()) {
  enter_croze();
  thread = std::thread([this] {
    enter_croze();
    do_commands();
  });
}

Queue::Parts::~Parts() {
  if (generation != fork_generation()) {  // the thread is in the parent
    thread.detach();
    static_cast<void>(stream.release());
    return;
  }
  {
    const std::lock_guard lock(mutex);
    is_over = true;
  }
  came.notify_one();
  thread.join();
}

void Queue::Parts::add(Command command) {
  check(generation == fork_generation(),
        "{}: a queue was made before this process was forked: its thread is not here; make another",
        device.name());
  std::unique_lock lock(mutex);
  left.wait(lock, [&] { return waiting.size() < most_waiting; });
  waiting.push_back(std::move(command));
  lock.unlock();
  came.notify_one();
}

void Queue::Parts::do_commands() {
  for (;;) {
    std::unique_lock lock(mutex);
    came.wait(lock, [&] { return is_over || !waiting.empty(); });
    if (waiting.empty()) break;
    const Command command = std::move(waiting.front());
    waiting.pop_front();
    lock.unlock();
    left.notify_one();
    perform(command);
  }
  perform({[](DeviceStream& s) { s.finish(); }, {}});
}

void Queue::Parts::perform(const Command& command) {
  if (!failure) {
    try {
      return command.work(*stream);
    } catch (...) {
      failure = std::current_exception();
    }
    try {
      stream->finish();  // what was enqueued before still uses its memory
    } catch (...) {
      // It comes after the error that is told.
    }
  }
  if (command.give_up) command.give_up(failure);
  if (command.ends_failure) failure = nullptr;
}

// ---- the queue --------------------------------------------------------------------------------

Queue::Queue(Device& device) : parts_(std::make_unique<Parts>(device)) {}
Queue::~Queue() = default;

Device& Queue::device() const { return parts_->device; }

void Queue::launch(std::span<const Sequence> sequences) {
  RecordedBatch batch;
  batch.launch(sequences);
  submit(std::make_shared<const RecordedBatch>(std::move(batch)));
}

void Queue::copy_in(MemoryView to, std::span<const std::byte> from) {
  call([=](DeviceStream& stream) { stream.copy_in(to, from); });
}

void Queue::copy_out(std::span<std::byte> to, MemoryView from) {
  call([=](DeviceStream& stream) { stream.copy_out(to, from); });
}

void Queue::copy(MemoryView to, MemoryView from) {
  call([=](DeviceStream& stream) { stream.copy(to, from); });
}

void Queue::submit(std::shared_ptr<const RecordedBatch> batch) {
  call([batch = std::move(batch)](DeviceStream& stream) { batch->run(stream); });
}

void Queue::wait(Timeline timeline, std::uint64_t value) {
  call([=](DeviceStream&) { timeline.wait(value); });
}

void Queue::signal(Timeline timeline, std::uint64_t value) {
  call(
      [=](DeviceStream& stream) {
        stream.finish();
        timeline.signal(value);
      },
      [=](const std::exception_ptr& failure) { timeline.fail(failure); });
}

Timestamp Queue::timestamp() {
  Timestamp stamp;
  call(
      [stamp](DeviceStream& stream) {
        stream.finish();
        *stamp.time_ = std::chrono::steady_clock::now();
        stamp.reached_.signal(1);
      },
      [stamp](const std::exception_ptr& failure) { stamp.reached_.fail(failure); });
  return stamp;
}

Timestamp::Time Timestamp::time() const {
  reached_.wait(1);
  return *time_;
}

void Queue::call(std::function<void(DeviceStream&)> work,
                 std::function<void(const std::exception_ptr&)> give_up) {
  parts_->add({std::move(work), std::move(give_up)});
}

void Queue::synchronize() {
  const Timeline done;
  parts_->add({[done](DeviceStream& stream) {
                 stream.finish();
                 done.signal(1);
               },
               [done](const std::exception_ptr& failure) { done.fail(failure); }, true});
  done.wait(1);
}

bool Queue::claim() {
  const std::lock_guard lock(parts_->mutex);
  if (parts_->claims > 0 && parts_->claimed_by != std::this_thread::get_id()) return false;
  parts_->claimed_by = std::this_thread::get_id();
  parts_->claims++;
  return true;
}

void Queue::let_go() {
  const std::lock_guard lock(parts_->mutex);
  parts_->claims--;
}

}  // namespace croze
