// model.h -- ONNX models that run.
//
//   const onnx::Model model("squeezenet.onnx");
//   auto outputs = model.run({{"data", image}});
//   Tensor probabilities = outputs.at("softmax").tensor();
//
// A model is a file mapped into memory; its weights stand there and are not copied.  It is run by
// recording tensor operations node by node, so the compiler sees the whole network at once. Running
// it again with inputs of the same types and shapes launches what was recorded (the last 32 kinds
// of inputs are kept), unless its shapes or branches depend on data, or it draws random numbers:
// then it is recorded anew and finds everything compiled.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "croze/io/onnx/value.h"
#include "croze/jit/dim.h"

namespace croze::onnx {

struct Program;
class Replays;

// A size of an input or output: a number, or a name, equal wherever the name stands, whose number
// is known when the model runs.
struct Dimension {
  std::int64_t size = -1;  // -1: not fixed
  std::string name;        // "" if it has none
};

// An input or output, as the file declares it.
struct Port {
  std::string name;
  std::string type;  // "float32", "sequence of int64", "optional float32"
  ElementType element = ElementType::Undefined;
  bool has_shape = false;  // else of any rank
  std::vector<Dimension> shape;
  bool has_default = false;  // an input that the file itself gives a value
  bool is_optional = false;  // may be nothing
};

// What an open size is called: as the file names it, or else by its input and axis, "image.0".
std::string size_name(const Port& port, std::size_t axis);

// The names of sizes that are tied to one: "input.0=state.1" are two that the file leaves open each
// for itself, though the model wants them to be equal.
std::vector<std::string> tied_names(std::string_view name);

// Throws Error, listing the sizes that the inputs leave open, for a name that is none of them.
void check_size_names(const std::vector<Port>& inputs,
                      const std::map<std::string, std::int64_t>& sizes);

// The shape of an input once its open sizes are known by their names.  Throws Error naming one that
// is missing.
Shape shape_of(const Port& port, const std::map<std::string, std::int64_t>& sizes);

// What a model is made of.
struct Summary {
  std::int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, std::int64_t> opsets;     // by domain
  std::map<std::string, std::int64_t> operators;  // number of nodes, those of subgraphs included
  std::vector<std::string> missing;               // operators that croze does not have
  std::int64_t nodes = 0;
  std::int64_t parameters = 0;  // elements of floating-point tensors in the file
  std::int64_t file_bytes = 0;
};

// A value recorded in a file of its own, as the tests of ONNX are: a TensorProto, a SequenceProto
// or an OptionalProto.  Throws Error if the file is damaged.
enum class Recorded { Tensor, Sequence, Optional };
Value load_recorded(const std::string& path, Recorded kind, Location at = Location::current());

class Model {
 public:
  // Reads a file, whose weights come to stand on the default device.  Files are not trusted: every
  // length is checked against what is there, and external data must be a regular file in the folder
  // of the model.  Throws Error saying what is wrong: no such file, no ONNX, an opset newer than
  // 25, tensors that do not fit their shapes.  Operators that croze lacks are found by run().
  explicit Model(const std::string& path, Location at = Location::current())
      : Model(path, {}, at) {}
  // The same with bounds for sizes that the file leaves open, by their names.  What such sizes need
  // is compiled once for all, at the first run: three times or seven more often if two or three of
  // them may be 1, since along a size of 1 nothing repeats.  Sizes that are not bounded so are from
  // 1 to 16384; what they need is compiled for those of the first runs, and at the fourth list of
  // sizes for all.  A Dim of the name "a=b" bounds two sizes that are always equal.  Throws Error
  // for a name that no input has.
  Model(const std::string& path, std::span<const Dim> sizes, Location at = Location::current());

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  Summary summary() const;

  // Computes all outputs, by name: new tensors, at which gradients end.  Every input without a
  // default must be given, in the type and shape that the file declares; one name of a dimension
  // means one size.  Throws Error for inputs that do not fit, and, naming the node, where an
  // operator is not there or refuses its inputs.
  // May be called from several threads.  In a captured function (jit/capture.h) outputs are
  // recorded and not computed; there a model throws Error whose shapes or branches depend on the
  // data of inputs.
  std::map<std::string, Value> run(const std::map<std::string, Value>& inputs,
                                   Location at = Location::current()) const;

 private:
  std::shared_ptr<const Program> program_;
  std::shared_ptr<Replays> replays_;
  std::vector<Port> inputs_, outputs_;
};

}  // namespace croze::onnx
