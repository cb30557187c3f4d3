// webgpu_context.cpp -- calls that answer later, made to wait; launches in batches.
//
// WebGPU answers by callbacks, which are called while events are processed, on the thread that asks
// for it.  Errors of a call are caught by a scope around it, others reach a callback of the device
// and are kept until the next call.
//
// The numbers of a launch lie in one buffer of which each launch has a part.  It is written when
// the batch is submitted: the queue does that after the batch before it is done and before this
// one.
#include "croze/backends/webgpu/webgpu_context.h"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/log.h"

namespace croze::webgpu {
namespace {

constexpr std::uint32_t backend_null = 1, type_cpu = 3;
constexpr std::uint64_t bytes_of_numbers = 256 << 10;
constexpr std::uint64_t bytes_at_once = 64 << 20;  // of a copy

struct Answer {
  bool has_come = false;
  std::uint32_t status = 0;
  std::string text;
  void* object = nullptr;
};

void answer(void* user, std::uint32_t status, StringView text, void* object = nullptr) {
  auto& a = *static_cast<Answer*>(user);
  a = {true, status, std::string(text.text()), object};
}

template <typename Callback>
CallbackInfo<Callback> call(Callback callback, Answer& a) {
  CallbackInfo<Callback> info;
  info.callback = callback;
  info.user1 = &a;
  return info;
}

}  // namespace

// ---- opening ------------------------------------------------------------------------------------

std::unique_ptr<Context> Context::open(std::unique_ptr<Library> library) {
  if (!library) return nullptr;
  std::unique_ptr<Context> context(new Context(std::move(library)));
  return context->start() ? std::move(context) : nullptr;
}

bool Context::start() {
  instance_ = library_->create_instance(nullptr);
  if (!instance_) return false;
  Answer found;
  library_->request_adapter(
      instance_, nullptr,
      call<AdapterCallback>([](std::uint32_t status, Adapter a, StringView text, void* user,
                               void*) { answer(user, status, text, a); },
                            found));
  wait_until([&] { return found.has_come; });
  adapter_ = static_cast<Adapter>(found.object);
  if (found.status != status_success || !adapter_) {
    log_line(1, "WEBGPU: no adapter: {}", found.text);
    return false;
  }
  return look_at_adapter() && request_device();
}

// Where Dawn finds nothing else it offers an adapter that takes all work and does none.
bool Context::look_at_adapter() {
  AdapterInfo info;
  if (library_->get_adapter_info(adapter_, &info) != status_success) return true;
  const bool computes = info.backend != backend_null;
  is_processor_ = info.type == type_cpu;
  subgroup_items_ = info.least_subgroup_items;
  if (!computes) log_line(1, "WEBGPU: the only adapter computes nothing");
  for (const StringView& part : {info.vendor, info.architecture, info.device, info.description}) {
    if (part.text().empty()) continue;
    if (!description_.empty()) description_ += "; ";
    description_ += part.text();
  }
  library_->free_adapter_info(info);
  return computes;
}

bool Context::request_device() {
  // All that the adapter has.
  if (library_->get_adapter_limits(adapter_, &limits_) != status_success) return false;
  limits_.next = nullptr;
  DeviceDescriptor wanted;
  wanted.limits = &limits_;
  wanted.lost.user1 = wanted.error.user1 = this;
  wanted.lost.callback = [](const GpuDevice*, std::uint32_t, StringView text, void* user, void*) {
    auto& self = *static_cast<Context*>(user);
    self.lost_ = text.text().empty() ? "the device is lost" : std::string(text.text());
  };
  wanted.error.callback = [](const GpuDevice*, std::uint32_t, StringView text, void* user, void*) {
    auto& self = *static_cast<Context*>(user);
    if (self.error_.empty()) self.error_ = text.text();
  };
  Answer made;
  library_->request_device(
      adapter_, &wanted,
      call<DeviceCallback>([](std::uint32_t status, GpuDevice d, StringView text, void* user,
                              void*) { answer(user, status, text, d); },
                           made));
  wait_until([&] { return made.has_come; });
  device_ = static_cast<GpuDevice>(made.object);
  if (made.status != status_success || !device_) {
    log_line(1, "WEBGPU: no device: {}", made.text);
    return false;
  }
  queue_ = library_->get_queue(device_);
  numbers_ = make_buffer(bytes_of_numbers, usage_uniform | usage_copy_target);
  fence_ = make_buffer(4, usage_copy_source | usage_copy_target);
  return true;
}

Context::~Context() {
  if (pass_) library_->release_pass(pass_);
  if (encoder_) library_->release_encoder(encoder_);
  if (numbers_) library_->release_buffer(numbers_);
  if (fence_) library_->release_buffer(fence_);
  if (queue_) library_->release_queue(queue_);
  if (device_) library_->release_device(device_);
  if (adapter_) library_->release_adapter(adapter_);
  if (instance_) library_->release_instance(instance_);
}

// ---- waiting and errors -------------------------------------------------------------------------

// Answers that are there at once cost nothing; then the thread gives way, and at last it sleeps.
template <typename Done>
void Context::wait_until(Done done) {
  for (int turn = 0; !done(); turn++) {
    library_->process_events(instance_);
    if (done()) return;
    if (turn < 20) {
      sched_yield();
      continue;
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = turn < 200 ? 50'000 : 500'000};
    nanosleep(&pause, nullptr);
  }
}

void Context::check_alive() {
  loss_.check_alive();
  fail_if_lost("work");
}

// What is noticed first is about the kernels that were launched before.
void Context::fail_if_lost(std::string_view during) {
  if (lost_.empty()) return;
  loss_.named(begun_, [&] { loss_.fail(fmt::format("{}: {}", during, lost_), true); });
}

// Throws the error that something enqueued has met.
void Context::fail_if_wrong(std::string_view during) {
  fail_if_lost(during);
  if (!error_.empty()) loss_.fail(fmt::format("{}: {}", during, std::exchange(error_, {})), false);
}

// What goes wrong between the two is the text that end_scopes() gives.
void Context::begin_scopes() {
  check_alive();
  for (ErrorFilter filter :
       {ErrorFilter::Validation, ErrorFilter::OutOfMemory, ErrorFilter::Internal}) {
    library_->push_error_scope(device_, filter);
  }
}

std::string Context::end_scopes() {
  std::string text;
  for (int i = 0; i < 3; i++) {
    const std::string one = end_scope();
    if (text.empty()) text = one;
  }
  return text;
}

std::string Context::end_scope() {
  Answer a;
  library_->pop_error_scope(
      device_, call<ScopeCallback>([](std::uint32_t, std::uint32_t type, StringView text,
                                      void* user, void*) { answer(user, type, text); },
                                   a));
  wait_until([&] { return a.has_come; });
  if (a.status == no_error) return {};
  return a.text.empty() ? "unknown error" : a.text;
}

// ---- memory -------------------------------------------------------------------------------------

Buffer Context::make_buffer(std::uint64_t bytes, std::uint64_t usage) {
  BufferDescriptor wanted;
  wanted.size = bytes;
  wanted.usage = usage;
  return library_->create_buffer(device_, &wanted);
}

Buffer Context::allocate(std::uint64_t bytes) {
  check(bytes <= limits_.buffer_size,
        "WEBGPU: cannot allocate {} bytes: a buffer of this device has {} at most", bytes,
        limits_.buffer_size);
  begin_scopes();
  Buffer buffer = make_buffer(bytes, usage_storage | usage_copy_source | usage_copy_target);
  const std::string wrong = end_scopes();
  if (!wrong.empty() && buffer) library_->release_buffer(buffer);
  check(wrong.empty() && buffer, "WEBGPU: cannot allocate {} bytes: {}", bytes,
        wrong.empty() ? "there is no memory left" : wrong);
  return buffer;
}

void Context::write(Buffer buffer, std::uint64_t offset, std::span<const std::byte> bytes) {
  submit();
  for (std::size_t done = 0; done < bytes.size(); done += bytes_at_once) {
    const std::size_t size = std::min<std::size_t>(bytes.size() - done, bytes_at_once);
    library_->write_buffer(queue_, buffer, offset + done, bytes.data() + done, size);
  }
  fail_if_wrong("copy to the device");
}

void Context::read(Buffer buffer, std::uint64_t offset, std::span<std::byte> bytes) {
  submit();
  for (std::size_t done = 0; done < bytes.size(); done += bytes_at_once) {
    const std::size_t size = std::min<std::size_t>(bytes.size() - done, bytes_at_once);
    read_some(buffer, offset + done, bytes.subspan(done, size));
  }
}

// By way of a buffer that the host can see.
void Context::read_some(Buffer buffer, std::uint64_t offset, std::span<std::byte> bytes) {
  check_alive();
  Buffer seen = make_buffer(bytes.size(), usage_map_read | usage_copy_target);
  Encoder encoder = library_->create_encoder(device_, nullptr);
  library_->copy_buffer(encoder, buffer, offset, seen, 0, bytes.size());
  Commands commands = library_->finish_encoder(encoder, nullptr);
  library_->submit(queue_, 1, &commands);
  library_->release_commands(commands);
  library_->release_encoder(encoder);
  Answer mapped;
  library_->map_buffer(seen, map_read, 0, bytes.size(),
                       call<MapCallback>([](std::uint32_t status, StringView text, void* user,
                                            void*) { answer(user, status, text); },
                                         mapped));
  wait_until([&] { return mapped.has_come; });
  const bool is_there = mapped.status == status_success;
  if (is_there) {
    std::memcpy(bytes.data(), library_->get_mapped_range(seen, 0, bytes.size()), bytes.size());
    library_->unmap_buffer(seen);
  }
  library_->release_buffer(seen);
  fail_if_wrong("copy from the device");
  check(is_there, "WEBGPU: copy from the device: {}", mapped.text);
  begun_.forget();
}

// ---- kernels ------------------------------------------------------------------------------------

ShaderModule Context::make_module(std::string_view name, std::string_view text) {
  WgslSource source;
  source.chain.type = type_of_wgsl;
  source.code = text;
  ShaderModuleDescriptor wanted;
  wanted.next = &source.chain;
  wanted.label = name;
  return library_->create_shader_module(device_, &wanted);
}

std::string Context::check_module(std::string_view name, std::string_view text) {
  begin_scopes();
  ShaderModule module = make_module(name, text);
  const std::string wrong = end_scopes();
  library_->release_shader_module(module);
  return wrong;
}

Pipeline Context::make_pipeline(std::string_view name, std::string_view entry,
                                std::string_view text) {
  begin_scopes();
  ShaderModule module = make_module(name, text);
  PipelineDescriptor wanted;
  wanted.label = name;
  wanted.compute.module = module;
  wanted.compute.entry = entry;
  Pipeline pipeline = library_->create_pipeline(device_, &wanted);
  const std::string wrong = end_scopes();
  library_->release_shader_module(module);
  if (!wrong.empty()) library_->release_pipeline(pipeline);
  check_alive();
  ensure(wrong.empty(), "WEBGPU: kernel {} is refused: {}", name, wrong);
  return pipeline;
}

// Where the numbers of one more launch stand in the buffer of numbers; submits those before it if
// there is no room left.
std::uint64_t Context::keep_numbers(std::span<const std::int32_t> numbers) {
  const std::size_t step = std::max<std::size_t>(limits_.uniform_offset_alignment, 16);
  const auto bytes = std::as_bytes(numbers);
  if ((staged_.size() + step - 1) / step * step + bytes.size() > bytes_of_numbers) submit();
  staged_.resize((staged_.size() + step - 1) / step * step);
  const std::uint64_t place = staged_.size();
  staged_.insert(staged_.end(), bytes.begin(), bytes.end());
  return place;
}

void Context::launch(std::string_view name, Pipeline pipeline, std::span<const Bound> memory,
                     std::span<const std::int32_t> numbers, std::uint32_t x, std::uint32_t y) {
  check_alive();
  const std::uint64_t place = keep_numbers(numbers);
  std::vector<BindGroupEntry> entries(1 + memory.size());
  entries[0].buffer = numbers_;
  entries[0].offset = place;
  entries[0].size = numbers.size_bytes();
  for (std::size_t i = 0; i < memory.size(); i++) {
    entries[i + 1].binding = static_cast<std::uint32_t>(i + 1);
    entries[i + 1].buffer = memory[i].buffer;
    entries[i + 1].offset = memory[i].offset;
    entries[i + 1].size = memory[i].size;
  }
  BindGroupDescriptor wanted;
  wanted.label = name;
  wanted.layout = library_->get_bind_group_layout(pipeline, 0);
  wanted.num_entries = entries.size();
  wanted.entries = entries.data();
  BindGroup group = library_->create_bind_group(device_, &wanted);
  library_->release_bind_group_layout(wanted.layout);

  if (!encoder_) {
    encoder_ = library_->create_encoder(device_, nullptr);
    pass_ = library_->begin_pass(encoder_, nullptr);
    first_ = name;
  }
  last_ = name;
  launches_++;
  begun_.note(name);
  library_->set_pipeline(pass_, pipeline);
  library_->set_bind_group(pass_, 0, group, 0, nullptr);
  library_->dispatch(pass_, x, y, 1);
  library_->release_bind_group(group);
}

void Context::submit() {
  check_alive();
  if (!encoder_) return;
  library_->end_pass(pass_);
  library_->release_pass(std::exchange(pass_, nullptr));
  Commands commands = library_->finish_encoder(encoder_, nullptr);
  library_->release_encoder(std::exchange(encoder_, nullptr));
  library_->write_buffer(queue_, numbers_, 0, staged_.data(), staged_.size());
  library_->submit(queue_, 1, &commands);
  library_->release_commands(commands);
  staged_.clear();
  const std::int64_t launches = std::exchange(launches_, 0);
  library_->process_events(instance_);
  fail_if_wrong(launches == 1
                    ? fmt::format("launch of kernel {}", first_)
                    : fmt::format("{} launches, of kernels {} to {}", launches, first_, last_));
}

// A copy is done when all before it is.
void Context::wait() {
  submit();
  std::byte word[4];
  read_some(fence_, 0, word);
}

}  // namespace croze::webgpu
