// explain.cpp -- croze explain MODEL.onnx: what a run launches and what memory it takes, and why.
#include <croze/base/error.h>
#include <croze/base/options.h>
#include <croze/base/printable.h>
#include <croze/io/onnx/model.h>
#include <croze/jit/trace.h>
#include <croze/tensor/explain.h>
#include <croze/tensor/registry.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "command_line/json.h"
#include "commands.h"
#include "corpus/graphs.h"
#include "model_inputs.h"

namespace croze::tool {
namespace {

using corpus::Computation;

struct Settings {
  std::string model, graph, device;
  std::vector<std::string> sizes;
  bool json = false;
};

// ---- what is explained ------------------------------------------------------------------------

void add_tensors(const onnx::Value& value, std::vector<Tensor>& tensors) {
  if (value.is_tensor()) tensors.push_back(value.tensor());
  if (value.kind() != onnx::Value::Kind::Sequence) return;
  for (const onnx::Value& item : value.items()) add_tensors(item, tensors);
}

Computation run_of(const Settings& settings) {
  const auto model = std::make_shared<const onnx::Model>(settings.model);
  ModelInputs inputs;
  add_zeros(*model, settings.sizes, inputs);
  return [model, inputs = std::move(inputs)] {
    std::vector<Tensor> tensors;
    for (const auto& [name, value] : model->run(inputs)) add_tensors(value, tensors);
    return tensors;
  };
}

Computation graph_of(const Settings& settings) {
  const std::vector<corpus::CorpusGraph> graphs = corpus::graphs();
  const auto graph = std::ranges::find(graphs, settings.graph, &corpus::CorpusGraph::name);
  check(graph != graphs.end(), "--graph {}: the corpus has no such graph", settings.graph);
  return graph->prepare();
}

// As a captured step, with all that it assigns to.
std::vector<Tensor> recorded(const Computation& compute) {
  std::vector<Tensor> tensors;
  {
    const Capturing recording;
    tensors = compute();
  }
  for (const Tensor& t : pending_stores()) tensors.push_back(t);
  return tensors;
}

// ---- as JSON ----------------------------------------------------------------------------------

Json json_of(const ExplainedLaunch& l) {
  return {{"nests", l.nests},
          {"reads", l.reads},
          {"writes", l.writes},
          {"bytes", l.bytes},
          {"flops", l.flops},
          {"cycles", l.cycles},
          {"nodes", l.parts},
          {"alive_bytes", l.alive_bytes},
          {"block_bytes", l.block_bytes}};
}

std::string_view name_of_kind(ExplainedBuffer::Kind kind) {
  constexpr std::string_view names[] = {"input", "result", "temporary", "block"};
  return names[static_cast<std::size_t>(kind)];
}

Json json_of(const Refusal& r) {
  return {{"cause", name_of(r.cause)}, {"count", r.count}, {"limit", r.limit}};
}

Json json_of(const ExplainedBuffer& b) {
  Json json{{"kind", name_of_kind(b.kind)},
            {"device", b.device},
            {"dtype", name_of(b.dtype)},
            {"shape", b.shape},
            {"bytes", b.bytes},
            {"first_launch", b.first},
            {"last_launch", b.last},
            {"readers", b.readers},
            {"why", b.why}};
  if (b.offset >= 0) json["offset"] = b.offset;
  if (b.kind == ExplainedBuffer::Kind::Temporary) json["room"] = b.room;
  if (b.reason) {
    json["cause"] = name_of(b.reason.cause);
    json["count"] = b.reason.count;
    json["limit"] = b.reason.limit;
  }
  if (b.one_nest) json["not_one_nest"] = json_of(b.one_nest);
  if (b.one_sequence) json["not_by_blocks"] = json_of(b.one_sequence);
  if (!b.call.empty()) json["call"] = b.call;
  return json;
}

Json json_of(const ExplainedPeak& p) {
  return {{"device", p.device},
          {"launch", p.launch},
          {"bytes", p.bytes},
          {"arena_bytes", p.arena_bytes},
          {"buffers", p.buffers}};
}

template <typename T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(json_of(item));
  return list;
}

Json json_of(const Explanation& e) {
  return {{"input_bytes", e.input_bytes},
          {"result_bytes", e.result_bytes},
          {"launches", list_of(e.launches)},
          {"buffers", list_of(e.buffers)},
          {"peaks", list_of(e.peaks)}};
}

void explain_model(const Settings& settings) {
  check(settings.model.empty() != settings.graph.empty(), "name a model or --graph NAME, not both");
  const Options::Scope device{
      {Option::Device, settings.device.empty() ? Options::text(Option::Device) : settings.device}};
  const Computation compute = settings.model.empty() ? graph_of(settings) : run_of(settings);
  // From here on nothing is computed, so that the option has calls noted and prints nothing.
  const Options::Scope noting{{Option::Explain, true}};
  const Explanation explanation = explain(recorded(compute));
  if (settings.json) {
    fmt::print("{}\n", json_of(explanation).dump());
  } else {
    fmt::print("{}", printable(to_text(explanation)));  // names of nodes may hold anything
  }
}

}  // namespace

void add_explain(const Command& program) {
  const Command command = program.subcommand(
      "explain", "Say what a run of a model launches, what memory it takes, and why");
  const auto s = std::make_shared<Settings>();
  command.option("model", s->model, "File of an ONNX model");
  command.option("--graph", s->graph, "Instead, a graph of the corpus (croze replay)");
  command.option("--size", s->sizes, "NAME=NUMBER for a size that the model leaves open");
  command.option("--device", s->device, "Device to schedule for, as croze devices names it");
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s] { explain_model(*s); });
}

}  // namespace croze::tool
