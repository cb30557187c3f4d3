// memory_plan.cpp -- lifetimes of temporaries, and a place for each.
//
// A temporary lives from the launch that writes it first to the one that reads it last: all
// lifetimes are known before anything runs.  packing.cpp gives them places; how far it stays from
// the most bytes alive at once is reported.
#include "croze/schedule/memory/memory_plan.h"

#include <map>
#include <span>
#include <vector>

#include "croze/schedule/memory/packing.h"

namespace croze {
namespace {

// The buffers of a kind that some steps use, some of them more than once.
std::vector<int> used_by(const Schedule& schedule, int first, int last, ScheduleBuffer::Kind kind) {
  std::vector<int> result;
  for (int i = first; i < last; i++) {
    for (int b : schedule.steps[static_cast<std::size_t>(i)].buffers) {
      if (schedule.buffers[static_cast<std::size_t>(b)].kind == kind) result.push_back(b);
    }
  }
  return result;
}

// Buffers of one device, and when they are used.
struct Occupants {
  std::vector<int> buffers;
  std::vector<Lifetime> lifetimes;
};

// By device.  used[t] are the buffers in use at time t, and each lives from its first time to its
// last.
std::map<int, Occupants> occupants(const Schedule& schedule,
                                   std::span<const std::vector<int>> used) {
  std::map<int, Occupants> devices;
  std::vector<int> places(schedule.buffers.size(), -1);  // in Occupants
  for (std::size_t t = 0; t < used.size(); t++) {
    const int time = static_cast<int>(t);
    for (int b : used[t]) {
      const ScheduleBuffer& buffer = schedule.buffers[static_cast<std::size_t>(b)];
      Occupants& device = devices[buffer.device];
      int& place = places[static_cast<std::size_t>(b)];
      if (place < 0) {
        place = static_cast<int>(device.buffers.size());
        device.buffers.push_back(b);
        device.lifetimes.push_back({time, time, buffer.bytes()});
      }
      device.lifetimes[static_cast<std::size_t>(place)].last = time;
    }
  }
  return devices;
}

// A place for each buffer, as for occupants().  The sizes of all together, by device.
std::vector<ArenaPlan> place(Schedule& schedule, const ScheduleContext& context,
                             std::span<const std::vector<int>> used) {
  std::vector<ArenaPlan> arenas;
  for (const auto& [device, occupied] : occupants(schedule, used)) {
    const Packing packing = pack(occupied.lifetimes, context.caps(device).alignment);
    for (std::size_t i = 0; i < occupied.buffers.size(); i++) {
      const auto b = static_cast<std::size_t>(occupied.buffers[i]);
      schedule.buffers[b].arena_offset = packing.offsets[i];
    }
    arenas.push_back({device, packing.bytes, packing.lower_bound});
  }
  return arenas;
}

// What the nests of each sequence pass to each other, in the memory of a block; what the prelude
// makes is there for the next block as well.
void plan_blocks(Schedule& schedule, const ScheduleContext& context) {
  std::vector<std::vector<std::vector<int>>> used(schedule.sequences.size());
  for (int i = 0; i < static_cast<int>(schedule.steps.size()); i++) {
    const int sequence = schedule.steps[static_cast<std::size_t>(i)].sequence;
    if (sequence < 0) continue;
    used[static_cast<std::size_t>(sequence)].push_back(
        used_by(schedule, i, i + 1, ScheduleBuffer::Kind::Block));
  }
  for (std::size_t i = 0; i < used.size(); i++) {
    for (std::size_t n = 0; n < schedule.sequences[i].prelude; n++) {
      used[i].back().insert(used[i].back().end(), used[i][n].begin(), used[i][n].end());
    }
    for (const ArenaPlan& memory : place(schedule, context, used[i])) {
      schedule.sequences[i].block_bytes = memory.bytes;
    }
  }
}

}  // namespace

void plan_memory(Schedule& schedule, const ScheduleContext& context) {
  std::vector<std::vector<int>> used;  // by launch
  for (const ScheduleLaunch& launch : schedule.launches) {
    used.push_back(used_by(schedule, launch.first, launch.last, ScheduleBuffer::Kind::Temporary));
  }
  schedule.arenas = place(schedule, context, used);
  plan_blocks(schedule, context);
}

}  // namespace croze
