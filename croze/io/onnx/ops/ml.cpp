// ml.cpp -- a few operators of classical machine learning (domain ai.onnx.ml), on the host.
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

constexpr std::string_view ml = "ai.onnx.ml";

Results array_features(const NodeCall& call) {
  const Tensor& x = call[0];
  Tensor rows = x.ndim() == 1 ? x.unsqueeze(0) : x;
  return {index_select(rows, -1, from_the_end(call[1].flatten(), x.size(-1)))};
}

Results binarizer(const NodeCall& call) {
  return {(call[0] > call.real("threshold", 0)).cast(call[0].dtype())};
}

// ---- LabelEncoder -----------------------------------------------------------------------------

// A table from keys to values, either of which may be texts or numbers.
struct Labels {
  std::vector<std::string> texts;
  std::vector<double> numbers;
  DType dtype = DType::Void;  // of the numbers; Void: texts

  std::size_t size() const { return dtype == DType::Void ? texts.size() : numbers.size(); }
};

Labels labels_of(const Value& value) {
  if (value.kind() == Value::Kind::Texts) return {value.texts().elements, {}, DType::Void};
  return {{}, value.tensor().to_vector<double>(), value.tensor().dtype()};
}

// From keys_strings, keys_int64s, .. or keys_tensor.
Labels labels_of(const NodeCall& call, const std::string& prefix) {
  if (call.has_attribute(prefix + "_tensor")) return labels_of(call.constant(prefix + "_tensor"));
  Labels labels;
  if (call.has_attribute(prefix + "_int64s")) {
    const Ints numbers = call.integers(prefix + "_int64s");
    labels.numbers.assign(numbers.begin(), numbers.end());
    labels.dtype = DType::Int64;
  } else if (call.has_attribute(prefix + "_floats")) {
    labels.numbers = call.reals(prefix + "_floats");
    labels.dtype = DType::Float32;
  } else {
    for (std::string_view text : call.texts(prefix + "_strings")) labels.texts.emplace_back(text);
  }
  return labels;
}

// Keys as texts: numbers by their digits, so that both kinds are looked up in one way.
std::vector<std::string> keys_of(const Labels& labels) {
  if (labels.dtype == DType::Void) return labels.texts;
  std::vector<std::string> keys;
  for (double number : labels.numbers) {
    keys.push_back(std::isnan(number) ? "nan" : std::to_string(number));
  }
  return keys;
}

Results label_encoder(const NodeCall& call) {
  const Labels values = labels_of(call, "values");
  const std::vector<std::string> keys = keys_of(labels_of(call, "keys"));
  check(keys.size() == values.size(), "{} keys and {} values", keys.size(), values.size());
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < keys.size(); i++) places.emplace(keys[i], i);
  Labels missing;
  if (call.has_attribute("default_tensor")) {
    missing = labels_of(call.constant("default_tensor"));
  } else {
    missing.texts = {std::string(call.text("default_string", "_Unused"))};
    missing.numbers = {values.dtype == DType::Int64
                           ? static_cast<double>(call.integer("default_int64", -1))
                           : call.real("default_float", -0.0)};
  }
  const bool gives_texts = values.dtype == DType::Void;
  check(gives_texts ? !missing.texts.empty() : !missing.numbers.empty(), "no default value");
  const Shape shape = call.value(0).shape();
  TextArray texts{shape, {}};
  std::vector<double> numbers;
  for (const std::string& key : keys_of(labels_of(call.value(0)))) {
    const auto found = places.find(key);
    if (gives_texts) {
      texts.elements.push_back(found == places.end() ? missing.texts[0]
                                                     : values.texts[found->second]);
    } else {
      numbers.push_back(found == places.end() ? missing.numbers[0] : values.numbers[found->second]);
    }
  }
  if (gives_texts) return {std::move(texts)};
  return {Tensor::from_data(numbers, shape).cast(values.dtype)};
}

// ---- TreeEnsemble -----------------------------------------------------------------------------

enum class Test : std::int64_t { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual, Member };

struct Forest {
  Ints roots, features, true_nodes, false_nodes, true_leafs, false_leafs, tests, missing_true;
  Ints leaf_targets;
  std::vector<double> splits, leaf_weights;
  std::vector<std::set<double>> members;  // of nodes that test membership
  std::int64_t targets = 0;
};

// Sets of numbers stand one after the other, each ended by NaN, in the order of the nodes that test
// membership.
std::vector<std::set<double>> members_of(const NodeCall& call, const Ints& tests) {
  std::vector<std::set<double>> result(tests.size());
  if (!call.has_attribute("membership_values")) return result;
  const std::vector<double> values =
      call.constant("membership_values").tensor().to_vector<double>();
  std::size_t next = 0;
  for (std::size_t node = 0; node < tests.size(); node++) {
    if (static_cast<Test>(tests[node]) != Test::Member) continue;
    for (; next < values.size() && !std::isnan(values[next]); next++) {
      result[node].insert(values[next]);
    }
    next++;
  }
  return result;
}

Forest forest_of(const NodeCall& call) {
  Forest f;
  f.roots = call.integers("tree_roots");
  f.features = call.integers("nodes_featureids");
  f.true_nodes = call.integers("nodes_truenodeids");
  f.false_nodes = call.integers("nodes_falsenodeids");
  f.true_leafs = call.integers("nodes_trueleafs");
  f.false_leafs = call.integers("nodes_falseleafs");
  f.missing_true = call.integers("nodes_missing_value_tracks_true");
  f.leaf_targets = call.integers("leaf_targetids");
  f.tests = call.constant("nodes_modes").tensor().to_vector<std::int64_t>();
  f.splits = call.constant("nodes_splits").tensor().to_vector<double>();
  f.leaf_weights = call.constant("leaf_weights").tensor().to_vector<double>();
  f.targets = call.integer("n_targets", 1);
  f.members = members_of(call, f.tests);
  const std::size_t nodes = f.features.size();
  for (const Ints* list :
       {&f.true_nodes, &f.false_nodes, &f.true_leafs, &f.false_leafs, &f.tests}) {
    check(list->size() == nodes, "{} entries for {} nodes", list->size(), nodes);
  }
  check(f.splits.size() == nodes && f.leaf_targets.size() == f.leaf_weights.size(),
        "{} splits for {} nodes, {} targets for {} leafs", f.splits.size(), nodes,
        f.leaf_targets.size(), f.leaf_weights.size());
  return f;
}

bool passes(const Forest& f, std::size_t node, double x) {
  if (std::isnan(x) && node < f.missing_true.size() && f.missing_true[node]) return true;
  const double split = f.splits[node];
  switch (static_cast<Test>(f.tests[node])) {
    case Test::LessEqual: return x <= split;
    case Test::Less: return x < split;
    case Test::GreaterEqual: return x >= split;
    case Test::Greater: return x > split;
    case Test::Equal: return x == split;
    case Test::NotEqual: return x != split;
    case Test::Member: return f.members[node].contains(x);
  }
  fail({}, "node {} has no test {}", node, f.tests[node]);
}

// The leaf that a row of features ends at.
std::size_t leaf_of(const Forest& f, std::int64_t root, std::span<const double> row) {
  std::int64_t node = root;
  for (std::size_t steps = 0; steps <= f.features.size(); steps++) {
    check(node >= 0 && node < static_cast<std::int64_t>(f.features.size()), "there is no node {}",
          node);
    const auto n = static_cast<std::size_t>(node);
    const std::int64_t feature = f.features[n];
    check(feature >= 0 && feature < static_cast<std::int64_t>(row.size()), "there is no feature {}",
          feature);
    const bool yes = passes(f, n, row[static_cast<std::size_t>(feature)]);
    node = yes ? f.true_nodes[n] : f.false_nodes[n];
    if (!(yes ? f.true_leafs[n] : f.false_leafs[n])) continue;
    check(node >= 0 && node < static_cast<std::int64_t>(f.leaf_weights.size()),
          "there is no leaf {}", node);
    return static_cast<std::size_t>(node);
  }
  fail({}, "the nodes of a tree form a circle");
}

// How the leafs of all trees meet: their average, sum, least or greatest.
enum class Meeting : std::int64_t { Average, Sum, Min, Max };

Results tree_ensemble(const NodeCall& call) {
  const Forest f = forest_of(call);
  const Tensor& x = call[0];
  check(x.ndim() == 2 && f.targets > 0 && f.targets < 1 << 20, "an input of shape {}, {} targets",
        to_text(x.shape()), f.targets);
  check(call.integer("post_transform", 0) == 0, "post_transform {} is not supported",
        call.integer("post_transform", 0));
  const auto meeting = static_cast<Meeting>(call.integer("aggregate_function", 1));
  const std::vector<double> values = call.numbers(0);
  const auto width = static_cast<std::size_t>(x.size(1));
  const auto targets = static_cast<std::size_t>(f.targets);
  std::vector<double> result;
  for (std::int64_t r = 0; r < x.size(0); r++) {
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> row(targets, nothing);
    for (std::int64_t root : f.roots) {
      const std::size_t leaf =
          leaf_of(f, root, std::span(values).subspan(static_cast<std::size_t>(r) * width, width));
      const std::int64_t target = f.leaf_targets[leaf];
      check(target >= 0 && target < f.targets, "there is no target {}", target);
      double& met = row[static_cast<std::size_t>(target)];
      const double weight = f.leaf_weights[leaf];
      const bool first = std::isnan(met);
      switch (meeting) {
        case Meeting::Min: met = first ? weight : std::min(met, weight); break;
        case Meeting::Max: met = first ? weight : std::max(met, weight); break;
        default: met = first ? weight : met + weight;
      }
    }
    for (double met : row) {
      const double total = std::isnan(met) ? 0 : met;
      const bool average = meeting == Meeting::Average;
      result.push_back(average ? total / static_cast<double>(f.roots.size()) : total);
    }
  }
  return {Tensor::from_data(result, {x.size(0), f.targets}).cast(x.dtype())};
}

// clang-format off
constexpr Operator table[] = {
  {"ArrayFeatureExtractor", 1, array_features, ml},
  {"Binarizer", 1, binarizer, ml},
  {"LabelEncoder", 2, label_encoder, ml},
  {"TreeEnsemble", 5, tree_ensemble, ml},
};
// clang-format on

}  // namespace

std::span<const Operator> ml_operators() { return table; }

}  // namespace croze::onnx
