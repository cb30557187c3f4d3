// item.cpp -- the interpreter's loop, and the checks of accesses.
#include "croze/backends/ptx_interp/item.h"

#include <fmt/format.h>

#include <cstddef>
#include <numeric>
#include <type_traits>

#include "croze/base/error.h"
#include "croze/render/program.h"

namespace croze::ptx_interp {
namespace {

// What private memory holds before the first store: nothing that passes for a result.
constexpr std::byte poison{0xa5};

}  // namespace

// Where they lie together they move, and are not copied: windows point to their memory.
static_assert(std::is_nothrow_move_constructible_v<Item>);

Item::Item(const Launch& launch, std::int32_t number, SharedMemory& shared, BoxCopies& boxes,
           std::span<const Window> arrays)
    : launch_(launch),
      number_(number),
      shared_(shared),
      boxes_(boxes),
      arrays_(arrays),
      watches_registers_(launch.code.has_warpgroups),
      notes_writes_(launch.code.has_warpgroups || launch.code.has_boxes) {
  const std::vector<std::int64_t>& local = launch.code.local;
  private_.resize(
      static_cast<std::size_t>(std::accumulate(local.begin(), local.end(), INT64_C(0))));
  std::byte* next = private_.data();
  for (std::size_t k = 0; k < local.size(); k++) {
    locals_.push_back({Window::address_of(static_cast<std::int64_t>(k)), next, local[k]});
    next += local[k];
  }
}

void Item::start(const std::int64_t (&group)[3], const std::int64_t (&position)[3]) {
  slots_ = launch_.code.frame;
  std::ranges::fill(private_, poison);
  for (const Input& input : launch_.code.inputs) {
    const auto k = static_cast<std::size_t>(input.number);
    std::uint64_t& slot = slots_[static_cast<std::size_t>(input.slot)];
    switch (input.kind) {
      case Input::Kind::Parameter: slot = launch_.parameters[k]; break;
      case Input::Kind::Item: slot = static_cast<std::uint64_t>(position[k]); break;
      case Input::Kind::Group: slot = static_cast<std::uint64_t>(group[k]); break;
      case Input::Kind::GroupSize: slot = static_cast<std::uint64_t>(launch_.code.items[k]); break;
      case Input::Kind::Groups: slot = static_cast<std::uint64_t>(launch_.groups[k]); break;
    }
  }
  begun_.clear();
  batches_.clear();
  looked_at_.assign(watches_registers_ ? slots_.size() : 0, -1);
  at_work_.assign(looked_at_.size(), 0);
  epoch_ = 0;
  written_.clear();
  next_ = 0;
}

Stop Item::run() {
  stop_ = Stop::None;
  const Step* steps = launch_.code.steps.data();
  while (stop_ == Stop::None) {
    const Step& step = steps[next_++];
    if (step.guard >= 0 && (slots_[static_cast<std::size_t>(step.guard)] != 0) == step.negated) {
      continue;
    }
    step.run(*this, step);
  }
  return stop_;
}

void Item::refuse(const Step& step, std::string_view what) const {
  fail({}, "kernel {}, line {} of its PTX: {}", launch_.kernel, step.line, what);
}

std::byte* Item::checked(const Step& step, std::span<const Window> windows, std::int64_t bytes,
                         std::string_view what) const {
  const std::uint64_t address =
      get<std::uint64_t>(step.in[0]) + static_cast<std::uint64_t>(step.offset);
  const std::int64_t number = Window::number_of(address);
  if (number < 0 || number >= std::ssize(windows)) {
    refuse(step, fmt::format("access of {} bytes at {:#x}, which is in no {} of the kernel", bytes,
                             address, what));
  }
  const Window& window = windows[static_cast<std::size_t>(number)];
  const auto offset = static_cast<std::int64_t>(address - window.address);
  if (offset < 0 || offset > window.bytes - bytes) {
    refuse(step, fmt::format("access of {} bytes at byte {} of {} {}, which has {}", bytes, offset,
                             what, number, window.bytes));
  }
  if (address % static_cast<std::uint64_t>(bytes) != 0) {
    refuse(step, fmt::format("access of {} bytes at byte {} of {} {} is not aligned", bytes, offset,
                             what, number));
  }
  return window.memory + offset;
}

template <Space space>
std::byte* Item::place(const Step& step, std::int64_t bytes) const {
  switch (space) {
    case Space::Global: return checked(step, launch_.buffers, bytes, "buffer");
    case Space::Shared: return checked(step, arrays_, bytes, "shared array");
    default: return checked(step, locals_, bytes, "private array");
  }
}

template <Space space>
const std::byte* Item::load(const Step& step, std::int64_t bytes) {
  const std::byte* memory = place<space>(step, bytes);
  return space == Space::Shared ? read_shared(step, memory, bytes) : memory;
}

const std::byte* Item::read_shared(const Step& step, const std::byte* memory, std::int64_t bytes) {
  const std::string wrong = shared_.read(number_, memory - shared_.at(0), bytes);
  if (!wrong.empty()) [[unlikely]]
    refuse(step, "shared memory: " + wrong);
  return memory;
}

void Item::check_row() const { place<Space::Shared>(last_step(), 16); }

std::uint16_t Item::load_element(const Item& row, std::size_t column) {
  const std::byte* memory = row.place<Space::Shared>(row.last_step(), 16) + 2 * column;
  std::uint16_t element;
  std::memcpy(&element, read_shared(last_step(), memory, 2), 2);
  return element;
}

template <Space space>
void Item::store(const Step& step, std::span<const std::byte> values) {
  std::byte* memory = place<space>(step, std::ssize(values));
  if (space != Space::Shared) {
    std::memcpy(memory, values.data(), values.size());
    return;
  }
  const std::int64_t offset = memory - shared_.at(0);
  if (notes_writes_) written_.emplace_back(offset, std::ssize(values));
  const std::string wrong = shared_.write(number_, offset, values);
  if (!wrong.empty()) [[unlikely]]
    refuse(step, "shared memory: " + wrong);
}

void Item::begin_copy(const Step& step) {
  const std::int64_t bytes = step.count;
  const auto wanted = std::int64_t{get<std::uint32_t>(step.in[2])};
  if (wanted > bytes) refuse(step, fmt::format("copies {} bytes of {}", wanted, bytes));
  Copy copy{place<Space::Shared>(step, bytes) - shared_.at(0), {}};
  if (wanted > 0) {
    Step read = step;
    read.in[0] = step.in[1];
    read.offset = step.second;
    const std::byte* from = place<Space::Global>(read, bytes);
    copy.values.assign(from, from + wanted);
  }
  copy.values.resize(static_cast<std::size_t>(bytes));
  const std::string wrong = shared_.begin(number_, copy.offset, copy.values);
  if (!wrong.empty()) [[unlikely]]
    refuse(step, "shared memory: " + wrong);
  begun_.push_back(std::move(copy));
}

void Item::commit_copies() {
  batches_.push_back(std::move(begun_));
  begun_.clear();
}

void Item::await_copies(std::size_t batches_left) {
  if (batches_.size() <= batches_left) return;
  const auto left = batches_.end() - static_cast<std::ptrdiff_t>(batches_left);
  for (auto batch = batches_.begin(); batch != left; ++batch) {
    for (const Copy& copy : *batch) {
      shared_.land(number_, copy.offset, copy.values);
      if (notes_writes_) written_.emplace_back(copy.offset, std::ssize(copy.values));
    }
  }
  batches_.erase(batches_.begin(), left);
}

// ---- boxes ----

std::int64_t Item::shared_place(const Step& step, std::int32_t slot, std::int64_t offset,
                                std::int64_t bytes) const {
  Step at = step;
  at.in[0] = slot;
  at.offset = offset;
  return place<Space::Shared>(at, bytes) - shared_.at(0);
}

void Item::require(const Step& step, const std::string& wrong) const {
  if (!wrong.empty()) [[unlikely]]
    refuse(step, "shared memory: " + wrong);
}

void Item::init_barrier(const Step& step) {
  require(step, boxes_.init(number_, shared_place(step, step.in[0], step.offset, 8), step.second));
}

void Item::expect_bytes(const Step& step) {
  require(step, boxes_.expect(shared_place(step, step.in[0], step.offset, 8), step.second));
}

void Item::arrive(const Step& step) {
  require(step, boxes_.arrive(shared_place(step, step.in[0], step.offset, 8)));
}

void Item::await_phase(const Step& step) {
  const auto parity = get<std::uint32_t>(step.in[1]);
  if (parity > 1) refuse(step, fmt::format("a phase is odd or even, not {}", parity));
  bool is_over = false;
  require(step, boxes_.await(number_, shared_place(step, step.in[0], step.offset, 8), parity == 1,
                             is_over));
  set(step.result, std::uint64_t{is_over});
}

// Rows of 128 bytes, so the first and the last one are looked at.
void Item::begin_box(const Step& step) {
  constexpr std::int64_t row = 128;
  const std::int64_t number = Window::number_of(get<std::uint64_t>(step.in[1]));
  if (number < 0 || number >= std::ssize(launch_.maps)) refuse(step, "this is no tensor map");
  const TensorMap& map = launch_.maps[static_cast<std::size_t>(number)];
  std::vector<std::int64_t> coordinates;
  for (std::size_t k = 0; k < step.count; k++)
    coordinates.push_back(get<std::int32_t>(step.registers[k]));
  const std::int64_t to = shared_place(step, step.in[0], step.offset, row);
  shared_place(step, step.in[0], step.offset + bytes_of(map.box) - row, row);
  require(step, boxes_.begin(number_, shared_place(step, step.in[2], 0, 8), to, map, coordinates));
}

void Item::show_writes() {
  for (const auto& [offset, bytes] : written_) shared_.show(offset, bytes);
  written_.clear();
}

void Item::note_register(std::int32_t slot) const {
  if (at_work_[static_cast<std::size_t>(slot)] > 0)
    refuse_here("a register is looked at while a unit adds to it");
  looked_at_[static_cast<std::size_t>(slot)] = epoch_;
}

void Item::begin_products(std::span<const std::int32_t> sums) {
  if (epoch_ == 0) refuse_here("there was no wgmma.fence before");
  for (std::int32_t slot : sums) {
    const auto k = static_cast<std::size_t>(slot);
    if (at_work_[k]++ == 0 && looked_at_[k] == epoch_)
      refuse_here("a register was looked at since the last wgmma.fence");
  }
}

void Item::end_products(std::span<const std::int32_t> sums) {
  for (std::int32_t slot : sums) at_work_[static_cast<std::size_t>(slot)]--;
}

template const std::byte* Item::load<Space::Global>(const Step&, std::int64_t);
template const std::byte* Item::load<Space::Shared>(const Step&, std::int64_t);
template const std::byte* Item::load<Space::Local>(const Step&, std::int64_t);
template void Item::store<Space::Global>(const Step&, std::span<const std::byte>);
template void Item::store<Space::Shared>(const Step&, std::span<const std::byte>);
template void Item::store<Space::Local>(const Step&, std::span<const std::byte>);

}  // namespace croze::ptx_interp
