// reference.h -- the fuzzers' evaluator of tensor graphs, under the name that tests know it by.
#pragma once

#include "fuzz/reference.h"

namespace croze::test {

using fuzz::HostTensor;
using fuzz::Reference;

}  // namespace croze::test
