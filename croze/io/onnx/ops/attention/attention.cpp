// attention.cpp -- attention over masks, windows and past keys.
#include "croze/io/onnx/ops/attention/attention.h"

#include <cmath>
#include <limits>

namespace croze::onnx {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

// An input as (batch, heads, length, width); of three axes, an attribute says the heads.
Tensor in_heads(const NodeCall& call, int i, std::string_view heads) {
  const Tensor& x = call[i];
  if (x.ndim() == 4) return x;
  check(x.ndim() == 3, "input {} of shape {}: there must be 3 or 4 axes", i, to_text(x.shape()));
  return split_heads(x, call.required_integer(heads));
}

// Keys that a mask says nothing of are not looked at.
Tensor padded_mask(const Tensor& mask, std::int64_t keys) {
  check(mask.ndim() >= 1 && mask.size(-1) <= keys, "a mask of shape {} for {} keys",
        to_text(mask.shape()), keys);
  const Scalar missing = mask.dtype() == DType::Bool ? Scalar(false) : Scalar(never);
  return mask.size(-1) == keys ? mask : pad(mask, {0, keys - mask.size(-1)}, missing);
}

// Where the first query stands among the keys; undefined at their begin.
Tensor offset_of(const NodeCall& call, std::int64_t queries) {
  if (call.has(4)) return Tensor::scalar(call[4].size(2));
  if (!call.has(6)) return {};
  return call[6].cast(DType::Int64).reshape({-1, 1, 1, 1}) - queries;
}

AttentionRule rule_of(const NodeCall& call, const Tensor& q, std::int64_t keys) {
  AttentionRule rule{.scale = 1 / std::sqrt(static_cast<double>(q.size(3)))};
  if (call.has_attribute("scale")) rule.scale = call.real("scale", 1);
  rule.softcap = call.real("softcap", 0);
  const auto precision = static_cast<ElementType>(call.integer("softmax_precision", 0));
  if (precision != ElementType::Undefined) {
    rule.precision = dtype_of(precision);
    check(is_float(rule.precision), "a softmax_precision of {}", name_of(precision));
  }
  rule.visible = visible_through({.causal = call.flag("is_causal"),
                                  .left = call.integer("left_window_size", -1),
                                  .right = call.integer("right_window_size", -1),
                                  .offset = offset_of(call, q.size(2))},
                                 q.size(2), keys);
  if (call.has(6)) {
    const Tensor counts = call[6].cast(DType::Int64).reshape({-1, 1, 1, 1});
    rule.visible = both_visible(rule.visible, Tensor::arange(keys) < counts);
  }
  if (!call.has(3)) return rule;
  const Tensor mask = padded_mask(call[3], keys);
  if (mask.dtype() == DType::Bool) {
    rule.visible = both_visible(rule.visible, mask);
  } else {
    rule.bias = mask;
  }
  return rule;
}

// What qk_matmul_output_mode asks for.
Tensor scores_of_mode(const Attended& a, std::int64_t mode) {
  switch (mode) {
    case 0: return a.scores;
    case 1: return a.capped;
    case 2: return a.biased;
    case 3: return a.weights;
    default: fail({}, "a qk_matmul_output_mode of {}", mode);
  }
}

// Inputs q, k, v, mask, past keys, past values, counts of keys that are no padding.
Results attention(const NodeCall& call) {
  const Tensor q = in_heads(call, 0, "q_num_heads");
  Tensor k = in_heads(call, 1, "kv_num_heads"), v = in_heads(call, 2, "kv_num_heads");
  check(call.has(4) == call.has(5), "past keys and past values come together");
  if (call.has(4)) {
    check(call[4].ndim() == 4, "past keys of shape {}", to_text(call[4].shape()));
    k = cat({call[4], k}, 2);
    v = cat({call[5], v}, 2);
  }
  const Attended a = attend(q, k, v, rule_of(call, q, k.size(2)));
  const Tensor shown = scores_of_mode(a, call.integer("qk_matmul_output_mode", 0));
  return {call[0].ndim() == 3 ? join_heads(a.output) : a.output, k, v, shown.cast(q.dtype())};
}

constexpr Operator table[] = {{"Attention", 23, attention}};

}  // namespace

std::span<const Operator> attention_operators() { return table; }

Tensor split_heads(const Tensor& x, std::int64_t heads) {
  check(x.ndim() == 3 && heads > 0 && x.size(2) % heads == 0, "{} heads in a shape of {}", heads,
        to_text(x.shape()));
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).permute({0, 2, 1, 3});
}

Tensor join_heads(const Tensor& x) {
  return x.permute({0, 2, 1, 3}).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

Tensor both_visible(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return logical_and(a, b);
}

Tensor visible_through(const AttentionWindow& window, std::int64_t queries, std::int64_t keys) {
  if (!window.causal && window.left < 0 && window.right < 0) return {};
  Tensor place = Tensor::arange(queries).reshape({queries, 1});
  if (window.offset.defined()) place = place + window.offset;
  const Tensor before = place - Tensor::arange(keys);
  Tensor visible;
  if (window.causal) visible = before >= 0;
  if (window.left >= 0) visible = both_visible(visible, before <= window.left);
  if (window.right >= 0) visible = both_visible(visible, -before <= window.right);
  return visible;
}

Attended attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule) {
  for (const Tensor* t : {&q, &k, &v}) {
    check(t->ndim() == 4 && is_float(t->dtype()), "{} of shape {} to attend to",
          name_of(t->dtype()), to_text(t->shape()));
  }
  const std::int64_t heads = q.size(1), groups = k.size(1), keys = k.size(2);
  check(groups > 0 && heads % groups == 0 && v.size(1) == groups && v.size(2) == keys &&
            k.size(3) == q.size(3),
        "queries of shape {}, keys of {}, values of {}", to_text(q.shape()), to_text(k.shape()),
        to_text(v.shape()));
  const DType wide = accumulator(q.dtype());
  const auto shared = [&](const Tensor& t) {
    return repeat_interleave(t.cast(wide), heads / groups, 1);
  };
  Attended a;
  a.scores = matmul(q.cast(wide), shared(k).transpose()) * rule.scale;
  a.capped = rule.softcap > 0 ? tanh(a.scores / rule.softcap) * rule.softcap : a.scores;
  a.biased = rule.bias.defined() ? a.capped + rule.bias.cast(wide) : a.capped;
  if (rule.visible.defined()) a.biased = where(rule.visible, a.biased, never);
  const bool is_masked = rule.bias.defined() || rule.visible.defined();
  Tensor logits = rule.precision == DType::Void ? a.biased : a.biased.cast(rule.precision);
  if (rule.sink.defined()) {
    const Tensor sink = rule.sink.cast(logits.dtype()).reshape({1, -1, 1, 1});
    logits = cat({logits, sink.expand({q.size(0), heads, q.size(2), 1})}, -1);
  }
  a.weights = softmax(logits, -1).narrow(-1, 0, keys);
  if (is_masked && keys > 0) a.weights = where(max(a.biased, -1, true) == never, 0, a.weights);
  a.output = matmul(a.weights.cast(wide), shared(v)).cast(q.dtype());
  return a;
}

}  // namespace croze::onnx
