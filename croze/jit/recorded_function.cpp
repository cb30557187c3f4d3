// recorded_function.cpp -- a traced function over the memory of other tensors.
#include "croze/jit/recorded_function.h"

#include <mutex>
#include <utility>

#include "croze/base/error.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/jit/trace.h"
#include "croze/run/execute.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"

namespace croze {
namespace {

bool is_whole_memory(const Tensor& x) {
  const UOp buffer = storage_of(x.node());
  return buffer && buffer.elements() == x.numel();
}

// A launch would find in such memory what the last one left there.
void check_stores_nothing(std::span<const Tensor> results) {
  const std::vector<UOp> roots = nodes_of(results);
  for (UOp u : toposort(roots)) {
    check(!u.is(Op::After), "the function assigns to a tensor that it has made from data");
  }
}

// Takes the lock once every tensor is memory of its own.  Another thread may have assigned to one
// of them before the lock is there.
std::unique_lock<GraphMutex> lock_over_memory(std::vector<Tensor>& tensors) {
  std::unique_lock lock(Registry::instance().mutex);
  for (bool is_asked = false;; is_asked = true) {
    std::vector<Tensor> missing;
    for (Tensor& t : tensors) {
      if (t.numel() == 0 || is_whole_memory(t)) continue;
      if (is_asked) t = t.contiguous();  // a view of memory in another order
      missing.push_back(t);
    }
    if (missing.empty()) return lock;
    lock.unlock();
    realize(missing);
    lock.lock();
  }
}

}  // namespace

RecordedFunction::RecordedFunction(std::span<const Body::Value> arguments, Body::Function function,
                                   const OpenRecording& open)
    : body_(
          arguments,
          [&](std::span<const Tensor> stand_ins) {
            std::vector<Tensor> results = function(stand_ins);
            check_stores_nothing(results);
            return results;
          },
          Capturing::Computes::Constants, open) {
  draws_random_numbers_ = !body_.take_keys().empty();
  closed_ = body_.take_closed();
}

UOp RecordedFunction::input(std::size_t number, std::span<const Tensor> arguments) const {
  const bool is_given = number < arguments.size();
  const Tensor& t = is_given ? arguments[number] : closed_[number - arguments.size()];
  return storage_of(t.node());
}

std::vector<Tensor> RecordedFunction::results(std::span<const UOp> values) const {
  std::vector<Tensor> results;
  auto value = values.begin();
  for (const Body::Value& v : body_.results()) {
    if (v.shape.numel() == 0) {
      results.push_back(wrap(Tensor::zeros(v.shape, {.dtype = v.dtype}).node(), v.device));
      continue;
    }
    results.push_back(wrap(reshape_node(*value++, v.shape), v.device));
    own_storage(results.back());
  }
  return results;
}

std::vector<Tensor> RecordedFunction::operator()(std::span<const Tensor> given) const {
  ensure(!draws_random_numbers_, "a function that draws random numbers is launched again");
  std::vector<Tensor> arguments(given.begin(), given.end());
  std::unique_lock lock = lock_over_memory(arguments);
  Registry::instance().tidy();
  if (!body_.has_work()) return results({});
  std::vector<UOp> inputs;
  for (std::size_t i : body_.order()) inputs.push_back(input(i, arguments));
  BoundRun run(body_.prepared(), inputs, tensor_graph());
  std::vector<Tensor> made = results(run.values());
  lock.unlock();
  run.launch();
  return made;
}

}  // namespace croze
