// machine.cpp -- the capabilities of a device and the model of its costs, as a table.
#include "machine.h"

#include <croze/codegen/choose/machine_model.h>
#include <croze/graph/matrix_unit.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>
#include <vector>

namespace croze::tool {
namespace {

std::string line(std::string_view name, std::string_view what) {
  return fmt::format("    {:<28}{}\n", name, what);
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return bytes % (1 << 10) == 0 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

std::string vectors_of(const Caps& caps) {
  if (caps.vector_bytes == 0) return line("vectors", "none: scalars only");
  const std::int64_t path = caps.datapath_bytes > 0 ? caps.datapath_bytes : caps.vector_bytes;
  std::string text =
      line("vector registers", fmt::format("{} of {} bytes, of which units take {} at a time",
                                           caps.vector_registers, caps.vector_bytes, path));
  std::vector<std::string_view> can;
  const std::pair<bool, std::string_view> abilities[] = {
      {caps.masked_vectors, "masked accesses"},
      {caps.exchanges_lanes, "exchanges of lanes"},
      {caps.looks_up, "look-ups"},
      {caps.prefetches, "prefetches"}};
  for (const auto& [has, name] : abilities) {
    if (has) can.push_back(name);
  }
  if (!can.empty()) text += line("vectors have", fmt::format("{}", fmt::join(can, ", ")));
  return text;
}

std::string caches_of(const Caps& caps) {
  const std::string last = caps.last_cache_bytes > 0 ? bytes_text(caps.last_cache_bytes) + " shared"
                                                     : "the last unknown";
  return line("caches", fmt::format("{}, {}, {}; lines of {} bytes", bytes_text(caps.l1_bytes),
                                    bytes_text(caps.l2_bytes), last, cache_line_bytes)) +
         line("memory is read best",
              fmt::format("in order, in {} place{} at once", caps.memory_places,
                          caps.memory_places == 1 ? "" : "s"));
}

std::string groups_of(const Caps& caps) {
  return line("groups", fmt::format("up to {} items, in warps of {}; {} of memory in {} banks",
                                    caps.max_items, caps.warp_items, bytes_text(caps.group_memory),
                                    caps.group_memory_banks)) +
         line("registers of an item", fmt::format("{} of 4 bytes", caps.item_registers));
}

std::string unit_text(const MatrixUnit& unit) {
  return line(unit.name,
              fmt::format("{} x {} x {}, {} * {} -> {}{}", unit.rows, unit.columns, unit.depth,
                          name_of(unit.a), name_of(unit.b), name_of(unit.accumulator),
                          is_allowed(unit) ? "" : "; only where CROZE_TF32 is set"));
}

// Costs in multiply-adds of full registers, two of which start in a cycle.
std::string costs_of(const MachineModel& model) {
  const std::pair<std::string_view, double> costs[] = {
      {"load", MachineModel::load},
      {"load from the L2 cache", MachineModel::far_load},
      {"load from the last cache", model.farther_load()},
      {"masked load", model.masked_load()},
      {"masked store", model.masked_store()},
      {"broadcast", model.broadcast()},
      {"load of one lane", MachineModel::load_lane},
      {"store of one lane", MachineModel::store_lane},
      {"exchange of lanes", MachineModel::exchange},
      {"line not foreseen", model.far_line()},
      {"quotient", model.quotient()},
      {"exponential", MachineModel::transcendental},
      {"random words", MachineModel::threefry},
      {"turn of a loop", MachineModel::turn},
      {"multiply-adds in flight", model.in_flight()},
      {"call of a nest", MachineModel::call},
      {"launch", MachineModel::launch}};
  std::string text = line("costs", "in multiply-adds of full registers:");
  for (const auto& [name, cost] : costs)
    text += line(fmt::format("  {}", name), fmt::format("{:g}", cost));
  return text;
}

std::string room_of(const MachineModel& model) {
  return line("tile of an operand", "up to " + bytes_text(model.tile_bytes)) +
         line("what a turn reads again", "up to " + bytes_text(model.turn_bytes)) +
         line("what the caches hold", bytes_text(static_cast<std::int64_t>(model.all_caches())));
}

}  // namespace

std::string machine_text(const Caps& caps) {
  std::string text = line("architecture", caps.architecture);
  if (!caps.extensions.empty()) text += line("extensions", caps.extensions);
  if (caps.has_groups) text += groups_of(caps);
  text += vectors_of(caps);
  if (!caps.has_groups) text += caches_of(caps);
  for (const MatrixUnit* unit : caps.matrix_units) text += unit_text(*unit);
  if (caps.vector_bytes > 0 && !caps.has_groups) {
    const MachineModel model(caps);
    text += room_of(model) + costs_of(model);
  }
  return text;
}

}  // namespace croze::tool
