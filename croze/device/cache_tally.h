// cache_tally.h -- how many bytes the files of a folder have, without looking at each of them.
//
// A file of numbers stands among them: who stores a file appends its size, which takes the system
// one write that no other process comes between.  A file that is stored again counts again, and
// what is stored while the tally is begun anew may be lost: it says about how many bytes there are,
// until somebody counts them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "croze/base/file.h"

namespace croze {

// Adds a stored file of so many bytes; false if there is no tally.
bool add_to_tally(const FileDescriptor& folder, std::int64_t bytes);

// The sum; nothing if there is no tally, or if it is damaged or has grown long: then the files are
// to be counted.
std::optional<std::int64_t> read_tally(const FileDescriptor& folder);

// Begins anew with files of so many bytes.  Throws Error if the disk does not let it; `path` is
// what messages call the folder.
void begin_tally(const FileDescriptor& folder, std::int64_t bytes, const std::string& path);

}  // namespace croze
