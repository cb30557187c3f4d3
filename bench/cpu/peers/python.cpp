// python.cpp -- what is asked of the Python process.
#include "cpu/peers/python.h"

#include <fmt/format.h>
#include <unistd.h>

#include "croze/base/error.h"

namespace croze::bench {
namespace {

constexpr const char* scripts[] = {"cpu/peers/inputs.py",  "cpu/peers/operations.py",
                                   "cpu/peers/gpt.py",     "cpu/peers/training.py",
                                   "cpu/peers/answers.py", "cpu/peers/serve.py"};

std::vector<Signature> signatures_in(const Json& list) {
  std::vector<Signature> all;
  for (const Json& json : list.elements()) {
    Signature s{json["count"].get<std::int64_t>(), json["norm"].get<double>(), {}};
    for (const Json& element : json["some"].elements()) s.some.push_back(element.get<double>());
    all.push_back(std::move(s));
  }
  return all;
}

Json json_of(const Case& c) {
  Json inputs = Json::array();
  for (const Input& input : c.inputs) {
    inputs.push_back(
        {{"shape", Json(std::vector<std::int64_t>(input.shape.begin(), input.shape.end()))},
         {"dtype", name_of(input.dtype)},
         {"below", input.below}});
  }
  Json json{{"operation", c.operation}, {"options", c.options}, {"inputs", std::move(inputs)}};
  // The process may see another root folder, and ours through the files of processes.
  if (c.options.contains("file")) {
    json["options"]["path"] = fmt::format("/proc/{}/root" CROZE_BENCH_MODELS "/{}", getpid(),
                                          c.options["file"].get<std::string>());
  }
  return json;
}

}  // namespace

PythonPeers::PythonPeers(const PeerOptions& options) {
  try {
    process_.emplace(options.python, scripts, options.threads);
    const Json hello =
        process_->ask({{"threads", options.threads}, {"is_limited", options.vector_bytes != 0}});
    found_ = hello["found"];
    missing_ = hello["missing"];
  } catch (const Error& e) {
    for (const char* name : {"PyTorch", "oneDNN", "onnxruntime"}) missing_[name] = e.message();
  }
}

std::vector<Contestant> PythonPeers::prepare(const Case& c) {
  if (found_.names().empty()) return {};
  const Json answer = process_->ask({{"prepare", json_of(c)}});
  const Json& failed = answer["failed"];
  for (const std::string& name : failed.names()) missing_[name + ", " + c.name] = failed[name];
  std::vector<Contestant> all;
  for (const std::string& name : answer["results"].names()) {
    const auto take_turn = [this, name](double seconds) {
      return process_->ask({{"turn", name}, {"seconds", seconds}})["seconds"].get<double>();
    };
    all.push_back({name, take_turn, signatures_in(answer["results"][name])});
  }
  return all;
}

}  // namespace croze::bench
