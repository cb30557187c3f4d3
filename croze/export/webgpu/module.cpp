// module.cpp -- NAME.js: the model as data, and behind it what runs such models (runtime.js).
#include <fmt/format.h>

#include "croze/base/version.h"
#include "croze/export/size_text.h"
#include "croze/export/webgpu/texts.h"
#include "croze/render/wgsl/expressions.h"

namespace croze {

std::string_view webgpu_runtime();  // runtime.js

namespace web {
namespace {

using exporting::Array;

class ModuleWriter {
 public:
  explicit ModuleWriter(const WebModel& model) : model_(model) {
    for (const exporting::OpenSize& s : model.sizes) {
      parameters_ += (parameters_.empty() ? "" : ", ") + s.name;
    }
  }

  std::string write() const {
    return fmt::format(
               "// {0}.js: a model exported by croze {1}, for browsers with WebGPU.  {0}.d.ts says "
               "how it is used.\n\n"
               "// What kernels call.\n"
               "const helpers = /* wgsl */ `{2}`;\n\n"
               "const plan = {{\n",
               model_.name, version(), wgsl::helpers()) +
           head_text() + arrays_text() + copies_text() + dispatches_text() + modules_text() +
           "};\n\n" + std::string(webgpu_runtime());
  }

 private:
  std::string head_text() const {
    std::string text = fmt::format(
        "  name: \"{0}\",\n"
        "  weights: {{ file: \"{0}.weights\", tag: 0x{1:016x}n, bytes: {2} }},\n"
        "  // What the device must have, by WebGPU's names.\n"
        "  limits: {{ maxBufferSize: {3}, maxStorageBufferBindingSize: {4},"
        " maxStorageBuffersPerShaderStage: {5} }},\n"
        "  // Sizes in bytes; the first {6} hold the file of weights.\n"
        "  memories: [{7}],\n"
        "  memoriesOfFile: {6},\n",
        model_.name, model_.file.tag, model_.file.bytes.size(), model_.needs.buffer_bytes,
        model_.needs.binding_bytes, model_.needs.storage_buffers, model_.file_memories,
        fmt::join(model_.memories, ", "));
    text += "  sizes: [\n";
    for (const exporting::OpenSize& s : model_.sizes) {
      text += fmt::format("    {{ name: \"{}\", least: {}, most: {}, multiple: {} }},\n", s.name,
                          s.least, s.most, s.multiple);
    }
    return text + "  ],\n";
  }

  // ---- arrays ----

  std::string arrays_text() const {
    return list_text("inputs", model_.inputs, model_.inputs_at) +
           list_text("outputs", model_.outputs, model_.outputs_at) +
           list_text("state", model_.state, model_.state_at, &model_.start_at) +
           fmt::format("  randomKeys: {{ state: [{}], seed: {}n, draws: {}n }},\n",
                       fmt::join(model_.random_keys.state, ", "), model_.random_keys.seed,
                       model_.random_keys.draws);
  }

  std::string list_text(std::string_view name, const std::vector<Array>& arrays,
                        const std::vector<Placed>& places,
                        const std::vector<Placed>* starts = nullptr) const {
    std::string text = fmt::format("  {}: [\n", name);
    for (std::size_t i = 0; i < arrays.size(); i++) {
      const Array& a = arrays[i];
      text += fmt::format(
          "    {{ name: \"{}\", label: \"{}\", dtype: \"{}\", shape: [{}], bytes: {}, at: {}{} "
          "}},\n",
          a.name, exporting::in_comment(a.label), name_of(a.dtype), shape_text(a), a.bytes(),
          place_text(places[i]), starts ? ", start: " + place_text((*starts)[i]) : "");
    }
    return text + "  ],\n";
  }

  std::string shape_text(const Array& array) const {
    if (array.sizes.empty()) return fmt::format("{}", fmt::join(array.shape, ", "));
    std::string text;
    for (const LaunchSize& size : array.sizes) {
      text += (text.empty() ? "" : ", ") + number_text(size);
    }
    return text;
  }

  static std::string place_text(const Placed& place) {
    return place.memory < 0 ? "null" : fmt::format("[{}, {}]", place.memory, place.offset);
  }

  // A number, or a function of the open sizes.
  std::string number_text(const LaunchSize& number) const {
    const std::string text =
        exporting::size_text(number, model_.sizes, {"floorDiv", "mod", "Math.max", "Math.min"});
    return number.is_constant() ? text : fmt::format("({}) => {}", parameters_, text);
  }

  // ---- what a run does ----

  std::string copies_text() const {
    std::string text;
    for (const auto& [name, copies] :
         {std::pair("copiesIn", &model_.copies_in), std::pair("copiesOut", &model_.copies_out)}) {
      text += fmt::format("  {}: [\n", name);
      for (const exporting::Copy& copy : *copies) {
        text += fmt::format("    {{ to: {}, from: {}, bytes: {} }},\n",
                            place_text(model_.placed(copy.to)),
                            place_text(model_.placed(copy.from)), model_.copied(copy).bytes());
      }
      text += "  ],\n";
    }
    return text;
  }

  std::string dispatches_text() const {
    std::string text =
        "  // In order: a module, what it binds as [memory, offset, bytes], and the numbers that "
        "it "
        "is given,\n"
        "  // of which the first three are groups.\n"
        "  dispatches: [\n";
    for (const Dispatch& dispatch : model_.dispatches) {
      std::string pieces, numbers;
      for (const wgsl::Piece& p : dispatch.pieces) {
        pieces +=
            fmt::format("{}[{}, {}, {}]", pieces.empty() ? "" : ", ", p.memory, p.offset, p.bytes);
      }
      for (const LaunchSize& number : dispatch.numbers) {
        numbers += (numbers.empty() ? "" : ", ") + number_text(number);
      }
      text += fmt::format("    {{ module: {}, pieces: [{}], numbers: [{}] }},\n", dispatch.module,
                          pieces, numbers);
    }
    return text + "  ],\n";
  }

  std::string modules_text() const {
    std::string text = "  modules: [\n";
    for (const Module& m : model_.modules) {
      text += fmt::format("    {{ name: \"{}\", entry: \"{}\", code: /* wgsl */ `\n{}` }},\n",
                          m.name, m.entry, without_helpers(m.text));
    }
    return text + "  ],\n";
  }

  // Every module has the same helpers, which are written once.
  static std::string without_helpers(std::string text) {
    const std::size_t at = text.find(wgsl::helpers());
    if (at != text.npos) text.replace(at, wgsl::helpers().size(), "\n${helpers}");
    return text;
  }

  const WebModel& model_;
  std::string parameters_;  // the open sizes, as parameters of functions
};

}  // namespace

std::string module_text(const WebModel& model) { return ModuleWriter(model).write(); }

}  // namespace web
}  // namespace croze
