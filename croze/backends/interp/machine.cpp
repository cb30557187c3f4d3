// machine.cpp -- the interpreter's loop.
#include "croze/backends/interp/machine.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/eval.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/program.h"

namespace croze::interp {
namespace {

// What memory holds before the first store: nothing that passes for a result.
constexpr std::byte poison{0xa5};

// Where a work-item stands in the launch.
struct Position {
  std::int64_t task = 0;
  std::int64_t group[3] = {0, 0, 0};
  std::int64_t item[3] = {0, 0, 0};

  std::int64_t of(LoopKind kind, std::int64_t axis) const {
    switch (kind) {
      case LoopKind::Thread: return task;
      case LoopKind::Group: return group[axis];
      default: return item[axis];
    }
  }
};

std::string_view name_of(MemoryInfo::Kind kind) {
  switch (kind) {
    case MemoryInfo::Kind::Param: return "buffer";
    case MemoryInfo::Kind::Thread: return "private memory at byte";
    default: return "group memory at byte";
  }
}

// One work-item (or task): its slots and where it stopped.
class Item {
 public:
  Item(const Code& code, std::string_view kernel)
      : code_(code), kernel_(kernel), slots_(code.frame), private_(code.thread_bytes, poison) {}

  void start(const Position& position, std::span<const View> buffers, std::byte* group_memory,
             std::span<const std::int64_t> variables) {
    slots_ = code_.frame;
    std::fill(private_.begin(), private_.end(), poison);
    for (const Input& input : code_.inputs) {
      slots_[input.slot] = input.op == Op::Variable ? variables[static_cast<std::size_t>(input.id)]
                                                    : position.of(input.kind, input.id);
    }
    views_.clear();
    for (const MemoryInfo& m : code_.memories) {
      switch (m.kind) {
        case MemoryInfo::Kind::Param: views_.push_back(buffers[m.slot]); break;
        case MemoryInfo::Kind::Thread: views_.push_back({private_.data() + m.slot, m.bytes}); break;
        case MemoryInfo::Kind::Group: views_.push_back({group_memory + m.slot, m.bytes}); break;
      }
    }
    is_first_ = std::ranges::all_of(position.item, [](std::int64_t i) { return i == 0; });
    next_ = 0;
  }

  // Runs to where others are met, at a barrier, a shuffle or a unit that several items work for, or
  // to the end; returns whether it is the end.
  bool run() {
    const auto end = static_cast<std::int32_t>(code_.steps.size());
    while (next_ < end) {
      const Step& step = code_.steps[next_++];
      switch (step.kind) {
        case Step::Kind::Elementwise: elementwise(step); break;
        case Step::Kind::Move: move(step); break;
        case Step::Kind::Load: load(step); break;
        case Step::Kind::Store: store(step); break;
        case Step::Kind::Reduce: reduce(step); break;
        case Step::Kind::Exchange: exchange(step); break;
        case Step::Kind::Lookup: look_up(step); break;
        case Step::Kind::CopyBox:
          if (is_first_ && open(step, 0)) copy_box(step);
          break;
        case Step::Kind::Contract:
          if (unit_of(step).threads > 1) return false;
          contract(step);
          break;
        case Step::Kind::Loop:
          slots_[step.result] = 0;
          if (turns(step) <= 0) next_ = step.target;
          break;
        case Step::Kind::EndLoop:
          if (++slots_[step.result] < turns(step)) next_ = step.target;
          break;
        case Step::Kind::Shuffle:
        case Step::Kind::Ballot:
        case Step::Kind::LoadMatrix:
        case Step::Kind::Barrier: return false;
      }
    }
    return true;
  }

  // The step that the items of a warp do together at which it has stopped; null: it has not.
  const Step* common_step() const {
    if (next_ == 0) return nullptr;
    const Step& step = code_.steps[next_ - 1];
    const bool is_of_wave = step.kind == Step::Kind::Contract && unit_of(step).threads > 1;
    const bool is_exchanged = step.kind == Step::Kind::Shuffle || step.kind == Step::Kind::Ballot ||
                              step.kind == Step::Kind::LoadMatrix;
    return is_of_wave || is_exchanged ? &step : nullptr;
  }

  // The step, of all items of a warp.
  static void step_together(const Step& step, std::span<Item> warp) {
    switch (step.kind) {
      case Step::Kind::Ballot: return ballot_together(step, warp);
      case Step::Kind::LoadMatrix: return load_matrix_together(step, warp);
      default: return contract_together(step, warp);
    }
  }

  // The step, of all items of a group.
  static void shuffle_together(const Step& step, std::span<Item> group) {
    std::vector<std::vector<std::int64_t>> given;
    for (const Item& item : group) given.push_back(item.values(step.in[0], step.lanes));
    for (std::size_t i = 0; i < group.size(); i++) {
      const std::size_t from = i ^ static_cast<std::size_t>(step.size);
      ensure(from < group.size(), "a group has warps that are not whole");
      std::ranges::copy(given[from], group[i].slots_.begin() + step.result);
    }
  }

  static void ballot_together(const Step& step, std::span<Item> warp) {
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(step.lanes); lane++) {
      std::uint64_t holds = 0;
      for (std::size_t i = 0; i < warp.size(); i++) {
        holds |= std::uint64_t{warp[i].values(step.in[0], step.lanes)[lane] != 0} << i;
      }
      for (Item& item : warp) {
        item.slots_[static_cast<std::size_t>(step.result) + lane] =
            bits_of(static_cast<std::int64_t>(holds), step.dtype);
      }
    }
  }

  static void load_matrix_together(const Step& step, std::span<Item> warp) {
    if (step.size > 1) return load_parts_together(step, warp);
    for (std::size_t i = 0; i < warp.size(); i++) {
      for (std::int32_t lane = 0; lane < step.lanes; lane++) {
        const auto pair = static_cast<std::int32_t>(i % 4) * 2 + lane % 2,
                   other = static_cast<std::int32_t>(i / 4);
        const std::int32_t row = step.size ? pair : other, column = step.size ? other : pair;
        const Item& from = warp[static_cast<std::size_t>(lane / 2 * 8 + row)];
        warp[i].slots_[step.result + lane] = load_bits(from.address(step, 0, column), step.dtype);
      }
    }
  }

  // The step, of all items of a unit that reads for itself.
  static void load_parts_together(const Step& step, std::span<Item> wave) {
    for (std::size_t i = 0; i < wave.size(); i++) {
      for (std::int32_t lane = 0; lane < step.lanes; lane++) {
        const auto behind = static_cast<std::int64_t>(i) * step.lanes + lane;
        wave[i].slots_[step.result + lane] =
            load_bits(wave[i].address(step, 0, behind), step.dtype);
      }
    }
  }

  // The step, of all items of a wave.
  static void contract_together(const Step& step, std::span<Item> wave) {
    const MatrixUnit& unit = unit_of(step);
    std::vector<std::int64_t> sums, a, b;
    for (const Item& item : wave) {
      append(sums, item.values(step.in[0], step.lanes));
      append(a, item.factors(step.in[1], places_of_thread(unit, unit.places_of_a), step.dtype,
                             unit.a));
      append(b, item.factors(step.in[2], places_of_thread(unit, unit.places_of_b), step.operand,
                             unit.b));
    }
    // Threads that hold what others hold are the last ones.
    a.resize(static_cast<std::size_t>(count_places(element_bits(unit.places_of_a))));
    b.resize(static_cast<std::size_t>(count_places(element_bits(unit.places_of_b))));
    std::vector<std::int64_t> result(sums.size());
    croze::contract(unit, sums, a, b, result);
    auto from = result.begin();
    for (Item& item : wave) {
      std::copy(from, from + step.lanes, item.slots_.begin() + step.result);
      from += step.lanes;
    }
  }

 private:
  static const MatrixUnit& unit_of(const Step& step) {
    return matrix_units()[static_cast<std::size_t>(step.size)];
  }

  static void append(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& values) {
    to.insert(to.end(), values.begin(), values.end());
  }

  std::int64_t value(const Operand& operand, std::int32_t lane) const {
    return slots_[operand.slot + lane * operand.stride];
  }

  std::int64_t turns(const Step& loop) const {
    return loop.in[0].slot < 0 ? loop.size : value(loop.in[0], 0);
  }

  void elementwise(const Step& step) {
    std::int64_t in[3];
    for (std::int32_t lane = 0; lane < step.lanes; lane++) {
      for (int i = 0; i < step.operands; i++) in[i] = value(step.in[i], lane);
      slots_[step.result + lane] =
          eval(step.op, step.dtype, step.operand, std::span(in, step.operands));
    }
  }

  void move(const Step& step) {
    for (std::int32_t lane = 0; lane < step.lanes; lane++) {
      slots_[step.result + lane] = value(step.in[0], lane);
    }
  }

  // A tree: the upper half of the lanes is added to the lower half until one lane is left.
  void reduce(const Step& step) {
    lanes_.resize(step.lanes);
    for (std::int32_t lane = 0; lane < step.lanes; lane++) lanes_[lane] = value(step.in[0], lane);
    for (std::int32_t n = step.lanes; n > 1;) {
      const std::int32_t half = (n + 1) / 2;
      for (std::int32_t lane = 0; lane < n - half; lane++) {
        const std::int64_t in[] = {lanes_[lane], lanes_[lane + half]};
        lanes_[lane] = eval(step.op, step.dtype, step.operand, in);
      }
      n = half;
    }
    slots_[step.result] = lanes_[0];
  }

  void exchange(const Step& step) {
    const auto bit = static_cast<std::int32_t>(step.size);
    for (std::int32_t lane = 0; lane < step.lanes; lane++) {
      const bool has_bit = (lane & std::abs(bit)) != 0;
      const std::int32_t moved = lane - bit;  // the lane that trades places with this one
      slots_[step.result + lane] = has_bit ? value(step.in[1], bit > 0 ? moved : lane)
                                           : value(step.in[0], bit > 0 ? lane : moved);
    }
  }

  void look_up(const Step& step) {
    for (std::int32_t lane = 0; lane < step.lanes; lane++) {
      const auto from = static_cast<std::int32_t>(value(step.in[1], lane) & (step.lanes - 1));
      slots_[step.result + lane] = value(step.in[0], from);
    }
  }

  void contract(const Step& step) {
    const MatrixUnit& unit = unit_of(step);
    const auto elements = [](std::string_view places) {
      return count_places(element_bits(places));
    };
    const std::vector<std::int64_t> sums = values(step.in[0], step.lanes),
                                    a = factors(step.in[1], elements(unit.places_of_a), step.dtype,
                                                unit.a),
                                    b = factors(step.in[2], elements(unit.places_of_b),
                                                step.operand, unit.b);
    lanes_.resize(step.lanes);
    croze::contract(unit, sums, a, b, lanes_);
    std::ranges::copy(lanes_, slots_.begin() + step.result);
  }

  std::vector<std::int64_t> values(const Operand& operand, std::int64_t count) const {
    std::vector<std::int64_t> result;
    for (std::int32_t lane = 0; lane < count; lane++) result.push_back(value(operand, lane));
    return result;
  }

  // The elements of an operand, of which there may be the bits as an integer.
  std::vector<std::int64_t> factors(const Operand& operand, std::int64_t count, DType given,
                                    DType wanted) const {
    std::vector<std::int64_t> result = values(operand, count);
    for (std::int64_t& x : result) {
      std::byte memory[8];
      store_bits(x, given, memory);
      x = load_bits(memory, wanted);
    }
    return result;
  }

  bool open(const Step& step, std::int32_t lane) const {
    return step.in[1].slot < 0 || value(step.in[1], lane) != 0;
  }

  // `behind`: so many elements.
  std::byte* address(const Step& step, std::int32_t lane, std::int64_t behind = 0) const {
    const View& view = views_[step.memory];
    const std::int64_t index = value(step.in[0], lane) + behind, size = size_of(step.dtype);
    if (index < 0 || index >= view.bytes / size) [[unlikely]] {
      const MemoryInfo& memory = code_.memories[step.memory];
      fail({}, "kernel {}: {} of index {} in {} {}, which has {} elements of {}", kernel_,
           step.kind == Step::Kind::Load ? "load" : "store", index, name_of(memory.kind),
           memory.slot, view.bytes / size, croze::name_of(step.dtype));
    }
    return view.base + index * size;
  }

  void load(const Step& step) {
    for (std::int32_t lane = 0; lane < step.lanes; lane++) {
      slots_[step.result + lane] =
          open(step, lane) ? load_bits(address(step, lane), step.dtype) : 0;
    }
  }

  void store(const Step& step) {
    for (std::int32_t lane = 0; lane < step.lanes; lane++) {
      if (open(step, lane)) store_bits(value(step.in[2], lane), step.dtype, address(step, lane));
    }
  }

  // Element by element, the first axis counting fastest; a copy has come as soon as it begins.
  void copy_box(const Step& step) {
    const BoxCopy& copy = code_.boxes[static_cast<std::size_t>(step.size)];
    const View& from = views_[copy.memory];
    const std::int64_t element = size_of(step.dtype);
    std::byte* const to = views_[step.memory].base;
    const std::int64_t begin = value(step.in[0], 0) * element;
    ensure(begin >= 0 && begin + bytes_of(copy.box) <= views_[step.memory].bytes,
           "kernel {}: a box leaves its tile", kernel_);
    for (std::int64_t at = 0; at < bytes_of(copy.box); at += element) {
      std::int64_t number = at / element, index = 0;
      bool is_inside = true;
      for (std::size_t i = 0; i < copy.box.box.size(); i++) {
        const std::int64_t c = value(copy.coordinates[i], 0) + number % copy.box.box[i];
        is_inside = is_inside && c >= 0 && c < copy.box.sizes[i];
        index += c * copy.box.strides[i];
        number /= copy.box.box[i];
      }
      ensure(!is_inside || (index + 1) * element <= from.bytes,
             "kernel {}: a box reads element {} of buffer {}", kernel_, index, copy.box.slot);
      std::byte* const place = to + begin + (at ^ (at / 128 % 8 * 16));
      std::fill_n(place, element, std::byte{0});
      if (is_inside) std::copy_n(from.base + index * element, element, place);
    }
  }

  const Code& code_;
  std::string_view kernel_;
  bool is_first_ = false;  // of its group
  std::vector<std::int64_t> slots_;
  std::vector<std::byte> private_;
  std::vector<View> views_;
  std::vector<std::int64_t> lanes_;  // of the reduction at hand
  std::int32_t next_ = 0;
};

// Calls f(x, y, z) for every point of the grid, x fastest.
template <typename F>
void for_grid(const std::array<std::int64_t, 3>& size, F f) {
  for (std::int64_t z = 0; z < size[2]; z++) {
    for (std::int64_t y = 0; y < size[1]; y++) {
      for (std::int64_t x = 0; x < size[0]; x++) f(x, y, z);
    }
  }
}

// How many items do the step together.
std::size_t items_together(const Step& step) {
  constexpr std::size_t items_of_squares = 32;  // op.h: eight rows of four squares
  if (step.kind == Step::Kind::Ballot) return static_cast<std::size_t>(step.size);
  if (step.kind == Step::Kind::LoadMatrix)
    return step.size > 1 ? static_cast<std::size_t>(step.size) : items_of_squares;
  return static_cast<std::size_t>(matrix_units()[static_cast<std::size_t>(step.size)].threads);
}

void run_group(std::vector<Item>& items) {
  for (bool done = false; !done;) {
    // Control flow is the same for all, so all stop at the same step.
    for (Item& item : items) done = item.run();
    const Step* const step = items.back().common_step();
    if (done || !step) continue;
    if (step->kind == Step::Kind::Shuffle) {
      Item::shuffle_together(*step, items);
      continue;
    }
    const std::size_t wave = items_together(*step);
    ensure(items.size() % wave == 0, "a group has waves that are not whole");
    for (std::size_t i = 0; i < items.size(); i += wave) {
      Item::step_together(*step, std::span(items).subspan(i, wave));
    }
  }
}

}  // namespace

void run(const Code& code, const ProgramInfo& info, std::span<const View> buffers,
         std::span<const std::int64_t> variables) {
  const Launch& launch = info.launch;
  const auto& [width, height, depth] = launch.items;
  const std::int64_t count = width * height * depth, tasks = launch.tasks.value(variables);
  std::array<std::int64_t, 3> groups;
  for (std::size_t axis = 0; axis < 3; axis++) groups[axis] = launch.groups[axis].value(variables);
  std::vector<Item> items(static_cast<std::size_t>(count), Item(code, info.name));
  std::vector<std::byte> group_memory(code.group_bytes);

  Position position;
  for (position.task = 0; position.task < tasks; position.task++) {
    for_grid(groups, [&](std::int64_t gx, std::int64_t gy, std::int64_t gz) {
      std::ranges::copy(std::array{gx, gy, gz}, position.group);
      std::fill(group_memory.begin(), group_memory.end(), poison);
      std::size_t next = 0;
      for_grid({width, height, depth}, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
        std::ranges::copy(std::array{x, y, z}, position.item);
        items[next++].start(position, buffers, group_memory.data(), variables);
      });
      run_group(items);
    });
  }
}

}  // namespace croze::interp
