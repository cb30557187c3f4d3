// open_graph.cpp -- the graph that several recordings are an instance of.
//
// What the recordings have at one place is a series of numbers.  A series that is constant is a
// number of the open graph.  Another one is explained by what stands below it: it is a size of a
// source, such a size times, over, or beside a number, or what a reshape leaves for it.  The sizes
// that the program declares are where explanations end.
#include "croze/schedule/sizes/open_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/text/print.h"
#include "croze/schedule/numbers.h"
#include "croze/schedule/ranges.h"

namespace croze {
namespace {

// Numbers of each launch beyond that are not passed: devices have room for so many parameters.
constexpr std::size_t most_passed = 32;

// What the greatest sizes may come to: sums of bytes stay far from 64 bits.
constexpr double most_elements = 0x1p54;

// The words of numbers, two for each, stand behind the sizes among the variables.
int first_number(std::size_t sizes) { return static_cast<int>(sizes + 1) / 2; }

// What the recordings have at one place, in their order.
using Series = std::vector<std::int64_t>;

bool is_constant(const Series& s) {
  return std::ranges::all_of(s, [&](std::int64_t v) { return v == s.front(); });
}

// The integer that a float is, given as the bits of a double; null if it is none, or large.
std::optional<std::int64_t> count_of(std::int64_t bits) {
  constexpr double most = 1 << 24;  // a Float32 holds all integers up to it
  const double value = std::bit_cast<double>(bits);
  if (!(value >= 1 && value <= most)) return std::nullopt;
  const auto count = static_cast<std::int64_t>(value);
  return static_cast<double>(count) == value ? std::optional(count) : std::nullopt;
}

class Opener {
 public:
  Opener(std::span<const SizedRecording> recordings, std::span<const OpenBounds> bounds)
      : recordings_(recordings), last_(recordings.back()) {
    open_.graph.graph = std::make_unique<Graph>();
    open_.graph.inputs = last_.graph->inputs;
    open_.graph.buffers.resize(last_.graph->buffers.size());
    open_.structure = last_.form.structure;
    open_.bounds.assign(bounds.begin(), bounds.end());
    copies_.resize(last_.graph->graph->id_limit());
    places_.resize(last_.graph->graph->id_limit());
    for (UOp u : last_.form.buffers) open_.inputs.push_back(static_cast<int>(u.buffer_id()));
  }

  // Whether the reason why there is none is that the least sizes are too small.
  bool falls_below_zero() const { return falls_below_zero_; }

  Opening run() {
    if (!declare()) return {{}, "no declared size differs"};
    place_sizes();
    if (const UOp left = copy_all()) {
      return {{}, fmt::format("{}: {}", to_string(left), why_not_)};
    }
    if (passed_.size() > most_passed) return {{}, "too many numbers differ"};
    for (UOp root : last_.graph->roots) open_.graph.roots.push_back(copies_[root.id()]);
    return {std::move(open_), {}};
  }

 private:
  Graph& graph() { return *open_.graph.graph; }

  // A Variable for each declared size: how often its multiple.
  bool declare() {
    for (std::size_t i = 0; i < open_.bounds.size(); i++) {
      const OpenBounds& b = open_.bounds[i];
      const UOp v = graph().variable(static_cast<std::int64_t>(i),
                                     (b.least + b.multiple - 1) / b.multiple, b.most / b.multiple);
      open_.graph.variables.push_back(v);
      Series series;
      for (const SizedRecording& r : recordings_) series.push_back(r.declared[i]);
      if (is_constant(series)) continue;  // nothing tells it from a number
      known_.emplace(series, Extent(v * b.multiple));
      declared_.emplace_back(std::move(series), Extent(v * b.multiple));
    }
    return !declared_.empty();
  }

  // Where the sizes and constants of each node stand in the form.
  void place_sizes() {
    std::size_t size = 0, constant = 0;
    for (UOp u : last_.form.order) {
      places_[u.id()] = u.is_const() ? constant++ : size;
      if (u.is(Op::Reshape) && u.src(0).is(Op::Buffer)) shape_of_.emplace(u.src(0).node(), u);
      size += sizes_in(u);
    }
    open_.sizes.resize(size);
    open_.constants.resize(constant);
  }

  // What one node is expanded to may follow from the shape of another that is not its source.  So
  // those that cannot be explained wait until others are.  Only where that ends, a size is taken
  // for one that is related to it.  Null if all are explained in the end.
  UOp copy_all() {
    std::vector<UOp> waiting(last_.form.order);
    while (!waiting.empty()) {
      const std::size_t before = waiting.size();
      std::erase_if(waiting, [&](UOp u) { return copy(u); });
      if (waiting.size() < before) continue;
      guesses_ = true;
      const auto guessed = std::ranges::find_if(waiting, [&](UOp u) { return copy(u); });
      guesses_ = false;
      if (guessed == waiting.end()) return waiting.front();
      waiting.erase(guessed);
    }
    return UOp();
  }

  static std::size_t sizes_in(UOp u) {
    if (u.is(Op::Iota) || u.is(Op::Buffer)) return 1;
    std::size_t count = 0;
    for (std::int64_t i = 0; i < std::ssize(u.arg().as_ints()); i++) count += is_size(u, i);
    return count;
  }

  // ---- explanations ----

  Series series_of_size(std::size_t i) const {
    Series series;
    for (const SizedRecording& r : recordings_) series.push_back(r.form.sizes[i]);
    return series;
  }

  std::optional<Extent> explained(const Series& series) {
    if (is_constant(series)) return Extent(series.front());
    if (const auto known = known_.find(series); known != known_.end()) return known->second;
    if (!guesses_) return std::nullopt;
    for (const auto* sizes : {&declared_, &derived_}) {
      for (const auto& [of, dim] : *sizes) {
        if (auto related = related_to(series, of, dim)) return related;
      }
    }
    why_not_ =
        fmt::format("it does not follow from the sizes why there is {}", fmt::join(series, ", "));
    return std::nullopt;
  }

  // A number times or over the size, or added to it.
  static std::optional<Extent> related_to(const Series& series, const Series& of, Extent dim) {
    const std::int64_t times = of[0] ? series[0] / of[0] : 0;
    const std::int64_t over = series[0] ? of[0] / series[0] : 0;
    const std::int64_t beside = series[0] - of[0];
    bool is_multiple = times > 0, is_part = over > 0, is_beside = true;
    for (std::size_t i = 0; i < of.size(); i++) {
      is_multiple = is_multiple && series[i] == of[i] * times;
      is_part = is_part && series[i] == of[i] / over;
      is_beside = is_beside && series[i] - of[i] == beside;
    }
    if (is_multiple) return dim * times;
    if (is_beside) return dim + beside;
    if (is_part) return dim / over;
    return std::nullopt;
  }

  // The sizes of a Reshape of `elements`: all but one by themselves, and that one by the others.
  bool explain_shape(UOp u, std::optional<Extent> elements, Extents& shape) {
    std::optional<std::int64_t> left;
    Extents below = elements ? extents_of(src_[0]) : Extents{};
    for (std::int64_t i = 0; i < u.rank(); i++) {
      const Series series = series_of_axis(u, i);
      std::optional<Extent> dim = taken_from(below, series);
      if (!dim) dim = explained(series);
      shape.push_back(dim.value_or(Extent(1)));
      if (dim) continue;
      if (left || !elements) return false;
      left = i;
    }
    if (left) shape[*left] = *elements / product_of(shape);
    return !elements || holds_elements(u, *elements, shape);
  }

  // A size of the source that was as large in all recordings, each for one axis: nearer than others
  // that happened to be as large.
  std::optional<Extent> taken_from(Extents& below, const Series& series) const {
    for (Extent& extent : below) {
      if (!extent.is_open() || values_of(extent) != series) continue;
      return std::exchange(extent, Extent(1));
    }
    return std::nullopt;
  }

  Series values_of(Extent extent) const {
    const LaunchSize size = launch_size(extent);
    Series series;
    for (const SizedRecording& r : recordings_) series.push_back(size.value(variables(r)));
    return series;
  }

  Series series_of_axis(UOp u, std::int64_t axis) const {
    return series_of_size(places_[u.id()] + static_cast<std::size_t>(axis));
  }

  static Extent product_of(const Extents& shape) {
    Extent product = 1;
    for (Extent d : shape) product = product * d;
    return product;
  }

  // A reshape must be one whatever the sizes are.  If it is not, one of them may be another that
  // was as large in all recordings: the one that the others leave.
  bool holds_elements(UOp u, Extent elements, Extents& shape) {
    if (product_of(shape) == elements) return true;
    for (std::int64_t i = 0; i < u.rank(); i++) {
      Extents other = shape;
      other[i] = 1;
      other[i] = elements / product_of(other);
      if (product_of(other) != elements || !agrees(launch_size(other[i]), series_of_axis(u, i))) {
        continue;
      }
      shape = other;
      return true;
    }
    why_not_ = fmt::format("it has {} elements of {}", launch_size(product_of(shape)).text(),
                           launch_size(elements).text());
    return false;
  }

  // ---- copies ----

  bool copy(UOp u) {
    src_.clear();
    for (UOp s : u.sources()) {
      src_.push_back(copies_[s.id()]);
      if (!src_.back()) return false;
    }
    UOp& result = copies_[u.id()];
    const std::size_t place = places_[u.id()];
    if (u.is_const()) {
      result = constant(u, place);
    } else if (u.is(Op::Buffer)) {
      result = buffer(u, place);
    } else if (u.is(Op::Iota)) {
      if (const auto size = size_at(place)) result = graph().iota(*size);
    } else if (is_movement(u.op())) {
      result = movement(u, place);
    } else if (sources_fit(u)) {
      result = graph().make(u.op(), u.dtype(), src_, u.arg());
    }
    if (result && !derive(u, result)) result = UOp();
    return static_cast<bool>(result);
  }

  // Sources of one shape must be that whatever the sizes are.
  bool sources_fit(UOp u) {
    const bool has_base = u.is(Op::Gather) || u.is(Op::Scatter);
    if (!is_elementwise(u.op()) && !has_base && !u.is(Op::Store)) return true;
    std::optional<Extents> shape;
    for (std::size_t i = has_base ? 1 : 0; i < src_.size(); i++) {
      if (src_[i].rank() == 0) continue;
      const Extents now = extents_of(src_[i]);
      if (!shape) shape = now;
      if (std::ranges::equal(*shape, now)) continue;
      why_not_ = "its sources are of one shape for some sizes only";
      return false;
    }
    return true;
  }

  // An axis of an Expand that is not repeated has the size that it has below, whatever that is.
  bool is_kept(UOp u, std::int64_t axis) const {
    return u.is(Op::Expand) && !src_[0].extent(axis).is_number(1);
  }

  std::optional<Extent> kept_size(std::size_t i, Extent size) {
    return keep_size(i, size) ? std::optional(size) : std::nullopt;
  }

  std::optional<Extent> size_at(std::size_t i) {
    const std::optional<Extent> dim = explained(series_of_size(i));
    return dim ? kept_size(i, *dim) : std::nullopt;
  }

  // Notes what a size of the form is, if it is that in all recordings.
  bool keep_size(std::size_t i, Extent dim) {
    open_.sizes[i] = launch_size(dim);
    return agrees(open_.sizes[i], series_of_size(i));
  }

  static LaunchSize launch_size(Extent dim) {
    return dim.is_open() ? LaunchSize::of(dim.expression()) : LaunchSize(dim.number());
  }

  bool agrees(const LaunchSize& size, const Series& series) {
    for (std::size_t r = 0; r < recordings_.size(); r++) {
      if (size.value(variables(recordings_[r])) == series[r]) continue;
      why_not_ = fmt::format("{} is not {}", size.text(), series[r]);
      return false;
    }
    return true;
  }

  std::vector<std::int64_t> variables(const SizedRecording& r) const {
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < open_.bounds.size(); i++) {
      result.push_back(r.declared[i] / open_.bounds[i].multiple);
    }
    return result;
  }

  // Of a Buffer that is seen in a shape, the sizes in it say what its elements are made of.
  UOp buffer(UOp u, std::size_t place) {
    std::optional<Extent> elements;
    if (const auto shape_of = shape_of_.find(u.node()); shape_of != shape_of_.end()) {
      Extents shape;
      if (!explain_shape(shape_of->second, std::nullopt, shape)) return {};
      elements = product_of(shape);
    } else {
      elements = explained(series_of_size(place));
    }
    if (!elements || !keep_size(place, *elements)) return {};
    const UOp result = graph().buffer(u.dtype(), u.buffer_id(), *elements, u.buffer_device());
    return open_.graph.buffers[static_cast<std::size_t>(u.buffer_id())] = result;
  }

  UOp movement(UOp u, std::size_t place) {
    Extents arg;
    if (u.is(Op::Reshape)) {
      if (!explain_shape(u, src_[0].element_count(), arg)) return {};
      for (Extent d : arg) {
        if (!keep_size(place++, d)) return {};
      }
    } else {
      for (std::int64_t i = 0; i < std::ssize(u.arg().as_ints()); i++) {
        std::optional<Extent> d = Extent(u.arg().ints[i]);
        if (is_size(u, i)) d = is_kept(u, i) ? kept_size(place, src_[0].extent(i)) : size_at(place);
        if (!d) return {};
        arg.push_back(*d);
        place += is_size(u, i);
      }
    }
    return graph().movement(u.op(), src_[0], std::span<const Extent>(arg.data(), arg.size()));
  }

  // What follows for the shape must be what the recordings have.
  bool derive(UOp u, UOp copied) {
    double elements = 1;
    for (Extent size : extents_of(copied)) elements *= static_cast<double>(size.most());
    if (elements > most_elements) {
      why_not_ = fmt::format("it has up to {:.0e} elements", elements);
      return false;
    }
    for (int axis = 0; axis < copied.rank(); axis++) {
      const Extent dim = copied.extent(axis);
      if (!dim.is_open()) {
        if (dim.number() != u.extent(axis).number()) return false;
        continue;
      }
      if (dim.least() < 0) {
        why_not_ = fmt::format("axis {} has less than no elements for the least sizes", axis);
        falls_below_zero_ = true;
        return false;
      }
      Series series = values_of(dim);
      if (series.back() != u.extent(axis).number()) return false;
      if (known_.emplace(series, dim).second) derived_.emplace_back(std::move(series), dim);
    }
    return true;
  }

  // ---- constants ----

  UOp constant(UOp u, std::size_t i) {
    OpenGraph::Constant& kept = open_.constants[i];
    kept.constant = last_.form.constants[i];
    std::vector<std::int64_t> bits;
    for (const SizedRecording& r : recordings_) bits.push_back(r.form.constants[i].bits);
    if (is_constant(bits)) return graph().constant_bits(u.dtype(), kept.constant.bits);
    const std::optional<Series> counts = integers(u.dtype(), bits);
    if (const std::optional<Extent> size = counts ? explained(*counts) : std::nullopt) {
      kept.size = launch_size(*size);
      return cast(size->in(graph()), u.dtype());
    }
    if (u.dtype() == DType::Index || u.dtype() == DType::Bool) return {};
    const auto next = static_cast<int>(passed_.size());
    kept.passed = passed_.emplace(std::pair(u.dtype(), bits), next).first->second;
    return graph().number(u.dtype(), first_number(open_.bounds.size()) + kept.passed);
  }

  // Integers, and floats that are counts which a sum may be divided by.
  static std::optional<Series> integers(DType dtype, const std::vector<std::int64_t>& bits) {
    if (is_integral(dtype)) return bits;
    if (dtype != DType::Float32 && dtype != DType::Float64) return std::nullopt;
    Series series;
    for (std::int64_t b : bits) {
      const auto count = count_of(b);
      if (!count) return std::nullopt;
      series.push_back(*count);
    }
    return series;
  }

  std::span<const SizedRecording> recordings_;
  const SizedRecording& last_;
  OpenGraph open_;
  std::vector<UOp> copies_;  // by node id
  std::vector<UOp> src_;
  std::vector<std::size_t> places_;  // by node id: of the first size, or the constant
  std::string why_not_;
  bool falls_below_zero_ = false;
  bool guesses_ = false;
  std::map<Series, Extent> known_;
  std::vector<std::pair<Series, Extent>> declared_, derived_;
  std::map<const Node*, UOp> shape_of_;  // of a Buffer: the first Reshape
  std::map<std::pair<DType, std::vector<std::int64_t>>, int> passed_;
};

// Whether the constant of a recording is what the open graph has there.
bool is_same(const OpenGraph::Constant& open, const SizedForm::Constant& now,
             std::span<const std::int64_t> variables) {
  if (open.constant.dtype != now.dtype) return false;
  if (open.passed >= 0) return true;
  if (!open.size) return open.constant == now;
  const std::int64_t size = open.size->value(variables);
  return is_integral(now.dtype) ? size == now.bits : size == count_of(now.bits);
}

}  // namespace

std::optional<OpenGraph::Instance> OpenGraph::instance(const SizedRecording& recording) const {
  const SizedForm& form = recording.form;
  if (form.structure != structure) return std::nullopt;
  Instance result;
  std::vector<std::int64_t>& variables = result.variables;
  for (std::size_t i = 0; i < bounds.size(); i++) {
    const std::int64_t size = recording.declared[i];
    if (size < bounds[i].least || size > bounds[i].most) return std::nullopt;
    variables.push_back(size / bounds[i].multiple);
  }
  for (std::size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i].value(variables) != form.sizes[i]) return std::nullopt;
  }
  std::vector<FormNumber> passed;
  for (std::size_t i = 0; i < constants.size(); i++) {
    if (!is_same(constants[i], form.constants[i], variables)) return std::nullopt;
    if (constants[i].passed < 0) continue;
    const auto place = static_cast<std::size_t>(constants[i].passed);
    const FormNumber number{form.constants[i].dtype, form.constants[i].bits};
    if (place == passed.size()) passed.push_back(number);
    if (passed[place] != number) return std::nullopt;
  }
  if (!passed.empty()) variables.resize(2 * static_cast<std::size_t>(first_number(bounds.size())));
  for (const FormNumber& number : passed) append_words(number, variables);
  result.inputs.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); i++) {
    result.inputs[static_cast<std::size_t>(inputs[i])] =
        static_cast<int>(form.buffers[i].buffer_id());
  }
  return result;
}

Opening open_graph_of(std::span<const SizedRecording> recordings,
                      std::span<const OpenBounds> bounds) {
  Opener opener(recordings, bounds);
  Opening opening = opener.run();
  if (opening.graph || !opener.falls_below_zero()) return opening;
  // A window of three elements has no place in one: then the least sizes are those that were seen.
  std::vector<OpenBounds> seen(bounds.begin(), bounds.end());
  for (std::size_t i = 0; i < seen.size(); i++) {
    const auto size = [i](const SizedRecording& r) { return r.declared[i]; };
    seen[i].least = size(*std::ranges::min_element(recordings, {}, size));
  }
  return Opener(recordings, seen).run();
}

}  // namespace croze
