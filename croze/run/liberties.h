// liberties.h -- what kernels may do with numbers because it was asked for.
#pragma once

#include <string>

namespace croze {

// A word for each of them, behind a blank: part of what compiled kernels are known by.
std::string liberties();

}  // namespace croze
