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

using Facts = std::vector<MachineFact>;

std::string bytes_text(std::int64_t bytes) {
  if (bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return bytes % (1 << 10) == 0 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

void add_vectors(Facts& facts, const Caps& caps) {
  if (caps.vector_bytes == 0) return void(facts.push_back({"vectors", "none: scalars only"}));
  const std::int64_t path = caps.datapath_bytes > 0 ? caps.datapath_bytes : caps.vector_bytes;
  facts.push_back(
      {"vector registers", fmt::format("{} of {} bytes, of which units take {} at a time",
                                       caps.vector_registers, caps.vector_bytes, path)});
  std::vector<std::string_view> can;
  const std::pair<bool, std::string_view> abilities[] = {
      {caps.masked_vectors, "masked accesses"},
      {caps.exchanges_lanes, "exchanges of lanes"},
      {caps.looks_up, "look-ups"},
      {caps.prefetches, "prefetches"}};
  for (const auto& [has, name] : abilities) {
    if (has) can.push_back(name);
  }
  if (!can.empty()) facts.push_back({"vectors have", fmt::format("{}", fmt::join(can, ", "))});
}

void add_caches(Facts& facts, const Caps& caps) {
  const std::string last = caps.last_cache_bytes > 0 ? bytes_text(caps.last_cache_bytes) + " shared"
                                                     : "the last unknown";
  facts.push_back({"caches", fmt::format("{}, {}, {}; lines of {} bytes", bytes_text(caps.l1_bytes),
                                         bytes_text(caps.l2_bytes), last, cache_line_bytes)});
  facts.push_back(
      {"memory is read best", fmt::format("in order, in {} place{} at once", caps.memory_places,
                                          caps.memory_places == 1 ? "" : "s")});
}

void add_groups(Facts& facts, const Caps& caps) {
  facts.push_back({"groups", fmt::format("up to {} items, in warps of {}; {} of memory in {} banks",
                                         caps.max_items, caps.warp_items,
                                         bytes_text(caps.group_memory), caps.group_memory_banks)});
  facts.push_back({"registers of an item", fmt::format("{} of 4 bytes", caps.item_registers)});
}

MachineFact fact_of(const MatrixUnit& unit) {
  return {std::string(unit.name),
          fmt::format("{} x {} x {}, {} * {} -> {}{}", unit.rows, unit.columns, unit.depth,
                      name_of(unit.a), name_of(unit.b), name_of(unit.accumulator),
                      is_allowed(unit) ? "" : "; only where CROZE_TF32 is set")};
}

// In multiply-adds of full registers, two of which start in a cycle.
void add_costs(Facts& facts, const MachineModel& model) {
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
  facts.push_back({"costs", "in multiply-adds of full registers"});
  for (const auto& [name, cost] : costs)
    facts.push_back({fmt::format("cost: {}", name), fmt::format("{:g}", cost)});
}

void add_room(Facts& facts, const MachineModel& model) {
  facts.push_back({"tile of an operand", "up to " + bytes_text(model.tile_bytes)});
  facts.push_back({"what a turn reads again", "up to " + bytes_text(model.turn_bytes)});
  facts.push_back(
      {"what the caches hold", bytes_text(static_cast<std::int64_t>(model.all_caches()))});
}

}  // namespace

std::vector<MachineFact> machine_facts(const Caps& caps) {
  Facts facts{{"architecture", caps.architecture}};
  if (!caps.extensions.empty()) facts.push_back({"extensions", caps.extensions});
  if (caps.has_groups) add_groups(facts, caps);
  add_vectors(facts, caps);
  if (!caps.has_groups) add_caches(facts, caps);
  for (const MatrixUnit* unit : caps.matrix_units) facts.push_back(fact_of(*unit));
  if (caps.vector_bytes > 0 && !caps.has_groups) {
    const MachineModel model(caps);
    add_room(facts, model);
    add_costs(facts, model);
  }
  return facts;
}

}  // namespace croze::tool
