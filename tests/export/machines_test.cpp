// The same code under tools that watch it, and on other processors.
#include <croze/croze.h>
#include <croze/nn/nn.h>

#include "exported.h"

namespace croze {
namespace {

using namespace croze::test;

// A training step of a small convolutional network with dropout: gradients, scatters, an optimizer
// and random numbers.
struct ConvNet {
  nn::Conv2d conv{1, 4, 3, {.padding = 1}};
  nn::BatchNorm2d norm{4};
  nn::Linear output{4 * 3 * 3, 3};

  Tensor operator()(const Tensor& x) {
    Tensor y = max_pool2d(relu(norm(conv(x), true)), 2);
    return output(dropout(y.flatten(1), 0.2, true));
  }
};

class Watched : public ExportTest {
 protected:
  // Exports the training step, runs it three times and compares with the interpreter.
  void train(const std::string& machine = "portable") {
    ConvNet net;
    optim::SGD sgd(nn::parameters(net), {.learning_rate = 0.05, .momentum = 0.9});
    auto step = capture([&](const Tensor& x, const Tensor& y) {
      Tensor loss = cross_entropy(net(x), y);
      sgd.step(loss.gradient(sgd.parameters));
      return loss;
    });
    const Tensor given[] = {Tensor::uniform({5, 1, 6, 6}, -1, 1).realize(),
                            Tensor::randint(0, 3, {5}).cast(DType::Int32).realize()};
    step(given[0], given[1]);
    export_c(step, out(), {.name = "training", .tensors = nn::state_dict(net), .machine = machine});
    Reference reference(step.step(), machine);
    std::string input, expected;
    for (int i = 0; i < 3; i++) {
      input += bytes_of(given[0]) + bytes_of(given[1]);
      expected += reference.run(given);
    }
    expect_same_bits(results("training", {{"float", 180}, {"int32_t", 5}}, {{"float", 1}}, input),
                     expected);
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, Watched, testing::Values("gcc", "clang"), compiler_name);

TEST_P(Watched, NothingIsUndefined) {
  flags_ = "-fsanitize=address,undefined -fno-sanitize-recover=all";
  train();
}

// Accesses of memory that does not belong to it, and jumps that hang on what was never written.
TEST_P(Watched, ValgrindHasNothingToSay) {
  if (find_command("valgrind").empty()) GTEST_SKIP() << "there is no valgrind on the PATH";
  runner_ = "valgrind -q --error-exitcode=9 ";
  train();
}

// Whatever else a compiler is told, but for -ffast-math: the bits stay.  Without vector types, too.
// (clang 19 warns of what it finds itself on processors with AVX10.)
TEST_P(Watched, FlagsDoNotChangeResults) {
  for (const char* flags : {"-O0", "-DCROZE_VECTORS=0", "-O2 -std=gnu11",
                            "-O3 -march=native -Wno-invalid-feature-combination -std=gnu17"}) {
    flags_ = flags;
    train();
  }
}

// Wider vectors and fused multiply-adds, on a processor that may have neither; and with what
// instructions this one has.
TEST_P(Watched, KernelsForOneMachineRunOnAll) {
  for (const char* flags : {"", "-march=native -Wno-invalid-feature-combination"}) {
    flags_ = flags;
    for (const char* machine : {"arm64", "x86-64-v3", "x86-64-v4"}) {
      SCOPED_TRACE(std::string(machine) + flags);
      train(machine);
      if (HasFailure()) return;
    }
  }
}

// Windows that move by two, over one channel and over many, and roots.
TEST_P(Watched, LanesThatLieApartGiveTheSameBits) {
  const Tensor each = Tensor::uniform({8, 1, 3, 3}, -1, 1).realize();
  const Tensor all = Tensor::uniform({32, 8, 3, 3}, -1, 1).realize();
  auto step = capture([&](const Tensor& large, const Tensor& small) {
    const Tensor one = conv2d(large, each, {}, {.stride = 2, .padding = 1, .groups = 8});
    const Tensor many = conv2d(small, all, {}, {.stride = 2, .padding = 1});
    return cat({one.abs().sqrt().flatten(), many.flatten()}, 0);
  });
  const Tensor given[] = {Tensor::uniform({1, 8, 56, 56}, -1, 1).realize(),
                          Tensor::uniform({1, 8, 14, 14}, -1, 1).realize()};
  const CPort large{"float", 8 * 56 * 56}, small{"float", 8 * 14 * 14};
  const CPort halves{"float", 8 * 28 * 28 + 32 * 7 * 7};
  step(given[0], given[1]);
  for (const char* machine : {"portable", "x86-64-v3", "x86-64-v4"}) {
    SCOPED_TRACE(machine);
    export_c(step, out(), {.name = "halves", .machine = machine});
    const std::string expected = Reference(step.step(), machine).run(given);
    for (const char* flags : {"", "-march=native -Wno-invalid-feature-combination"}) {
      flags_ = flags;
      expect_same_bits(
          results("halves", {large, small}, {halves}, bytes_of(given[0]) + bytes_of(given[1])),
          expected);
    }
  }
  for (const char* macro : {"every_other_", "look_up_", "sqrt_"}) {
    EXPECT_NE(content(out() + "/halves.c").find(macro), std::string::npos) << macro;
  }
}

// Other processors, by qemu.
class OtherProcessor : public Watched {
 protected:
  void SetUp() override {
    ExportTest::SetUp();
    if (IsSkipped()) return;
    const std::string compiler = GetParam();
    const std::string qemu = "qemu-" + compiler.substr(0, compiler.find('-'));
    for (const std::string& name : {qemu, qemu + "-static"}) {
      if (!find_command(name).empty()) runner_ = name + " ";
    }
    if (runner_.empty()) GTEST_SKIP() << "there is no " << qemu << " on the PATH";
    flags_ = "-static";
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, OtherProcessor,
                         testing::Values("aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"),
                         [](const testing::TestParamInfo<const char*>& test) {
                           const std::string compiler = test.param;
                           return compiler.substr(0, compiler.find('-'));
                         });

TEST_P(OtherProcessor, GivesTheSameBits) { train(); }
TEST_P(OtherProcessor, GivesTheSameBitsWithFusedMultiplyAdds) { train("arm64"); }

}  // namespace
}  // namespace croze
