// types.cpp -- NAME.d.ts: what a program sees of an exported model.
#include <fmt/format.h>

#include "croze/base/version.h"
#include "croze/export/size_text.h"
#include "croze/export/webgpu/texts.h"

namespace croze::web {
namespace {

using exporting::Array;

std::string shape_text(const Array& array, const WebModel& model) {
  if (array.sizes.empty()) return to_text(array.shape);
  std::string text;
  for (const LaunchSize& size : array.sizes) {
    text += text.empty() ? "" : ", ";
    text += exporting::size_text(size, model.sizes, {"floorDiv", "mod", "max", "min"});
  }
  return fmt::format("({})", text);
}

std::string describe(const Array& array, const WebModel& model) {
  const std::string label = array.label == array.name || array.label.empty()
                                ? ""
                                : exporting::in_comment(array.label) + ": ";
  const std::string_view manner = array.dtype == DType::Bool ? " (0 or 1)"
                                  : is_half(array.dtype)     ? " (its bits)"
                                                             : "";
  return fmt::format("{}{}{}, shape {}", label, name_of(array.dtype), manner,
                     shape_text(array, model));
}

std::string interface_text(std::string_view name, std::string_view comment,
                           const std::vector<Array>& arrays, const WebModel& model) {
  std::string text = fmt::format("/** {} */\nexport interface {} {{\n", comment, name);
  for (const Array& a : arrays) {
    text +=
        fmt::format("  /** {}. */\n  {}: {};\n", describe(a, model), a.name, array_class(a.dtype));
  }
  return text + "}\n\n";
}

std::string sizes_text(const WebModel& model) {
  if (model.sizes.empty()) return {};
  std::string text =
      "/** Sizes of arrays, which may differ from run to run. */\nexport interface Sizes {\n";
  for (const exporting::OpenSize& s : model.sizes) {
    const std::string multiple =
        s.multiple == 1 ? "" : fmt::format(", a multiple of {}", s.multiple);
    text += fmt::format("  /** From {} to {}{}. */\n  {}: number;\n", s.least, s.most, multiple,
                        s.name);
  }
  return text + "}\n\n";
}

constexpr std::string_view load_text = R"(export interface LoadOptions {
  /** The device to compute on, which must have the limits that the model needs; else one is asked for. */
  device?: GPUDevice;
  /** Where the weights are, or their bytes; else they are fetched from beside the module. */
  weights?: string | URL | ArrayBuffer;
  /** Told how many bytes of the weights there are. */
  onProgress?: (loaded: number, total: number) => void;
  /** Whether the browser keeps the weights for the next time; true unless it is said. */
  cache?: boolean;
}

/** Makes an instance, in its starting state.  Fails with an Error that says what the device lacks. */
export function load(options?: LoadOptions): Promise<Model>;

)";

std::string model_text(const WebModel& model) {
  const bool has_state = !model.state.empty();
  std::string text = fmt::format(
      "/** One instance of the model, with all that it remembers from run to run. */\n"
      "export interface Model {{\n"
      "  readonly device: GPUDevice;\n"
      "  /** One run.  Arrays are read before it returns; runs happen in the order of calls. */\n"
      "  run(inputs: Inputs{}): Promise<Outputs>;\n",
      model.sizes.empty() ? "" : ", sizes: Sizes");
  if (has_state) {
    text +=
        "  /** The state after the runs so far. */\n"
        "  readState(): Promise<State>;\n"
        "  /** Changes parts of the state, for the runs that follow. */\n"
        "  writeState(state: Partial<State>): void;\n"
        "  /** Takes the state back to what it was when the model was exported. */\n"
        "  reset(): void;\n";
  }
  return text +
         "  /** Frees the memory on the device, and a device that load() has asked for. */\n"
         "  destroy(): void;\n"
         "}\n\n";
}

constexpr std::string_view description_text =
    R"(export type TypedArray = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array
  | BigInt64Array | BigUint64Array | Float32Array;

export interface ArrayDescription {
  name: string;
  /** As the model called it. */
  label: string;
  dtype: string;
  /** At the sizes that are given, in their order. */
  shape(...sizes: number[]): number[];
  /** An array of that shape. */
  zeros(...sizes: number[]): TypedArray;
}

export const description: {
  name: string;
  sizes: { name: string; least: number; most: number; multiple: number }[];
  inputs: ArrayDescription[];
  outputs: ArrayDescription[];
  state: ArrayDescription[];
  weightBytes: number;
  kernels: number;
  dispatches: number;
};
)";

}  // namespace

std::string_view array_class(DType t) {
  switch (t) {
    case DType::Int8: return "Int8Array";
    case DType::Int16: return "Int16Array";
    case DType::UInt16: return "Uint16Array";
    case DType::Int32: return "Int32Array";
    case DType::UInt32: return "Uint32Array";
    case DType::Int64: return "BigInt64Array";
    case DType::UInt64: return "BigUint64Array";
    case DType::Float32: return "Float32Array";
    default: return size_of(t) == 2 ? "Uint16Array" : "Uint8Array";
  }
}

std::string types_text(const WebModel& model) {
  std::string text = fmt::format(
      "// {0}.d.ts: the types of {0}.js, a model exported by croze {1}.\n"
      "// Elements stand row by row, the last axis fastest.\n\n",
      model.name, version());
  text += sizes_text(model);
  text += interface_text("Inputs", "What a run takes.", model.inputs, model);
  text += interface_text("Outputs", "What a run gives.", model.outputs, model);
  if (!model.state.empty()) {
    text += interface_text("State", "What an instance keeps from run to run.", model.state, model);
  }
  return text + std::string(load_text) + model_text(model) + std::string(description_text);
}

}  // namespace croze::web
