// replay.cpp -- croze replay record and compare: what the compiler makes of a corpus of graphs.
//
// Nothing is run.  The graphs are compiled for a machine that is described (replay/machine.h), so
// records of different machines agree, and a difference is the doing of the compiler.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "command_line/json.h"
#include "commands.h"
#include "corpus/graphs.h"
#include "croze/base/error.h"
#include "croze/base/file.h"
#include "replay/compare.h"
#include "replay/measure.h"

namespace croze::tool {
namespace {

using corpus::CorpusGraph;

struct ReplayOptions {
  std::string folder, models;
  std::vector<std::string> names;  // of graphs; empty: all
  bool texts = false, as_json = false, fail_on_change = false;

  bool asks_for(const std::string& graph) const {
    return names.empty() || std::ranges::find(names, graph) != names.end();
  }
};

std::vector<CorpusGraph> graphs_for(const ReplayOptions& options) {
  std::vector<CorpusGraph> graphs = corpus::graphs();
  std::vector<CorpusGraph> models = corpus::onnx_graphs(options.models);
  if (models.empty() && !options.models.empty()) {
    fmt::print(stderr, "there is no model with inputs of fixed shapes in {}\n", options.models);
  }
  std::ranges::move(models, std::back_inserter(graphs));
  for (const std::string& name : options.names) {
    check(std::ranges::find(graphs, name, &CorpusGraph::name) != graphs.end(),
          "the corpus has no graph '{}'", name);
  }
  std::erase_if(graphs, [&](const CorpusGraph& g) { return !options.asks_for(g.name); });
  return graphs;
}

// ---- record -----------------------------------------------------------------------------------

void record(const ReplayOptions& options) {
  std::filesystem::create_directories(options.folder);
  replay::Meter meter;
  int written = 0;
  for (const CorpusGraph& graph : graphs_for(options)) {
    replay::write_record(replay::record_path(options.folder, graph.name), meter.measure(graph));
    written++;
    if (!options.texts) continue;
    const std::string text = meter.kernel_texts();
    write_file(options.folder + "/" + graph.name + ".txt", std::as_bytes(std::span(text)));
  }
  fmt::print("{} graphs recorded in {}\n", written, options.folder);
}

// ---- compare ----------------------------------------------------------------------------------

struct Comparison {
  std::vector<replay::Difference> changed;
  std::vector<std::string> left;     // the corpus since they were recorded
  std::vector<std::string> missing;  // models
  std::vector<std::string> new_models;
  int graphs = 0;
  replay::Totals before, after;

  bool any() const { return !changed.empty() || !left.empty(); }
};

Comparison compared(const ReplayOptions& options) {
  Comparison result;
  std::vector<std::string> recorded = replay::recorded_graphs(options.folder);
  check(!recorded.empty(), "there is no record in '{}'", options.folder);
  std::erase_if(recorded, [&](const std::string& name) { return !options.asks_for(name); });
  replay::Meter meter;
  for (const CorpusGraph& graph : graphs_for(options)) {
    const bool is_recorded = std::erase(recorded, graph.name) > 0;
    if (!is_recorded && corpus::is_onnx_graph(graph.name)) {
      result.new_models.push_back(graph.name);
      continue;
    }
    const replay::GraphRecord after = meter.measure(graph);
    replay::Difference d =
        is_recorded
            ? replay::difference(
                  replay::read_record(replay::record_path(options.folder, graph.name)), after)
            : replay::new_graph(after);
    result.graphs++;
    add(result.before, d.before);
    add(result.after, d.after);
    if (d.any()) result.changed.push_back(std::move(d));
  }
  for (const std::string& name : recorded) {
    (corpus::is_onnx_graph(name) ? result.missing : result.left).push_back(name);
  }
  return result;
}

void print_text(const Comparison& c) {
  for (const replay::Difference& d : c.changed) fmt::print("{}", to_text(d));
  for (const std::string& name : c.left) fmt::print("{}: no longer in the corpus\n", name);
  for (const std::string& name : c.missing) {
    fmt::print("{}: skipped, the model is not there (--models)\n", name);
  }
  for (const std::string& name : c.new_models) {
    fmt::print("{}: skipped, it is not in the record\n", name);
  }
  fmt::print("{} of {} graphs changed", c.changed.size(), c.graphs);
  if (!c.changed.empty()) fmt::print(": {}", to_text(c.before, c.after));
  fmt::print("\n");
}

void print_json(const Comparison& c) {
  Json changed = Json::array();
  for (const replay::Difference& d : c.changed) changed.push_back(json_of(d));
  fmt::print("{}\n", Json{{"graphs", c.graphs},
                          {"changed", std::move(changed)},
                          {"no_longer_in_the_corpus", c.left},
                          {"models_not_there", c.missing},
                          {"models_not_recorded", c.new_models},
                          {"before", json_of(c.before)},
                          {"after", json_of(c.after)}}
                         .dump());
}

void compare(const ReplayOptions& options) {
  const Comparison comparison = compared(options);
  options.as_json ? print_json(comparison) : print_text(comparison);
  check(!options.fail_on_change || !comparison.any(),
        "the compiler does not do what is recorded in {0}; if that is meant, look at the changes "
        "and keep them with\n    croze replay record {0}",
        options.folder);
}

void add_common(const Command& command, const std::shared_ptr<ReplayOptions>& options) {
  command.option("folder", options->folder, "Folder of the record").required();
  command.option("--graph", options->names, "Only graphs of these names");
  command.option("--models", options->models,
                 "Folder with ONNX models that belong to the corpus, too (tests/models/fetch.sh)");
}

}  // namespace

void add_replay(const Command& program) {
  const Command group =
      program.group("replay", "Keep and compare what the compiler makes of a corpus of graphs");
  const auto options = std::make_shared<ReplayOptions>();

  const Command recording = group.subcommand("record", "Write a file for each graph");
  add_common(recording, options);
  recording.flag("--texts", options->texts, "And a text with the kernels and their programs");
  recording.action([options] { record(*options); });

  const Command comparing = group.subcommand("compare", "Compile the graphs again, and compare");
  add_common(comparing, options);
  comparing.flag("--json", options->as_json, "Print one line of JSON");
  comparing.flag("--fail-on-change", options->fail_on_change, "Exit with 1 if anything changed");
  comparing.action([options] { compare(*options); });
}

}  // namespace croze::tool
