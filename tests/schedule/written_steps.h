// written_steps.h -- steps and their buffers, written down one by one, for tests of their order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "croze/schedule/liveness.h"
#include "croze/schedule/order.h"

namespace croze {

constexpr std::int64_t large = 4096, small = 4;  // elements

// The steps in their places, by the buffers that they write.
inline std::vector<int> written(const StepOrder& order) {
  std::vector<int> buffers;
  for (const auto& steps : order.steps) buffers.push_back(steps[0].buffers[0]);
  return buffers;
}

// Each step writes a buffer of its own.
struct WrittenSteps {
  Schedule schedule;
  StepOrder order;

  // A step that waits for the ones whose results it reads, and its number.
  int add(std::int64_t elements, std::vector<int> reads,
          ScheduleBuffer::Kind kind = ScheduleBuffer::Kind::Temporary) {
    const int step = static_cast<int>(order.steps.size());
    schedule.buffers.push_back({.kind = kind, .dtype = DType::Float32, .elements = elements});
    ScheduleStep made;
    made.buffers = {step};
    made.buffers.insert(made.buffers.end(), reads.begin(), reads.end());
    order.steps.push_back({made});
    order.waits_for.push_back(std::move(reads));
    return step;
  }

  std::int64_t most_bytes(const StepOrder& o) const { return most_bytes_alive(o, schedule); }

  // The steps in another order, each behind what it waits for.
  void expect_same_waits(const StepOrder& other) const {
    const std::vector<int> steps = written(other);
    ASSERT_TRUE(std::ranges::is_permutation(steps, written(order)));
    for (std::size_t i = 0; i < steps.size(); i++) {
      std::vector<int> waits;
      for (int w : other.waits_for[i]) {
        ASSERT_LT(w, static_cast<int>(i));
        waits.push_back(steps[static_cast<std::size_t>(w)]);
      }
      EXPECT_EQ(waits, order.waits_for[static_cast<std::size_t>(steps[i])]);
    }
  }
};

// Sixty steps, of which each reads up to three earlier ones.
inline WrittenSteps random_steps(std::uint32_t seed) {
  std::mt19937 random(seed);
  WrittenSteps s;
  for (int i = 0; i < 60; i++) {
    std::vector<int> reads;
    for (std::uint32_t n = random() % 4; n > 0 && i > 0; n--) {
      reads.push_back(static_cast<int>(random() % static_cast<std::uint32_t>(i)));
    }
    const bool wanted = random() % 5 == 0;
    s.add(1 + random() % large, reads,
          wanted ? ScheduleBuffer::Kind::Output : ScheduleBuffer::Kind::Temporary);
  }
  return s;
}

}  // namespace croze
