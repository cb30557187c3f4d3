#include "croze/run/launch/launch_list.h"

#include <algorithm>
#include <utility>

#include "croze/device/host_memory.h"
#include "croze/run/devices.h"

namespace croze {

// ---- making -----------------------------------------------------------------------------------

LaunchList::LaunchList(const Schedule& schedule, Programs programs)
    : views_(schedule.buffers.size()), is_changed_(schedule.launches.size(), true) {
  for (const ScheduleBuffer& b : schedule.buffers) devices_.push_back(&device(b.device));
  reserve(schedule);
  for (const ScheduleLaunch& launch : schedule.launches) add(schedule, launch, programs);
  buffer_uses_.sort(schedule.buffers.size());
}

// Spans of them are taken while they are filled.
void LaunchList::reserve(const Schedule& schedule) {
  std::size_t buffers = 0, variables = 0;
  for (const ScheduleStep& step : schedule.steps) {
    buffers += step.buffers.size();
    variables += step.variables.size() + step.own_variables.size();
  }
  buffers_.reserve(buffers);
  addresses_.reserve(buffers);
  variables_.reserve(variables);
  nests_.reserve(schedule.steps.size());
  sequences_.reserve(schedule.steps.size());
  launches_.reserve(schedule.launches.size());
}

void LaunchList::add(const Schedule& schedule, const ScheduleLaunch& launch, Programs programs) {
  const std::size_t first = sequences_.size();
  const bool is_copy = !schedule.steps[static_cast<std::size_t>(launch.first)].kernel;
  for (int i = launch.first; i < launch.last && !is_copy;) {
    const ScheduleChain chain = chain_at(schedule, i, launch.last);
    add(schedule, chain, programs);
    i = chain.last;
  }
  launches_.push_back({std::span(sequences_).subspan(first)});
}

void LaunchList::add(const Schedule& schedule, const ScheduleChain& chain, Programs programs) {
  const std::size_t launch = launches_.size(), nest = nests_.size();
  for (auto i = static_cast<std::size_t>(chain.first); i < static_cast<std::size_t>(chain.last);
       i++) {
    const ScheduleStep& step = schedule.steps[i];
    const std::size_t buffer = buffers_.size(), variable = variables_.size();
    for (std::size_t b = 0; b < step.buffers.size(); b++) {
      const auto number = static_cast<std::size_t>(step.buffers[b]);
      buffer_uses_.add({number, buffers_.size(), launch, step.offsets[b]});
      buffers_.emplace_back();
      addresses_.push_back(nullptr);
    }
    for (int v : step.variables) {
      variable_uses_.add({static_cast<std::size_t>(v), variables_.size(), launch});
      variables_.push_back(0);
    }
    for (std::int64_t v : step.own_variables) variables_.push_back(v);
    nests_.push_back({programs[i]->program.get(), std::span(buffers_).subspan(buffer),
                      std::span(variables_).subspan(variable),
                      std::span(addresses_).subspan(buffer)});
  }
  Sequence& sequence = sequences_.emplace_back();
  sequence.nests = std::span(nests_).subspan(nest);
  if (!chain.sequence) return;
  sequence.blocks = chain.sequence->blocks;
  sequence.block_bytes = chain.sequence->block_bytes;
  sequence.prelude = chain.sequence->prelude;
  sequence.in_order = chain.sequence->in_order;
}

void LaunchList::Uses::sort(std::size_t numbers) {
  std::ranges::stable_sort(uses_, {}, &Use::number);
  begin_.resize(numbers + 1);
  std::size_t use = 0;
  for (std::size_t i = 0; i <= numbers; i++) {
    while (use < uses_.size() && uses_[use].number < i) use++;
    begin_[i] = use;
  }
}

// ---- binding ----------------------------------------------------------------------------------

namespace {

bool is_same(const MemoryView& a, const MemoryView& b) {
  return a.memory.handle == b.memory.handle && a.memory.bytes == b.memory.bytes &&
         a.offset == b.offset && a.bytes == b.bytes && a.per_block == b.per_block;
}

}  // namespace

void LaunchList::bind(std::span<const MemoryView> views, std::span<const std::int64_t> variables) {
  const bool is_first = !std::exchange(is_bound_, false);
  for (std::size_t i = 0; i < views.size(); i++) {
    if (is_first || !is_same(views_[i], views[i])) bind_buffer(i, views[i]);
  }
  if (is_first) {
    given_.resize(variables.size());
    variable_uses_.sort(variables.size());
  }
  for (std::size_t i = 0; i < variables.size(); i++) {
    if (!is_first && given_[i] == variables[i]) continue;
    given_[i] = variables[i];
    for (const Use& use : variable_uses_.of(i)) {
      variables_[use.place] = variables[i];
      is_changed_[use.launch] = true;
    }
  }
  check_changed();
  is_bound_ = true;
}

void LaunchList::bind_buffer(std::size_t buffer, const MemoryView& view) {
  views_[buffer] = view;
  const bool has_address = !view.per_block && devices_[buffer]->host_address(view) != nullptr;
  for (const Use& use : buffer_uses_.of(buffer)) {
    MemoryView& part = buffers_[use.place];
    part = view.part(use.offset, view.bytes - use.offset);
    addresses_[use.place] = has_address ? kernel_address(part) : nullptr;
    is_changed_[use.launch] = true;
  }
}

void LaunchList::check_changed() {
  for (std::size_t i = 0; i < launches_.size(); i++) {
    if (!is_changed_[i]) continue;
    BoundLaunch& launch = launches_[i];
    launch.tasks = 0;
    for (const Sequence& s : launch.sequences) {
      check_arguments(s);
      launch.tasks += tasks_of(s);
    }
    is_changed_[i] = false;
  }
}

// ---- keeping ----------------------------------------------------------------------------------

std::unique_ptr<LaunchList> KeptLaunchLists::take() {
  const std::lock_guard lock(mutex_);
  return std::move(list_);
}

void KeptLaunchLists::give_back(std::unique_ptr<LaunchList> list) {
  const std::lock_guard lock(mutex_);
  list_ = std::move(list);
}

}  // namespace croze
