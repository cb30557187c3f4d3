// check_plan.cpp -- what a plan says of memory, held against the memory that there is.  The plan
// may come from a file.
#include <algorithm>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/prepared/plan.h"

namespace croze::prepared {
namespace {

class PlanChecker {
 public:
  PlanChecker(const Plan& plan, const std::string& source) : plan_(plan), source_(source) {}

  void run() const {
    holds(plan_.memory_bytes >= 0 && plan_.memory_bytes <= address_space, "its memory");
    holds(std::ssize(plan_.start) <= plan_.memory_bytes, "what its state starts with");
    for (const auto* list : {&plan_.inputs, &plan_.results, &plan_.state}) {
      for (const StepValue& v : *list) check_value(v);
    }
    for (const StepValue& v : plan_.state) {
      holds(v.offset + v.bytes() <= std::ssize(plan_.start), "its state");
    }
    for (const Function& f : plan_.functions) check_function(f);
    for (const auto* list : {&plan_.copies_in, &plan_.copies_out}) {
      for (const Copy& c : *list) check_copy(c);
    }
    for (const CallSequence& s : plan_.sequences) check_sequence(s);
    for (std::int64_t key : plan_.random_keys) {
      holds(key >= 0 && key % 8 == 0 && key <= std::ssize(plan_.start) - 8, "its random numbers");
    }
  }

 private:
  void holds(bool condition, std::string_view what) const {
    check(condition, "{} is no step that can be run: {} is damaged", source_, what);
  }

  bool is_in_memory(std::int64_t offset, std::int64_t bytes, std::int64_t all) const {
    return offset >= 0 && bytes >= 0 && bytes <= all && offset <= all - bytes;
  }
  bool is_valid(const Place& p) const {
    if (p.in == Place::In::Weights)
      return is_in_memory(p.offset, p.bytes, std::ssize(plan_.weights));
    return p.in == Place::In::Instance && is_in_memory(p.offset, p.bytes, plan_.memory_bytes);
  }

  void check_value(const StepValue& v) const {
    const auto dtype = static_cast<int>(v.dtype);
    holds(dtype > static_cast<int>(DType::Index) && dtype < num_dtypes, "a dtype");
    holds(std::ranges::all_of(v.shape, [](std::int64_t size) { return size >= 0; }), "a shape");
    const std::int64_t bytes = checked_mul(v.shape.numel(), size_of(v.dtype));
    holds(v.offset % alignment == 0 && is_in_memory(v.offset, bytes, plan_.memory_bytes),
          "a value");
  }

  void check_function(const Function& f) const {
    holds(f.buffers >= 0 && f.buffers <= INT32_MAX && f.variables >= 0 && f.variables <= INT32_MAX,
          "a function");
    holds(plan_.scratch_offset % alignment == 0 &&
              is_in_memory(plan_.scratch_offset, f.scratch_bytes, plan_.memory_bytes),
          "scratch memory");
  }

  void check_copy(const Copy& c) const {
    holds(is_valid(c.to) && is_valid(c.from) && c.to.in == Place::In::Instance &&
              c.to.bytes == c.from.bytes,
          "a copy");
  }

  void check_sequence(const CallSequence& s) const {
    holds(s.blocks.size() <= most_axes, "a sequence");
    holds(std::ranges::all_of(s.blocks, [](std::int64_t n) { return n >= 0; }), "a sequence");
    checked_product(s.blocks);
    for (const Call& c : s.calls) {
      holds(c.function >= 0 && c.function < std::ssize(plan_.functions), "a call");
      const Function& f = plan_.functions[static_cast<std::size_t>(c.function)];
      // A function need not take every number that there is.
      holds(std::ssize(c.buffers) == f.buffers &&
                std::ssize(c.variables) + std::ssize(s.blocks) >= f.variables && c.tasks >= 0,
            "a call");
      holds(std::ranges::all_of(c.buffers, [&](const Place& p) { return is_valid(p); }),
            "a parameter");
    }
  }

  const Plan& plan_;
  const std::string& source_;
};

}  // namespace

void check_plan(const Plan& plan, const std::string& source) { PlanChecker(plan, source).run(); }

}  // namespace croze::prepared
