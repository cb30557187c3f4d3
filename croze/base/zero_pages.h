// zero_pages.h -- memory that is zero and takes room only where somebody writes.
#pragma once

#include <cstdint>
#include <memory>

namespace croze {

// So many bytes, > 0, all zero, aligned to a page; the system gives a page when it is first
// written.  Freed with the last owner.  Throws Error where there is no room in the address space.
std::shared_ptr<void> zero_pages(std::int64_t bytes);

}  // namespace croze
