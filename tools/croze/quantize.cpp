// quantize.cpp -- croze quantize IN.gguf OUT.gguf: a model in smaller types.
#include <croze/base/error.h>
#include <croze/base/printable.h>
#include <croze/io/gguf/encode.h>
#include <croze/io/gguf/quantize.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"

namespace croze::tool {
namespace {

struct Settings {
  std::string model, result, type;
  bool pure = false, dry_run = false;
};

GgmlType type_of(const std::string& name) {
  const std::vector<GgmlType> types = encodable_types();
  const auto it = std::ranges::find(types, name, [](GgmlType type) { return name_of(type); });
  check(it != types.end(), "no type \"{}\"", name);
  return *it;
}

void print_step(const GgufQuantizeStep& step) {
  std::string what(name_of(step.from));
  if (step.to != step.from) what += fmt::format(" to {}", name_of(step.to));
  if (step.is_fallback) what += ", since rows are no whole number of blocks";
  fmt::print("{} {}: {}\n", printable(step.name), to_text(step.shape), what);
  std::fflush(stdout);  // it is the progress, too
}

void print_summary(const std::vector<GgufQuantizeStep>& steps) {
  std::int64_t from = 0, to = 0, changed = 0, fallbacks = 0;
  for (const GgufQuantizeStep& s : steps) {
    from += s.from_bytes;
    to += s.to_bytes;
    changed += s.to != s.from;
    fallbacks += s.is_fallback;
  }
  fmt::print("{} of {} tensors changed, {} by a fallback; {} bytes to {}\n", changed, steps.size(),
             fallbacks, from, to);
}

void quantize(const Settings& settings) {
  const GgufQuantizer quantizer(settings.model,
                                {.type = type_of(settings.type), .pure = settings.pure});
  if (settings.dry_run) {
    for (const GgufQuantizeStep& s : quantizer.steps()) print_step(s);
  } else {
    quantizer.save(settings.result, print_step);
  }
  print_summary(quantizer.steps());
}

}  // namespace

void add_quantize(const Command& program) {
  const Command command = program.subcommand("quantize", "Write a GGUF model in smaller types");
  const auto s = std::make_shared<Settings>();
  std::vector<std::string> types;
  for (GgmlType type : encodable_types()) types.emplace_back(name_of(type));
  command.option("model", s->model, "File of the model").required();
  command.option("result", s->result, "File to write; another one").required();
  command.option("--type", s->type, "Type of weights of two or more axes").one_of(types).required();
  command.flag("--pure", s->pure, "Weights of the output as well, instead of Q6_K");
  command.flag("--dry-run", s->dry_run, "Say what would become of each tensor, write nothing");
  command.action([s] { quantize(*s); });
}

}  // namespace croze::tool
