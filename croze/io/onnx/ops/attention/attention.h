// attention.h -- what the operators of attention share.
#pragma once

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {

// (batch, length, heads * width) as (batch, heads, length, width), and back.  Throws Error if the
// last axis is no multiple of `heads`.
Tensor split_heads(const Tensor& x, std::int64_t heads);
Tensor join_heads(const Tensor& x);

struct AttentionRule {
  double scale = 1;               // of the scores
  double softcap = 0;             // scores go through softcap * tanh(x / softcap); 0: they do not
  Tensor bias = {};               // added to the scores, broadcast to (batch, heads, queries, keys)
  Tensor visible = {};            // Bool, broadcast alike: what a query may look at
  Tensor sink = {};               // (heads): the score of a key without a value, for each head
  DType precision = DType::Void;  // of the softmax; Void: that of the scores
};

// The steps on the way, each (batch, heads, queries, keys) but the last.
struct Attended {
  Tensor scores, capped, biased, weights;
  Tensor output;  // (batch, heads, queries, width of a value), of the dtype of the queries
};

// Queries (batch, heads, queries, width) look at keys (batch, groups, keys, width) and get values
// (batch, groups, keys, any width); a group serves heads / groups heads in a row.  Half types
// compute in Float32.  A query that may look at nothing gets zeros.  Throws Error if heads is no
// multiple of groups.
Attended attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule);

struct AttentionWindow {
  bool causal = false;      // no later positions than that of the query
  std::int64_t left = -1;   // so many positions before it; negative: all
  std::int64_t right = -1;  // and after it
  // The position of the first query: a scalar or (batch, 1, 1, 1); 0 if undefined.
  Tensor offset = {};
};

// What is visible through the window: Bool, (.., queries, keys); undefined if all is.
Tensor visible_through(const AttentionWindow& window, std::int64_t queries, std::int64_t keys);

// Both, of which either may be undefined.
Tensor both_visible(const Tensor& a, const Tensor& b);

}  // namespace croze::onnx
