// memory_limit.h -- the bound on memory, asked before any is allocated.
//
// A file of a few bytes can ask for more than a machine has.  An allocation of that size may well
// succeed, and the process, or another one, is killed when it is used.
#pragma once

#include <cstdint>
#include <string>

namespace croze {

// What CROZE_MEMORY_LIMIT allows, in bytes.
std::int64_t memory_limit();

// Throws Error, saying what wants them, if so many bytes are too many beside the `held` ones.
void check_memory(std::int64_t bytes, std::int64_t held, const std::string& what);

}  // namespace croze
