// gpu_models.cpp -- training steps of ResNet-50 and of GPT-2, and products with four-bit weights.
#include "gpu_models.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "corpus/gpt2.h"
#include "corpus/resnet50.h"
#include "cpu/train_runs.h"
#include "croze/io/gguf/encode.h"
#include "croze/io/gguf/gguf.h"
#include "croze/tensor/network/loss.h"

namespace croze::bench {
namespace {

Input classes(const Shape& shape, std::int64_t count) { return {shape, DType::Int64, count}; }

// Forward there are as many products as weights are used, backward twice as many.
double work_of_training(double multiply_adds) { return 3 * 2 * multiply_adds; }

// Numbers by the formula of inputs as blocks of `type`.
GgufTensor packed_weight(std::int64_t out, std::int64_t in, GgmlType type) {
  const GgmlTypeInfo& layout = ggml_type_info(type);
  const std::int64_t blocks = in / layout.block_elements;
  std::vector<std::byte> bytes(static_cast<std::size_t>(out * blocks * layout.block_bytes));
  encode_blocks(input_numbers({{out, in}}, 2), type, bytes);
  const Shape stored{out, blocks, layout.block_bytes};
  return {.name = "weight",
          .shape = {out, in},
          .type = type,
          .stored = Tensor::from_bytes(bytes, DType::UInt8, stored).realize()};
}

}  // namespace

Case resnet50_step(std::int64_t images, std::int64_t side) {
  using Net = corpus::ResNet50;
  Case c{.name = fmt::format("ResNet-50 step, {} images of {}x{}", images, side, side),
         .inputs = {{{images, 3, side, side}}, classes({images}, Net::classes)}};
  const double of_224 = 4.1e9 * static_cast<double>(images);
  c.work = work_of_training(of_224 * static_cast<double>(side * side) / (224. * 224.));
  c.prepare = [](In in) {
    return runs_of(std::make_shared<Net>(), sgd, [images = in[0], labels = in[1]](auto& net) {
      return cross_entropy(net(images), labels);
    });
  };
  return c;
}

Case gpt2_step(std::int64_t batch, std::int64_t length, std::int64_t layers) {
  using Net = corpus::Gpt2;
  Case c{.name = fmt::format("GPT-2 step, {} layers, {}x{} tokens", layers, batch, length),
         .inputs = {classes({batch, length}, Net::vocabulary),
                    classes({batch * length}, Net::vocabulary)}};
  const std::int64_t weights = 12 * layers * Net::width * Net::width + Net::vocabulary * Net::width;
  const std::int64_t of_attention = layers * length * Net::width;  // two products, half of each
  c.work = work_of_training(static_cast<double>(batch * length * (weights + of_attention)));
  c.prepare = [layers](In in) {
    return runs_of(std::make_shared<Net>(layers), adam, [tokens = in[0], next = in[1]](auto& net) {
      return cross_entropy(reshape(net(tokens), {-1, Net::vocabulary}), next);
    });
  };
  return c;
}

Case packed_product(std::int64_t rows, std::int64_t in, std::int64_t out) {
  constexpr auto type = GgmlType::Q4_0;
  Case c{.name = fmt::format("q4_0 product {}x{}x{}", rows, in, out), .inputs = {{{rows, in}}}};
  c.work = 4.0 * static_cast<double>(rows * (in + out)) +
           static_cast<double>(out * in * ggml_type_info(type).block_bytes /
                               ggml_type_info(type).block_elements);
  c.prepare = [=](In inputs) {
    const GgufTensor weight = packed_weight(out, in, type);
    return steps_of([weight](In x) -> Out { return {linear(x[0], weight.decoded())}; })(inputs);
  };
  return c;
}

}  // namespace croze::bench
