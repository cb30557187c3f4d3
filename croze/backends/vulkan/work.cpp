#include "croze/backends/vulkan/work.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/render/spirv/arguments.h"

namespace croze::vulkan {
namespace {

constexpr std::int64_t argument_bytes = 64 << 10;  // that a command can write

}  // namespace

Work::Work(Context& context, MemoryChunks& memory) : context_(context), memory_(memory) {
  const Library& vk = context_.vk();
  try {
    CommandPoolCreateInfo pool;
    pool.family = context_.offer().queue_family;
    context_.check(vk.create_pool(context_.device(), &pool, nullptr, &pool_), "making a queue");
    const SemaphoreTypeCreateInfo type;
    SemaphoreCreateInfo semaphore;
    semaphore.next = &type;
    context_.check(vk.create_semaphore(context_.device(), &semaphore, nullptr, &reached_),
                   "making a queue");
    arguments_ = memory_.allocate(argument_bytes);
    check(arguments_ != nullptr, "{}: no memory left", context_.name());
  } catch (...) {
    destroy();
    throw;
  }
}

Work::~Work() {
  try_wait(last());
  destroy();
}

void Work::destroy() noexcept {
  const Library& vk = context_.vk();
  if (arguments_) memory_.release(arguments_, 0);
  if (reached_) vk.destroy_semaphore(context_.device(), reached_, nullptr);
  if (pool_) vk.destroy_pool(context_.device(), pool_, nullptr);
}

template <typename Call>
void Work::named(Call call) {
  context_.loss().named(launches_, [&] { call(context_.vk()); });
}

// ---- recording ----------------------------------------------------------------------------------

// One that is done with, or another.
CommandBuffer Work::commands() {
  std::uint64_t reached = 0;
  context_.check(context_.vk().semaphore_value(context_.device(), reached_, &reached),
                 "asking what is done");
  const auto done =
      std::ranges::find_if(submitted_, [&](const Recorded& r) { return r.number <= reached; });
  if (done != submitted_.end()) {
    CommandBuffer commands = done->commands;
    submitted_.erase(done);
    return commands;
  }
  CommandBufferAllocateInfo wanted;
  wanted.pool = pool_;
  CommandBuffer commands = nullptr;
  context_.check(context_.vk().allocate_commands(context_.device(), &wanted, &commands),
                 "recording work");
  return commands;
}

void Work::begin() {
  context_.loss().check_alive();
  if (open_) return;
  CommandBuffer next = nullptr;
  named([&](const Library& vk) {
    next = commands();
    const CommandBufferBeginInfo info;
    context_.check(vk.begin_commands(next, &info), "recording work");
  });
  open_ = next;
  num_open_ = 0;
}

// What follows, be it of this submission or of another, or the host, sees what the command wrote.
void Work::end_command() {
  MemoryBarrier all;
  all.before = access_shader_write | access_copy_write;
  all.after = access_shader_read | access_shader_write | access_copy_read | access_copy_write |
              access_host_read;
  const std::uint32_t device = pipeline_compute | pipeline_copy;
  context_.vk().barrier(open_, device, device | pipeline_host, 0, 1, &all, 0, nullptr, 0, nullptr);
  num_open_++;
}

std::uint64_t Work::launch(const Dispatch& d) {
  const Library& vk = context_.vk();
  const std::lock_guard lock(mutex_);
  begin();
  const auto bytes = static_cast<std::uint32_t>(d.arguments.size_bytes());
  const void* pushed = d.arguments.data();
  std::uint32_t pushed_bytes = bytes;
  const Address address = arguments_->address();
  if (std::ssize(d.arguments) > spirv::most_pushed) {
    check(bytes <= argument_bytes, "{}: kernel {} has too many arguments", context_.name(),
          d.kernel);
    vk.update_buffer(open_, arguments_->chunk->buffer,
                     static_cast<std::uint64_t>(arguments_->offset), bytes, pushed);
    end_command();
    pushed = &address;
    pushed_bytes = sizeof address;
  }
  vk.bind_pipeline(open_, bind_compute, d.pipeline);
  if (pushed_bytes > 0) {
    vk.push_constants(open_, context_.layout(), stage_compute, 0, pushed_bytes, pushed);
  }
  vk.dispatch(open_, d.groups[0], d.groups[1], d.groups[2]);
  end_command();
  launches_.note(d.kernel);
  const std::uint64_t number = submissions_ + 1;
  if (num_open_ >= most_commands) submit();
  return number;
}

std::uint64_t Work::copy(const Chunk& to, std::int64_t to_offset, const Chunk& from,
                         std::int64_t from_offset, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  begin();
  const BufferCopy part{static_cast<std::uint64_t>(from_offset),
                        static_cast<std::uint64_t>(to_offset), static_cast<std::uint64_t>(bytes)};
  context_.vk().copy_buffer(open_, from.buffer, to.buffer, 1, &part);
  end_command();
  const std::uint64_t number = submissions_ + 1;
  if (num_open_ >= most_commands) submit();
  return number;
}

// ---- submitting and waiting ---------------------------------------------------------------------

// What was recorded is lost if this fails, and who waits for its number would wait for ever.
void Work::submit() {
  CommandBuffer commands = std::exchange(open_, nullptr);
  const std::uint64_t number = ++submissions_;
  named([&](const Library& vk) {
    context_.check_final(vk.end_commands(commands), "recording work");
    TimelineSemaphoreSubmitInfo values;
    values.num_signals = 1;
    values.signals = &number;
    SubmitInfo info;
    info.next = &values;
    info.num_buffers = 1;
    info.buffers = &commands;
    info.num_signals = 1;
    info.signals = &reached_;
    context_.check_final(vk.submit(context_.queue(), 1, &info, nullptr), "submitting work");
  });
  submitted_.push_back({commands, number});
}

std::uint64_t Work::last() const {
  const std::lock_guard lock(mutex_);
  return submissions_ + (open_ ? 1 : 0);
}

void Work::wait(std::uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    context_.loss().check_alive();
    if (open_ && number > submissions_) submit();
  }
  SemaphoreWaitInfo info;
  info.count = 1;
  info.semaphores = &reached_;
  info.values = &number;
  // Others may launch meanwhile.
  const Status status = context_.vk().wait_semaphores(context_.device(), &info, UINT64_MAX);
  const std::lock_guard lock(mutex_);
  named([&](const Library&) { context_.check(status, "waiting for what was enqueued"); });
  if (!open_ && number == submissions_) launches_.forget();
}

void Work::try_wait(std::uint64_t number) noexcept {
  try {
    wait(number);
  } catch (...) {
    // The device is lost: nothing is under way.
  }
}

}  // namespace croze::vulkan
