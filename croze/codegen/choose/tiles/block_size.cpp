// block_size.cpp -- blocks of tiles that threads share.
#include "croze/codegen/choose/tiles/block_size.h"

#include "croze/codegen/choose/access.h"

namespace croze {

std::int64_t tiles_of_block(const KernelState& k, UOp loop, std::int64_t most) {
  const std::int64_t even = largest_divisor(loop.trip_divisor(), most);
  const std::int64_t all = loop.range_size(), threads = k.caps().threads;
  if (loop.is_open() || most >= all || loads_what_it_stores(k.sink)) return even;
  const auto in_parts_of = [](std::int64_t n, std::int64_t size) { return (n + size - 1) / size; };
  // Tiles that the thread with the most blocks has.
  const auto longest = [&](std::int64_t size) {
    return in_parts_of(in_parts_of(all, size), threads) * size;
  };
  const std::int64_t blocks = in_parts_of(in_parts_of(all, most), threads) * threads;
  const std::int64_t overlapping = in_parts_of(all, blocks);
  const bool is_large = 2 * even > most;
  return is_large && longest(even) <= longest(overlapping) ? even : overlapping;
}

std::int64_t shared_tiles(const KernelState& k, UOp loop, const MachineModel& machine) {
  const std::int64_t all = loop.range_size(), wanted = machine.wanted_blocks();
  const std::int64_t some = (all + wanted - 1) / wanted;
  const std::int64_t size = tiles_of_block(k, loop, some);
  const auto blocks = static_cast<double>((all + size - 1) / size);
  const bool are_uneven = machine.unevenness(blocks) > MachineModel::most_uneven;
  return are_uneven && all % machine.threads == 0 ? all / machine.threads : some;
}

}  // namespace croze
