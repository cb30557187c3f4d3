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

// Of cp.async.bulk.tensor and mbarrier: the functions of Item of these names.
void init_barrier(Item& item, const Step& step);
void show_inits(Item& item, const Step& step);
void expect_bytes(Item& item, const Step& step);
void arrive(Item& item, const Step& step);
void await_phase(Item& item, const Step& step);
void begin_box(Item& item, const Step& step);

}  // namespace croze::ptx_interp
