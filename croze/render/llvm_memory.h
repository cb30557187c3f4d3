// llvm_memory.h -- loads and stores in LLVM IR: contiguous, strided, gathered; with a gate or not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "croze/render/llvm_text.h"

namespace croze {

// Where an access goes.  Pointers are aligned to the element, and to more only
// where that is said.
struct LlvmPlace {
  std::string pointer;           // of element 0
  DType dtype = DType::Void;     // of the elements
  DType read_as = DType::Void;   // wider, what is loaded from an element on; Void: an element
  std::vector<LlvmValue> outer;  // parts of a scalar index that are added to the pointer first
  LlvmValue index;               // a vector, or lane 0 of an index that moves by `step`
  std::int64_t offset = 0;       // added to a scalar index
  std::int64_t step = 0;
  // Scalar indices behind `offset` of lane 0 and before it at which lanes of the same step are
  // loaded, too, in the same block.
  std::int64_t before = 0, behind = 0;
  // Lanes of a run, which are contiguous, equal if `step` is 0, or apart, and elements from one run
  // to the next; 0: all are one run.
  std::int64_t run = 0, jump = 0;
  bool past_caches = false;       // whole cache lines are written, aligned to 64 bytes
  std::optional<LlvmValue> gate;  // one Bool, or one a lane; one for contiguous lanes alone

  // Elements from that of lane 0 to that of another one.
  std::int64_t offset_of_lane(std::int64_t k) const {
    return run == 0 ? k * step : k % run * step + k / run * jump;
  }
  bool contiguous(std::int64_t lanes) const {
    return index.type.lanes == 1 && run == 0 && (step == 1 || lanes == 1);
  }
};

// Whether lanes that lie apart are loaded by one instruction.
bool llvm_gathers(const LlvmText& text, LlvmType type);

// The element, or the `lanes` elements; zero where the gate is false.
LlvmValue llvm_load(LlvmText& text, const LlvmPlace& place, std::int64_t lanes);
void llvm_store(LlvmText& text, const LlvmPlace& place, const LlvmValue& value);

// Has the cache line of a scalar index fetched to the caches from number `cache` on, 1 being the
// nearest; not a fault wherever it lies.
void llvm_prefetch(LlvmText& text, const LlvmPlace& place, std::int64_t cache);

}  // namespace croze
