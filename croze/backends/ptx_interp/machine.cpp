// machine.cpp -- groups of items that take turns.
#include "croze/backends/ptx_interp/machine.h"

#include <fmt/format.h>

#include <numeric>

#include "croze/backends/ptx_interp/item.h"
#include "croze/backends/ptx_interp/warpgroup.h"
#include "croze/base/error.h"

namespace croze::ptx_interp {
namespace {

// What the memory of the host is aligned to, so much of an address a kernel may see.
constexpr std::uint64_t seen_alignment = 256;

std::vector<Window> windows_of(std::span<const View> buffers) {
  std::vector<Window> windows;
  for (const View& view : buffers) {
    const std::uint64_t low = reinterpret_cast<std::uintptr_t>(view.base) % seen_alignment;
    windows.push_back({Window::address_of(std::ssize(windows), low), view.base, view.bytes});
  }
  return windows;
}

// Maps have addresses that are multiples of 16.
std::vector<TensorMap> maps_of(const ProgramInfo& info, std::span<const Window> windows) {
  std::vector<TensorMap> maps;
  for (const BoxedBuffer& b : info.boxed) {
    const Window& w = windows[static_cast<std::size_t>(b.slot)];
    maps.push_back({.box = b,
                    .shift = static_cast<std::int64_t>(w.address % 16) / size_of(b.dtype),
                    .memory = w.memory,
                    .bytes = w.bytes});
  }
  return maps;
}

std::vector<std::uint64_t> parameters_of(std::span<const Window> windows,
                                         std::span<const std::int64_t> variables,
                                         std::span<const TensorMap> maps) {
  std::vector<std::uint64_t> parameters;
  for (const Window& w : windows) parameters.push_back(w.address);
  for (std::int64_t v : variables) parameters.push_back(static_cast<std::uint64_t>(v));
  std::int64_t number = 0;
  for (const TensorMap& map : maps) {
    parameters.push_back(Window::address_of(number++));
    parameters.push_back(static_cast<std::uint64_t>(map.shift));
  }
  return parameters;
}

class Group {
 public:
  explicit Group(const Launch& launch)
      : launch_(launch), shared_(launch.code.shared_bytes), boxes_(shared_) {
    for (std::size_t k = 0; k < launch.code.shared.size(); k++) {
      const std::int64_t place = launch.code.shared_places[k];
      arrays_.push_back(
          {launch.code.address_of_shared(k), shared_.at(place), launch.code.shared[k]});
    }
    const std::int64_t(&size)[3] = launch.code.items;
    for (std::int64_t k = 0; k < size[0] * size[1] * size[2]; k++) {
      items_.emplace_back(launch, static_cast<std::int32_t>(k), shared_, boxes_, arrays_);
    }
    for (std::size_t first = 0; launch.code.has_warpgroups && first < items_.size();
         first += warpgroup_items) {
      warpgroups_.emplace_back(std::span(items_).subspan(first, warpgroup_items),
                               static_cast<std::int32_t>(warpgroups_.size()), shared_);
    }
  }

  void run(const std::int64_t (&group)[3]) {
    shared_.start_group();
    boxes_.start_group();
    for (Warpgroup& w : warpgroups_) w.start();
    const std::int64_t(&size)[3] = launch_.code.items;
    for (std::int64_t k = 0; k < std::ssize(items_); k++) {
      const std::int64_t position[3] = {k % size[0], k / size[0] % size[1],
                                        k / (size[0] * size[1])};
      items_[static_cast<std::size_t>(k)].start(group, position);
    }
    while (run_to_barrier()) shared_.pass_barrier();
    if (!boxes_.is_idle()) items_[0].refuse_here("the kernel ends while a box is on its way");
  }

 private:
  // Whether there is something behind it.
  bool run_to_barrier() {
    std::vector<Stop> stops;
    if (warpgroups_.empty()) run_warps(items_, stops);
    for (std::size_t k = 0; k < warpgroups_.size(); k++) {
      run_warpgroup(std::span(items_).subspan(k * warpgroup_items, warpgroup_items), warpgroups_[k],
                    stops);
    }
    for (std::size_t k = 1; k < items_.size(); k++) expect_same(0, k, stops[0], stops[k]);
    return stops[0] == Stop::Barrier;
  }

  void run_warps(std::span<Item> items, std::vector<Stop>& stops) {
    for (std::size_t first = 0; first < items.size(); first += warp_items) {
      const std::size_t count = std::min<std::size_t>(warp_items, items.size() - first);
      run_warp(items.subspan(first, count), stops);
    }
  }

  void run_warpgroup(std::span<Item> items, Warpgroup& warpgroup, std::vector<Stop>& stops) {
    const std::size_t first = stops.size();
    while (true) {
      stops.resize(first);
      run_warps(items, stops);
      for (std::size_t k = first; k < stops.size(); k++)
        expect_same(first, k, stops[first], stops[k]);
      if (stops[first] != Stop::Warpgroup) break;
      warpgroup.step(items[0].warp_step());
    }
    if (stops[first] == Stop::End && !warpgroup.is_idle())
      items[0].refuse_here("the kernel ends while a unit is at work");
  }

  // Where each of them stops at last.
  void run_warp(std::span<Item> warp, std::vector<Stop>& stops) {
    const std::size_t first = stops.size();
    stops.resize(first + warp.size());
    while (true) {
      for (std::size_t k = 0; k < warp.size(); k++) {
        stops[first + k] = warp[k].run();
        expect_same(first, first + k, stops[first], stops[first + k]);
      }
      if (stops[first] != Stop::Warp) return;
      step_together(warp[0].warp_step(), warp);
    }
  }

  static void step_together(const WarpStep& step, std::span<Item> warp) {
    if (step.transposed) return load_together(step, warp);
    if (step.mma) return multiply_together(step, warp);
    step.is_ballot ? ballot_together(step, warp) : shuffle_together(step, warp);
  }

  static void ballot_together(const WarpStep& step, std::span<Item> warp) {
    std::uint32_t holds = 0;
    for (std::size_t k = 0; k < warp.size(); k++)
      holds |= std::uint32_t{warp[k].get<bool>(step.a[0])} << k;
    for (Item& item : warp) item.set(step.result[0], holds);
  }

  static void shuffle_together(const WarpStep& step, std::span<Item> warp) {
    std::vector<std::uint32_t> given;
    for (const Item& item : warp) given.push_back(item.get<std::uint32_t>(step.a[0]));
    for (std::size_t k = 0; k < warp.size(); k++) {
      warp[k].set(step.result[0], given[k ^ static_cast<std::size_t>(step.bit)]);
    }
  }

  // Item k gets of each square 4 bytes: two elements of row k / 4, or of that column.
  static void load_together(const WarpStep& step, std::span<Item> warp) {
    constexpr std::size_t side = 8;
    for (std::size_t square = 0; square < step.result.size(); square++) {
      const std::span<Item> rows = warp.subspan(square * side, side);
      for (const Item& row : rows) row.check_row();
      for (std::size_t k = 0; k < warp.size(); k++) {
        std::uint32_t pair = 0;
        for (std::size_t i = 0; i < 2; i++) {
          const std::size_t along = 2 * (k % 4) + i, across = k / 4;
          const std::size_t row = *step.transposed ? along : across,
                            column = *step.transposed ? across : along;
          pair |= std::uint32_t{warp[k].load_element(rows[row], column)} << (16 * i);
        }
        warp[k].set(step.result[square], pair);
      }
    }
  }

  static void multiply_together(const WarpStep& step, std::span<Item> warp) {
    std::vector<std::uint64_t> a, b, sums;
    for (const Item& item : warp) {
      for (std::int32_t slot : step.a) a.push_back(item.get<std::uint64_t>(slot));
      for (std::int32_t slot : step.b) b.push_back(item.get<std::uint64_t>(slot));
      for (std::int32_t slot : step.sums) sums.push_back(item.get<std::uint64_t>(slot));
    }
    multiply(*step.mma, a, b, sums);
    auto next = sums.begin();
    for (Item& item : warp) {
      for (std::int32_t slot : step.result) item.set(slot, *next++);
    }
  }

  void expect_same(std::size_t one, std::size_t other, Stop a, Stop b) const {
    const bool same_line = items_[one].line() == items_[other].line();
    if (a == b && (same_line || a == Stop::End)) return;
    fail({}, "kernel {}: divergent barriers: item {} {}, item {} {}", launch_.kernel, one,
         text_of(a, items_[one]), other, text_of(b, items_[other]));
  }

  static std::string text_of(Stop stop, const Item& item) {
    return fmt::format("{} at line {} of the PTX", stop == Stop::End ? "has ended" : "waits",
                       item.line());
  }

  const Launch& launch_;
  SharedMemory shared_;
  BoxCopies boxes_;
  std::vector<Window> arrays_;
  std::vector<Item> items_;
  std::vector<Warpgroup> warpgroups_;  // if there are units of four warps
};

}  // namespace

void run(const Code& code, const ProgramInfo& info, std::span<const View> buffers,
         std::span<const std::int64_t> variables) {
  const std::vector<Window> windows = windows_of(buffers);
  const std::vector<TensorMap> maps = maps_of(info, windows);
  Launch launch{code, info.name, windows, maps, parameters_of(windows, variables, maps), {}};
  std::int64_t(&groups)[3] = launch.groups;
  for (std::size_t axis = 0; axis < 3; axis++) {
    groups[axis] = info.launch.groups[axis].value(variables);
  }
  Group group(launch);
  std::int64_t place[3];
  for (place[2] = 0; place[2] < groups[2]; place[2]++) {
    for (place[1] = 0; place[1] < groups[1]; place[1]++) {
      for (place[0] = 0; place[0] < groups[0]; place[0]++) group.run(place);
    }
  }
}

}  // namespace croze::ptx_interp
