// explain.h -- why computing tensors takes the memory and the launches that it takes.
//
//     const Explanation e = explain(loss.gradient(parameters));
//     std::puts(to_text(e).c_str());
//     for (int b : e.peaks[0].buffers) use(e.buffers[b].why);
//
// What a captured step does is told by Step::explanation() (jit/capture.h), and what a whole
// program does by CROZE_EXPLAIN=1.
#pragma once

#include <initializer_list>
#include <span>

#include "croze/schedule/explain/explanation.h"
#include "croze/tensor/tensor.h"

namespace croze {

// What computing the tensors together would launch, and with what memory.  Nothing is computed or
// compiled.  What is computed already takes no launch.  Values know the call that recorded them if
// CROZE_EXPLAIN was set at that time.  Throws Error inside of a captured function.
Explanation explain(std::span<const Tensor> tensors, Location at = Location::current());
Explanation explain(std::initializer_list<Tensor> tensors, Location at = Location::current());

}  // namespace croze
