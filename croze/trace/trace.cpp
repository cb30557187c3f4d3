// trace.cpp -- the reader of traces.
#include "croze/trace/trace.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "croze/base/error.h"
#include "croze/trace/decoder.h"

namespace croze::traces {
namespace {

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view name)
      : file_(bytes, name), name_(name) {}

  Trace read() {
    check(file_.remaining() >= std::ssize(magic) + 4 && file_.text(std::ssize(magic)) == magic,
          "{} is no trace of croze", name_);
    const auto written = file_.read<std::uint32_t>();
    check(written == version, "{} is a trace of version {}, and this croze reads version {}", name_,
          written, version);
    while (read_chunk()) continue;
    return std::move(trace_);
  }

 private:
  bool read_chunk() {
    if (file_.at_end()) return false;
    trace_.is_cut = file_.remaining() < 4;
    if (trace_.is_cut) return false;
    const std::int64_t bytes = file_.read<std::uint32_t>();
    check(bytes <= max_chunk_bytes, "{}: a chunk of {} bytes", name_, bytes);
    trace_.is_cut = file_.remaining() < bytes;
    if (trace_.is_cut) return false;
    Decoder chunk(file_.bytes(bytes), name_);
    while (!chunk.at_end()) read_record(chunk);
    return true;
  }

  // What later versions of croze add is skipped.
  void read_record(Decoder& d) {
    d.set_texts(trace_.texts.size());
    const std::uint8_t kind = d.next();
    switch (static_cast<Kind>(kind)) {
      case Kind::Text: trace_.texts.push_back(d.text()); break;
      case Kind::Fact: add(d, trace_.facts); break;
      case Kind::Row: add(d, trace_.rows); break;
      case Kind::Scope: add(d, trace_.scopes); break;
      case Kind::Rule: add(d, trace_.rules); break;
      case Kind::Node: add(d, trace_.nodes); break;
      case Kind::Pass: add(d, trace_.passes); break;
      case Kind::PassResult: add(d, trace_.pass_results); break;
      case Kind::Match: add(d, trace_.matches); break;
      case Kind::Kernel: add(d, trace_.kernels); break;
      case Kind::Schedule:
        add(d, trace_.schedules);
        trace_.origins.emplace_back();
        trace_.model_nodes.emplace_back();
        trace_.graphs.emplace_back();
        break;
      case Kind::Run: add(d, trace_.runs); break;
      case Kind::Launch: add(d, trace_.launches); break;
      case Kind::Allocation: add_allocation(d); break;
      case Kind::Release: add_release(d); break;
      case Kind::TensorName: add_name(d); break;
      case Kind::Origins: add_origins(d); break;
      case Kind::TensorGraph: add_graph(d); break;
      case Kind::Samples: add(d, trace_.samples); break;
      case Kind::ModelNodes: add_model_nodes(d); break;
      case Kind::Lost: {
        Lost lost;
        lost.code(d);
        trace_.lost = lost.records;
        break;
      }
    }
  }

  template <typename Record>
  void add(Decoder& d, std::vector<Record>& records) {
    Record record;
    record.code(d);
    check_names(record);
    records.push_back(std::move(record));
  }

  void add_allocation(Decoder& d) {
    add(d, trace_.allocations);
    trace_.ends.push_back(INT64_MAX);
    trace_.names.push_back(0);
    alive_[trace_.allocations.back().memory] = trace_.ends.size() - 1;
  }
  // What was allocated before the trace began is released without ado.
  void add_release(Decoder& d) {
    Release release;
    release.code(d);
    const auto found = alive_.find(release.memory);
    if (found == alive_.end()) return;
    trace_.ends[found->second] = release.time;
    alive_.erase(found);
  }

  void add_name(Decoder& d) {
    TensorName name;
    name.code(d);
    const auto found = alive_.find(name.memory);
    if (found != alive_.end()) trace_.names[found->second] = name.name;
  }
  void add_origins(Decoder& d) {
    Origins origins;
    origins.code(d);
    within(origins.schedule, trace_.schedules, "schedule");
    const Schedule& schedule = trace_.schedules[origins.schedule];
    check(origins.launches.size() == schedule.launches.size() &&
              origins.buffers.size() == schedule.buffers.size(),
          "{}: origins of {} launches and {} buffers, where there are {} and {}", name_,
          origins.launches.size(), origins.buffers.size(), schedule.launches.size(),
          schedule.buffers.size());
    for (std::size_t i = 0; i < origins.launches.size(); i++) {
      const std::vector<Origin>& kernels = origins.launches[i].kernels;
      check(kernels.size() == schedule.launches[i].kernels.size(),
            "{}: origins of {} kernels, where a launch has {}", name_, kernels.size(),
            schedule.launches[i].kernels.size());
      for (const Origin& o : kernels) {
        for (std::uint32_t buffer : o.reads) within(buffer, schedule.buffers, "buffer");
        for (std::uint32_t buffer : o.writes) within(buffer, schedule.buffers, "buffer");
      }
    }
    trace_.origins[origins.schedule] = std::move(origins);
  }
  void add_model_nodes(Decoder& d) {
    ModelNodes nodes;
    nodes.code(d);
    within(nodes.schedule, trace_.schedules, "schedule");
    const std::size_t launches = trace_.schedules[nodes.schedule].launches.size();
    check(nodes.launches.size() == launches, "{}: nodes of {} launches, where there are {}", name_,
          nodes.launches.size(), launches);
    trace_.model_nodes[nodes.schedule] = std::move(nodes);
  }
  void add_graph(Decoder& d) {
    TensorGraph graph;
    graph.code(d);
    within(graph.schedule, trace_.schedules, "schedule");
    const Schedule& schedule = trace_.schedules[graph.schedule];
    for (std::size_t i = 0; i < graph.nodes.size(); i++) {
      for (const Number back : graph.nodes[i].sources) {
        check(back >= 1 && back <= i, "{}: a tensor {} before the {}th", name_, back, i);
      }
      check(graph.nodes[i].buffer_plus_1 <= schedule.buffers.size(), "{}: buffer {} of {}", name_,
            graph.nodes[i].buffer_plus_1, schedule.buffers.size());
    }
    trace_.graphs[graph.schedule] = std::move(graph);
  }

  // ---- what a record names stands before it ----

  template <typename Records>
  void within(std::uint64_t number, const Records& records, const char* what) const {
    check(number < records.size(), "{}: {} {} of {}", name_, what, number, records.size());
  }

  template <typename Record>
  void check_names(const Record&) const {}

  void check_names(const Scope& s) const { within(s.row, trace_.rows, "row"); }
  void check_names(const Node& n) const {
    for (Number back : n.sources) {
      check(back >= 1 && back <= trace_.nodes.size(), "{}: a node {} before the {}th", name_, back,
            trace_.nodes.size());
    }
  }
  void check_names(const PassResult& r) const {
    within(r.pass, trace_.passes, "pass");
    within(r.node, trace_.nodes, "node");
  }
  void check_names(const Match& m) const {
    within(m.pass, trace_.passes, "pass");
    within(m.rule, trace_.rules, "rule");
    within(m.before, trace_.nodes, "node");
    within(m.after, trace_.nodes, "node");
  }
  void check_names(const Schedule& s) const {
    for (const PlannedLaunch& l : s.launches) {
      for (Number kernel : l.kernels) within(kernel, trace_.kernels, "kernel");
      for (std::uint32_t buffer : l.reads) within(buffer, s.buffers, "buffer");
      for (std::uint32_t buffer : l.writes) within(buffer, s.buffers, "buffer");
    }
    for (const PlannedBuffer& b : s.buffers) {
      check(b.first_plus_1 <= s.launches.size() && b.last_plus_1 <= s.launches.size(),
            "{}: a buffer of a launch that there is not", name_);
    }
  }
  void check_names(const Samples& s) const { within(s.kernel, trace_.kernels, "kernel"); }
  void check_names(const Run& r) const {
    within(r.row, trace_.rows, "row");
    within(r.schedule, trace_.schedules, "schedule");
    const Schedule& schedule = trace_.schedules[r.schedule];
    check(r.arenas.size() <= schedule.arenas.size(), "{}: arenas that were not planned", name_);
    for (const RunResult& result : r.results) within(result.buffer, schedule.buffers, "buffer");
  }
  void check_names(const Launch& l) const {
    within(l.row, trace_.rows, "row");
    within(l.run, trace_.runs, "run");
    within(l.launch, trace_.schedules[trace_.runs[l.run].schedule].launches, "launch");
  }

  ByteReader file_;
  std::string_view name_;
  Trace trace_;
  std::unordered_map<std::int64_t, std::size_t> alive_;  // the allocation of memory
};

}  // namespace

std::string_view Trace::fact(std::string_view key) const {
  const auto found = std::ranges::find_if(facts, [&](const Fact& f) { return text(f.key) == key; });
  return found == facts.end() ? "" : text(found->value);
}

Trace read_trace(std::span<const std::byte> bytes, std::string_view name) {
  return Reader(bytes, name).read();
}

std::string short_name(std::string_view text) {
  constexpr std::size_t most = 200;
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) end--;
  return std::string(text.substr(0, end)) + "...";
}

std::string name_of(const Trace& trace, const PlannedLaunch& launch) {
  if (launch.kernels.empty()) return "copy";
  constexpr std::size_t max_named = 8;
  std::string name;
  for (std::size_t i = 0; i < std::min(launch.kernels.size(), max_named); i++) {
    if (i > 0) name += " > ";
    name += short_name(trace.text(trace.kernels[launch.kernels[i]].name));
  }
  if (launch.kernels.size() > max_named) {
    name += fmt::format(" and {} more", launch.kernels.size() - max_named);
  }
  return name;
}

const PlannedLaunch& planned(const Trace& trace, const Launch& launch) {
  return trace.schedules[trace.runs[launch.run].schedule].launches[launch.launch];
}

std::span<const Origin> origins_of(const Trace& trace, const Launch& launch) {
  const Origins& origins = trace.origins[trace.runs[launch.run].schedule];
  if (launch.launch >= origins.launches.size()) return {};
  return origins.launches[launch.launch].kernels;
}

std::span<const Name> nodes_of(const Trace& trace, const Launch& launch) {
  const ModelNodes& nodes = trace.model_nodes[trace.runs[launch.run].schedule];
  if (launch.launch >= nodes.launches.size()) return {};
  return nodes.launches[launch.launch].nodes;
}

}  // namespace croze::traces
