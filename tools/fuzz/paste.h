// paste.h -- random programs as C++ that is ready to be pasted into a test.
#pragma once

#include <string>

#include "fuzz/program.h"

namespace croze::fuzz {

// The body of a test that uses Scheduled (tests/schedule/scheduled.h).
std::string cpp_of(const FuzzProgram& program);

}  // namespace croze::fuzz
