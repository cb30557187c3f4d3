// search.h -- the fastest edits of a kernel, found by trying them: a beam search.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/base/thread_pool.h"
#include "croze/device/caps.h"
#include "croze/device/device.h"
#include "croze/graph/uop.h"
#include "croze/tune/neighbours.h"

namespace croze::tune {

struct Settings {
  int width = 4;           // lists of edits that are kept from round to round
  std::uint64_t seed = 1;  // of the order in which neighbours are tried
  double limit = 5;        // seconds that a candidate may take in a round
};

struct Found {
  EditList edits;                         // the model's own where none was faster
  double seconds = 0, model_seconds = 0;  // of one run; in turns with each other
  int tried = 0;
  bool against_plain = true;  // results were compared with those of the kernel without edits;
                              // false: that takes too long, so with those of the model's
  // Candidates that were not slow but broken: "wrong: split r0 by 4; ...".
  std::vector<std::string> broken = {};
};

// Searches from the edits that the model of the machine chooses (codegen/choose/).  Candidates are
// compiled on `compilers` and run one at a time in processes of their own (workbench.h), in turns
// with the model's choice.  Throws Error where the kernel cannot be tried: its device computes not
// in this process, it takes too much memory, or its own program fails.
Found search_edits(UOp kernel, Device& device, const Caps& caps, const Settings& settings,
                   ThreadPool& compilers);

}  // namespace croze::tune
