// run_options.cpp -- --device and --memory-limit.
#include "run_options.h"

namespace croze::tool {

void RunOptions::add_to(const Command& command) {
  command.option("--device", device, "Device to compute on, as croze devices names it");
  command
      .option("--memory-limit", memory_limit,
              "MiB that tensors and temporaries may take (CROZE_MEMORY_LIMIT)")
      .not_negative();
}

Options::Scope RunOptions::scope() const {
  return {{Option::Device, device.empty() ? Options::text(Option::Device) : device},
          {Option::MemoryLimit,
           memory_limit == 0 ? Options::integer(Option::MemoryLimit) : memory_limit}};
}

}  // namespace croze::tool
