// assembling_device.h -- PTX_INTERP, for which NVIDIA's assembler reads each kernel as well.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "croze/device/device.h"

namespace croze::test {

// Where ptxas is: that which tests/cuda/install.sh has fetched, or one on the PATH; else empty.
std::string find_ptxas();

// compile() refuses what the assembler refuses for one of the targets.
std::unique_ptr<Device> make_assembling_device(std::string ptxas);

// What was assembled.
struct Assembled {
  std::int64_t kernels = 0, most_registers = 0;
  std::int64_t spilling = 0;  // kernels
};
std::map<std::string, Assembled>& assembled();  // by target

}  // namespace croze::test
