// State is in a struct: what a step assigns to is kept from run to run, starts again after a reset,
// and belongs to one instance.
#include <croze/croze.h>
#include <croze/nn/nn.h>

#include "exported.h"
#include "support/networks.h"

namespace croze {
namespace {

using namespace croze::test;

class State : public ExportTest {};
INSTANTIATE_TEST_SUITE_P(Compilers, State, testing::Values("gcc", "clang"), compiler_name);

struct Rows {
  std::vector<Tensor> list;
  std::string bytes;
};
Rows random_rows(int count, const Shape& shape) {
  Rows rows;
  for (int i = 0; i < count; i++) {
    rows.list.push_back(Tensor::uniform(shape, -1, 1).realize());
    rows.bytes += bytes_of(rows.list.back());
  }
  return rows;
}

TEST_P(State, AGruRemembersFromRunToRun) {
  const Stream net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  const Rows rows = random_rows(20, {6});
  step(rows.list[0]);
  net.restart();
  export_c(step, out(), {.name = "stream", .tensors = {{"hidden", net.hidden}}});
  EXPECT_NE(content(out() + "/stream.h").find("float hidden[16];"), std::string::npos);
  Reference reference(step.step());
  std::string same;
  std::vector<float> expected;
  for (const Tensor& x : rows.list) {
    same += reference.run({&x, 1});
    for (float v : step(x).to_vector<float>()) expected.push_back(v);
  }
  const std::string y = results("stream", {{"float", 6}}, {{"float", 3}}, rows.bytes);
  expect_same_bits(y, same);
  EXPECT_LE(distance_in_ulps(floats_of(y), expected), 8);
}

TEST_P(State, AResetGoesBackToTheStart) {
  const Stream net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  const Rows rows = random_rows(1, {6});
  step(rows.list[0]);
  export_c(step, out(), {.name = "stream"});
  const std::string twice = rows.bytes + rows.bytes;
  const auto run_with = [&](const char* before) {
    return run(compile("stream", driver("stream", {{"float", 6}}, {{"float", 3}}, before)), twice);
  };
  const std::string kept = run_with(""), reset = run_with("    stream_reset(&state);\n");
  EXPECT_NE(kept.substr(0, 12), kept.substr(12));
  EXPECT_EQ(reset.substr(0, 12), reset.substr(12));
  EXPECT_EQ(reset.substr(0, 12), kept.substr(0, 12));
}

// A hundred steps, the parameters and what Adam keeps of them in the struct.
TEST_P(State, ATrainingStepReachesTheSameLoss) {
  const Mlp net;
  optim::Adam adam(nn::parameters(net), {.learning_rate = 0.01});
  auto step = capture([&](const Tensor& x, const Tensor& y) {
    Tensor loss = cross_entropy(net(x), y);
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  const Tensor x = Tensor::uniform({32, 8}, -1, 1).realize();
  const Tensor y = x.narrow(1, 0, 3).argmax(1).cast(DType::Int32).realize();
  step(x, y);
  export_c(step, out(),
           {.name = "training",
            .inputs = {"x", "y"},
            .outputs = {"loss"},
            .tensors = nn::state_dict(net)});
  Reference reference(step.step());
  const Tensor given[] = {x, y};
  std::string input, same;
  std::vector<float> expected;
  for (int i = 0; i < 100; i++) {
    input += bytes_of(x) + bytes_of(y);
    same += reference.run(given);
    expected.push_back(step(x, y).item<float>());
  }
  const std::string losses =
      results("training", {{"float", 256}, {"int32_t", 32}}, {{"float", 1}}, input);
  expect_same_bits(losses, same);
  const std::vector<float> values = floats_of(losses);
  ASSERT_EQ(values.size(), 100u);
  EXPECT_LT(values.back(), values.front() / 2);
  // Roundings grow from step to step; here they are a millionth of the loss at most.
  for (std::size_t i = 0; i < 100; i++)
    EXPECT_NEAR(values[i], expected[i], 2e-5 * expected[i]) << i;
}

// The keys of random numbers are drawn as croze draws them.
TEST_P(State, RandomNumbersAreThoseOfReplays) {
  auto step = capture([](const Tensor& x) { return dropout(x, 0.5, true) + Tensor::rand({64}); });
  const Tensor x = Tensor::ones({64}).realize();
  step(x);
  export_c(step, out(), {.name = "noise"});
  std::string expected, input;
  for (int i = 0; i < 3; i++) {
    expected += bytes_of(step(x));
    input += bytes_of(x);
  }
  expect_same_bits(results("noise", {{"float", 64}}, {{"float", 64}}, input), expected);
}

// What a step assigns to its input is not seen outside.
TEST_P(State, AnInputThatIsAssignedToIsCopied) {
  auto step = capture([](const Tensor& x) {
    Tensor own = x;
    own.assign(own * 2.);
    return own + 1.;
  });
  const Tensor x = Tensor::arange(8).cast(DType::Float32).realize();
  step(x);
  export_c(step, out(), {.name = "doubled"});
  const std::string y = results("doubled", {{"float", 8}}, {{"float", 8}}, bytes_of(x));
  expect_same_bits(y, bytes_of(x * 2. + 1.));
}

TEST_P(State, AStepMayTakeAndGiveNothing) {
  Tensor count = Tensor::zeros({1}, DType::Int32).realize();
  auto step = capture([&] { count += 1; });
  step();
  export_c(step, out(), {.name = "counter", .tensors = {{"count", count}}});
  run(compile("counter", R"(#include "counter.h"
int main(void) {
  static unsigned char arena[COUNTER_ARENA_BYTES + 8];
  counter_state state;
  if (counter_init(&state, arena + 8 - (uintptr_t)arena % 8, COUNTER_ARENA_BYTES) != COUNTER_OK) return 1;
  for (int i = 0; i < 5; i++) counter_run(&state);
  if (state.count[0] != 6) return 2;
  counter_reset(&state);
  return state.count[0] != 1;
}
)"));
}

// One memory under two types: a compiler may not take them for apart.
TEST_P(State, BitsMayBeSeenUnderSeveralTypes) {
  Tensor bits = Tensor::ones({8}, DType::Float32).bitcast(DType::Int32).contiguous().realize();
  auto step = capture([&](const Tensor& x) {
    const Tensor before = bits.bitcast(DType::Float32);
    bits.assign((before + x).bitcast(DType::Int32) + 1);
    return before * 2. + bits.flip({0}).cast(DType::Float32);
  });
  const Rows rows = random_rows(3, {8});
  step(rows.list[0]);
  export_c(step, out(), {.name = "bits", .tensors = {{"bits", bits}}});
  std::string expected;
  for (const Tensor& x : rows.list) expected += bytes_of(step(x));
  expect_same_bits(results("bits", {{"float", 8}}, {{"float", 8}}, rows.bytes), expected);
}

constexpr const char* two_threads = R"(#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "stream.h"

typedef struct work {
  _Alignas(64) unsigned char arena[STREAM_ARENA_BYTES];
  stream_state state;
  float rows[50][6], results[50][3];
} work;
static work works[2];

static void* run_all(void* argument) {
  work* w = (work*)argument;
  for (int i = 0; i < 50; i++) stream_run(&w->state, w->rows[i], w->results[i]);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (int t = 0; t < 2; t++) {
    if (fread(works[t].rows, 1, sizeof works[t].rows, stdin) != sizeof works[t].rows) return 1;
    if (stream_init(&works[t].state, works[t].arena, sizeof works[t].arena) != STREAM_OK) return 2;
  }
  for (int t = 0; t < 2; t++) pthread_create(&threads[t], NULL, run_all, &works[t]);
  for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
  for (int t = 0; t < 2; t++) fwrite(works[t].results, 1, sizeof works[t].results, stdout);
  return 0;
}
)";

TEST_P(State, TwoInstancesRunAtOnce) {
  const Stream net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  const Rows rows = random_rows(100, {6});
  step(rows.list[0]);
  net.restart();
  export_c(step, out(), {.name = "stream"});
  const std::string both = run(compile("stream", two_threads), rows.bytes);
  const std::size_t half = rows.bytes.size() / 2;
  std::string apart;
  for (std::size_t begin : {std::size_t{0}, half}) {
    apart += results("stream", {{"float", 6}}, {{"float", 3}}, rows.bytes.substr(begin, half));
  }
  expect_same_bits(both, apart);
}

}  // namespace
}  // namespace croze
