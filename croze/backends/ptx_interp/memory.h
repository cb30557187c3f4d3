// memory.h -- loads and stores of the interpreter.
#pragma once

#include "croze/backends/ptx_interp/item.h"

namespace croze::ptx_interp {

// The function that loads, or stores, values of the type; null if there is no such access.
Handler access_handler(Space space, bool is_store, Type t);

// Of cp.async: a copy, the end of a batch of them, and waiting for batches.
void begin_copy(Item& item, const Step& step);
void commit_copies(Item& item, const Step& step);
void await_copies(Item& item, const Step& step);

}  // namespace croze::ptx_interp
