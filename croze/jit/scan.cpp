// scan.cpp -- a loop over rows: traced and run, or recorded step by step where nothing can run.
#include "croze/jit/scan.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/jit/capture.h"
#include "croze/jit/loop.h"
#include "croze/run/buffers.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/watch.h"

namespace croze {
namespace {

using Tensors = std::vector<Tensor>;
using List = std::span<const Tensor>;

std::int64_t length_of(List xs, const ScanOptions& options, Location at) {
  std::int64_t length = options.length;
  for (std::size_t i = 0; i < xs.size(); i++) {
    const Call call("scan", {&xs[i]}, at);
    call.require(xs[i].ndim() > 0, "input {} has no axis to loop over", i);
    if (length < 0) length = xs[i].size(0);
    call.require(xs[i].size(0) == length, "input {} has {} rows, and others, or the option, say {}",
                 i, xs[i].size(0), length);
  }
  const Call call("scan", {}, at);
  call.require(length >= 0, "without inputs the number of steps is an option: {{.length = 10}}");
  return length;
}

Shape row_shape(const Tensor& xs) {
  const Shape shape = xs.shape();
  return Shape(std::span(shape.begin() + 1, shape.end()));
}

// Throws Error unless the function gave back such states as it was given.
void check_states(List before, List after, Location at) {
  const Call call("scan", {}, at);
  call.require(before.size() == after.size(), "the function was given {} states and returned {}",
               before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); i++) {
    const Tensor &b = before[i], &a = after[i];
    call.require(a.defined(), "the function returned a state that is not defined");
    const Call of("scan", {&b, &a}, at);
    of.require(a.shape() == b.shape() && a.dtype() == b.dtype(),
               "state {}, {} of shape {}, becomes {} of shape {} after a step", i,
               name_of(b.dtype()), to_text(b.shape()), name_of(a.dtype()), to_text(a.shape()));
    const bool same_device =
        a.device_index() < 0 || b.device_index() < 0 || a.device_index() == b.device_index();
    of.require(same_device, "state {} moves from {} to {} in a step", i, b.device(), a.device());
  }
}

ScanLists called(ScanFunction f, List state, List row, Location at) {
  ScanLists result;
  {
    const CallbackScope user;
    result = f.call(f.context, state, row);
  }
  check_states(state, result.state, at);
  for (const Tensor& y : result.ys) {
    check(y.defined(), "the function gave out a tensor that is not defined");
  }
  return result;
}

// ---- step by step -----------------------------------------------------------------------------

// As recurrent layers do it: each step ends in memory, so that steps are the same kernels.
ScanLists unrolled(ScanFunction f, List first, List xs, std::int64_t length, bool reverse,
                   Location at) {
  ScanLists now{{first.begin(), first.end()}, {}};
  std::vector<Tensors> ys;  // by y, by row
  for (std::int64_t turn = 0; turn < length; turn++) {
    const std::int64_t r = reverse ? length - 1 - turn : turn;
    Tensors row;
    for (const Tensor& x : xs) row.push_back(x.select(0, r, at).contiguous(at));
    now = called(f, now.state, row, at);
    for (Tensor& s : now.state) s = s.contiguous(at);
    ys.resize(now.ys.size(), Tensors(static_cast<std::size_t>(length)));
    for (std::size_t i = 0; i < ys.size(); i++) {
      ys[i][static_cast<std::size_t>(r)] = now.ys[i].contiguous(at);
    }
  }
  now.ys.clear();
  for (const Tensors& y : ys) now.ys.push_back(stack(y, 0, at));
  return now;
}

// What no steps give out.
ScanLists without_steps(ScanFunction f, List first, List xs, Location at) {
  Tensors row;
  for (const Tensor& x : xs) {
    row.push_back(Tensor::zeros(row_shape(x), {.dtype = x.dtype()}, at));
  }
  const ScanLists one = called(f, first, row, at);
  ScanLists none;
  for (const Tensor& s : first) none.state.push_back(s.contiguous(at));
  for (const Tensor& y : one.ys) {
    Shape shape{0};
    for (std::int64_t size : y.shape()) shape.push_back(size);
    none.ys.push_back(Tensor::zeros(shape, {.dtype = y.dtype()}, at));
  }
  return none;
}

// ---- as a loop --------------------------------------------------------------------------------

// The keys that the steps draw, each as rows: those of the first step have been drawn while it was
// traced.
Tensors key_rows(List first, const Loop& loop) {
  const auto length = static_cast<std::size_t>(loop.length);
  std::vector<std::vector<std::uint64_t>> keys(first.size(), std::vector<std::uint64_t>(length));
  for (std::size_t turn = 0; turn < length; turn++) {
    const std::size_t row = loop.reverse ? length - 1 - turn : turn;
    for (std::size_t k = 0; k < first.size(); k++) {
      keys[k][row] = turn == 0 ? first[k].item<std::uint64_t>() : fresh_random_key();
    }
  }
  Tensors rows;
  for (std::size_t k = 0; k < first.size(); k++) {
    rows.push_back(Tensor::from_data(keys[k], {loop.length, 1},
                                     {.dtype = std::nullopt, .device = first[k].device()}));
  }
  return rows;
}

// Constants are computed wherever they are needed: here, where the loop runs.
void place_constants(Tensors& results, List arguments) {
  const auto placed =
      std::ranges::find_if(arguments, [](const Tensor& t) { return t.device_index() >= 0; });
  if (placed == arguments.end()) return;
  for (Tensor& r : results) {
    if (r.device_index() < 0) r = r.to(placed->device());
  }
}

ScanLists looped(ScanFunction f, List first, List xs, std::int64_t length,
                 const ScanOptions& options, Location at) {
  std::vector<Body::Value> values;
  for (const Tensor& s : first) values.push_back(Body::Value::of(s));
  for (const Tensor& x : xs) values.push_back({row_shape(x), x.dtype(), x.device_index()});
  const auto body = std::make_shared<Body>(values, [&](List arguments) {
    ScanLists step = called(f, arguments.first(first.size()), arguments.subspan(first.size()), at);
    step.state.insert(step.state.end(), step.ys.begin(), step.ys.end());
    place_constants(step.state, arguments);
    return step.state;
  });
  const Tensors keys = body->take_keys(), closed = body->take_closed();
  const Loop loop{.body = body,
                  .states = first.size(),
                  .rows = xs.size() + keys.size(),
                  .length = length,
                  .reverse = options.reverse,
                  .keep_states = options.keep_states};
  Tensors arguments(first.begin(), first.end());
  const auto append = [&](List list) {
    arguments.insert(arguments.end(), list.begin(), list.end());
  };
  append(xs);
  append(key_rows(keys, loop));
  append(closed);
  LoopResult result = run(loop, arguments, at);
  return {std::move(result.states), std::move(result.ys)};
}

}  // namespace

ScanLists scan(ScanFunction function, std::span<const Tensor> state, std::span<const Tensor> xs,
               const ScanOptions& options, Location at) {
  const CallScope scope("scan", at);
  const std::int64_t length = length_of(xs, options, at);
  if (length == 0) return without_steps(function, state, xs, at);
  if (is_capturing() || is_watching()) {
    return unrolled(function, state, xs, length, options.reverse, at);
  }
  return looped(function, state, xs, length, options, at);
}

}  // namespace croze
