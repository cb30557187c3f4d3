// contrib.cpp -- com.microsoft: attention of exported transformers, with their caches.
#include <cmath>

#include "croze/io/onnx/ops/attention/attention.h"
#include "croze/io/onnx/ops/attention/cache.h"
#include "croze/io/onnx/ops/attention/rotary.h"

namespace croze::onnx {
namespace {

constexpr std::string_view microsoft = "com.microsoft";

double scale_of(const NodeCall& call, std::int64_t width) {
  const double given = call.real("scale", 0);
  return given == 0 ? 1 / std::sqrt(static_cast<double>(width)) : given;
}

struct Heads {
  Tensor q, k, v;  // (batch, heads, length, width)
};

// ---- grouped queries --------------------------------------------------------------------------

// Keys and values have inputs of their own, or follow the queries.
Heads grouped_heads(const NodeCall& call) {
  const std::int64_t heads = call.required_integer("num_heads");
  const std::int64_t groups = call.required_integer("kv_num_heads");
  check(heads > 0 && groups > 0 && heads % groups == 0, "{} heads in {} groups", heads, groups);
  if (call.has(1)) {
    return {split_heads(call[0], heads), split_heads(call[1], groups),
            split_heads(call[2], groups)};
  }
  const Tensor all = split_heads(call[0], heads + 2 * groups);
  return {all.narrow(1, 0, heads), all.narrow(1, heads, groups),
          all.narrow(1, heads + groups, groups)};
}

// A cache with room for all keys, the new ones written behind those of each sample.
Tensor extended(const NodeCall& call, int past, const Tensor& fresh, std::int64_t total,
                const Tensor& begin) {
  if (!call.has(past) || call[past].numel() == 0) {
    check(total == fresh.size(2), "{} keys in all, but only {} are there", total, fresh.size(2));
    return fresh;
  }
  Tensor cache = call[past];
  check(cache.ndim() == 4, "a cache of shape {}", to_text(cache.shape()));
  const std::int64_t missing = total - cache.size(2);
  check(missing <= fresh.size(2), "{} keys in all, but only {} are there", total,
        cache.size(2) + fresh.size(2));
  if (missing > 0) cache = pad(cache, {0, 0, 0, missing});
  return with_rows(cache, fresh, 2, begin);
}

void check_grouped(const NodeCall& call) {
  for (std::string_view name : {"k_quant_type", "v_quant_type"}) {
    check(call.text(name, "NONE") == "NONE", "croze has no quantised caches of keys and values");
  }
  check(call.integer("qk_output", 0) == 0, "croze does not give the scores of this operator");
  check(call.integer(6) > 0, "{} keys in all", call.integer(6));
}

// Inputs: q, k, v, past keys, past values, the last position of each sample, keys in all, cosines,
// sines, positions, bias, sinks.
Results group_query_attention(const NodeCall& call) {
  check_grouped(call);
  Heads h = grouped_heads(call);
  const std::int64_t batch = h.q.size(0), length = h.q.size(2), total = call.integer(6);
  check(call[5].numel() == batch, "{} lengths for a batch of {}", call[5].numel(), batch);
  // The first of the new positions: 0 where there is no past, though samples may be padded.
  const Tensor begin = total == length ? Tensor::zeros({batch}, DType::Int64)
                                       : call[5].cast(DType::Int64).flatten() + (1 - length);
  if (call.flag("do_rotary")) {
    const Tensor places = call.has(9) ? call[9] : begin.unsqueeze(1) + Tensor::arange(length);
    const bool interleaved = call.flag("rotary_interleaved");
    const Tensor cosines = rows_at(call[7], places), sines = rows_at(call[8], places);
    h.q = rotated(h.q, cosines, sines, interleaved);
    h.k = rotated(h.k, cosines, sines, interleaved);
  }
  const Tensor keys = extended(call, 3, h.k, total, begin);
  const Tensor values = extended(call, 4, h.v, total, begin);
  AttentionRule rule{.scale = scale_of(call, h.q.size(3)), .softcap = call.real("softcap", 0)};
  // The window counts the query itself.
  const std::int64_t window = call.integer("local_window_size", -1);
  rule.visible = visible_through({.causal = true,
                                  .left = window > 0 ? window - 1 : -1,
                                  .offset = begin.reshape({batch, 1, 1, 1})},
                                 length, total);
  if (call.has(10)) rule.bias = call[10];
  if (call.has(11)) rule.sink = call[11];
  if (call.flag("smooth_softmax")) rule.sink = Tensor::zeros({h.q.size(1)}, DType::Float32);
  const Attended a = attend(h.q, keys.narrow(2, 0, total), values.narrow(2, 0, total), rule);
  return {join_heads(a.output), keys, values};
}

// ---- many heads -------------------------------------------------------------------------------

// Inputs: q (queries, keys and values, if of 5 axes), k (and values, if of 5), v, bias.  Of 4 axes
// keys and values are split into heads already.
Heads many_heads(const NodeCall& call, std::int64_t heads) {
  const auto part = [](const Tensor& packed, std::int64_t i) {
    return select(packed, 3, i).permute({0, 2, 1, 3});
  };
  const auto biased = [&](const Tensor& x, std::int64_t begin) {
    return call.has(3) ? x + call[3].narrow(0, begin, x.size(-1)) : x;
  };
  check(!call.has(3) || call[3].ndim() == 1, "a bias that is no vector");
  if (call[0].ndim() == 5) {
    check(!call.has(3) && call[0].size(3) == 3, "packed queries of shape {} or with a bias",
          to_text(call[0].shape()));
    return {part(call[0], 0), part(call[0], 1), part(call[0], 2)};
  }
  const std::int64_t width = call[0].size(-1);
  Heads h{.q = split_heads(biased(call[0], 0), heads)};
  if (call[1].ndim() == 5) {
    check(!call.has(3) && call[1].size(3) == 2, "packed keys of shape {} or with a bias",
          to_text(call[1].shape()));
    h.k = part(call[1], 0);
    h.v = part(call[1], 1);
    return h;
  }
  const bool split = call[1].ndim() == 4;
  h.k = split ? call[1] : split_heads(biased(call[1], width), heads);
  h.v = call[2].ndim() == 4 ? call[2] : split_heads(biased(call[2], 2 * width), heads);
  return h;
}

// A mask of keys: 0 hides one.  (batch) counts, (batch, keys), or (batch, queries, keys).
Tensor keys_shown(const Tensor& mask, std::int64_t batch, std::int64_t keys) {
  if (mask.ndim() == 1) {
    check(mask.numel() == batch,
          "croze has no masks of begins and ends: one of {} for a batch of {}", mask.numel(),
          batch);
    return Tensor::arange(keys) < mask.cast(DType::Int64).reshape({batch, 1, 1, 1});
  }
  check(mask.ndim() == 2 || mask.ndim() == 3, "a mask of shape {}", to_text(mask.shape()));
  const Tensor shown = mask != 0;
  return mask.ndim() == 3 ? shown.unsqueeze(1) : shown.unsqueeze(1).unsqueeze(1);
}

// What a mask hides gets a great negative bias, and is seen where all is hidden.
AttentionRule many_heads_rule(const NodeCall& call, const Heads& h, int mask, int bias) {
  const std::int64_t queries = h.q.size(2), keys = h.k.size(2);
  AttentionRule rule{.scale = scale_of(call, h.q.size(3))};
  if (call.flag("unidirectional")) {
    rule.visible =
        visible_through({.causal = true, .offset = Tensor::scalar(keys - queries)}, queries, keys);
  }
  if (call.has(mask)) {
    const double hidden = call.real("mask_filter_value", -10000);
    rule.bias = where(keys_shown(call[mask], h.q.size(0), keys), 0.0, hidden).cast(DType::Float32);
  }
  if (call.has(bias)) {
    const Tensor added = call[bias].cast(DType::Float32);
    rule.bias = rule.bias.defined() ? rule.bias + added : added;
  }
  return rule;
}

// Inputs: q, k, v, bias, mask of keys, bias of scores, past keys, past values.
Results multi_head_attention(const NodeCall& call) {
  check(!call.has(8) && !call.has(9), "croze has no caches of beams in this operator");
  Heads h = many_heads(call, call.required_integer("num_heads"));
  if (call.has(6)) {
    check(call.has(7) && call[6].ndim() == 4, "past keys of shape {}", to_text(call[6].shape()));
    h.k = cat({call[6], h.k}, 2);
    h.v = cat({call[7], h.v}, 2);
  }
  const Attended a = attend(h.q, h.k, h.v, many_heads_rule(call, h, 4, 5));
  return {join_heads(a.output), h.k, h.v, a.scores.cast(h.q.dtype())};
}

// Inputs: x, weights and bias of all three projections, mask, past of keys and values, bias.
Results projected_attention(const NodeCall& call) {
  const std::int64_t heads = call.required_integer("num_heads");
  check(!call.flag("do_rotary"), "croze does not rotate in this operator");
  check(!call.has(6), "croze has no shared caches in this operator");
  const Tensor all = call.has(2) ? matmul(call[0], call[1]) + call[2] : matmul(call[0], call[1]);
  check(all.ndim() == 3, "an input of shape {}", to_text(call[0].shape()));
  Ints sizes = call.integers("qkv_hidden_sizes");
  if (sizes.empty()) sizes = Ints(3, all.size(2) / 3);
  check(sizes.size() == 3, "{} widths of queries, keys and values", sizes.size());
  const std::vector<Tensor> parts = split(all, Shape(sizes), 2);
  Heads h{split_heads(parts[0], heads), split_heads(parts[1], heads), split_heads(parts[2], heads)};
  if (call.has(4)) {
    check(call[4].ndim() == 5, "a past of shape {}", to_text(call[4].shape()));
    h.k = cat({select(call[4], 0, 0), h.k}, 2);
    h.v = cat({select(call[4], 0, 1), h.v}, 2);
  }
  const Attended a = attend(h.q, h.k, h.v, many_heads_rule(call, h, 3, 5));
  Results results{join_heads(a.output)};
  if (call.wants(1)) results.emplace_back(stack({h.k, h.v}, 0));
  return results;
}

// clang-format off
constexpr Operator table[] = {
  {"Attention", 1, projected_attention, microsoft},
  {"GroupQueryAttention", 1, group_query_attention, microsoft},
  {"MultiHeadAttention", 1, multi_head_attention, microsoft},
};
// clang-format on

}  // namespace

std::span<const Operator> contrib_attention_operators() { return table; }

}  // namespace croze::onnx
