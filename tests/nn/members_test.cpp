// Structs of every kind are taken apart whole: no member vanishes, whatever it is and wherever it
// stands.  What cannot be taken apart does not compile: refused.cpp.
#include "croze/base/members.h"

#include <deque>
#include <map>
#include <memory>

#include "nn/models.h"

namespace croze {
namespace {

using test::error_of;
using test::names_of;
using Names = std::vector<std::string>;

template <typename T>
Names parameter_names(const T& model) {
  return names_of(nn::named_parameters(model));
}

Tensor one() { return Tensor::ones({1}).realize(); }

struct Two {
  nn::Linear a, b;
};

struct Net {
  nn::Linear hidden{2, 3}, output{3, 1};
};

TEST(Members, WithoutDefaultConstructorsAreFound) {
  const nn::Linear layer(2, 3);
  EXPECT_EQ(parameter_names(Two{layer, nn::Linear(2, 3)}),
            (Names{"a.weight", "a.bias", "b.weight", "b.bias"}));
  struct Last {
    nn::Linear a{2, 3};
    nn::Linear b;
  };
  EXPECT_EQ(parameter_names(Last{.b = layer}).size(), 4u);
  struct First {
    nn::Linear a;
    nn::Linear b{2, 3};
    double p = 0.5;
  };
  EXPECT_EQ(parameter_names(First{.a = layer}).size(), 4u);
  struct AfterAList {
    std::vector<nn::Linear> list;
    nn::Linear b;
  };
  EXPECT_EQ(parameter_names(AfterAList{{layer}, nn::Linear(1, 1)}),
            (Names{"list.0.weight", "list.0.bias", "b.weight", "b.bias"}));
  struct InTheMiddle {
    Two first;
    int depth = 3;
    Two second;
    bool causal = true;
  };
  EXPECT_EQ(parameter_names(InTheMiddle{.first = {layer, layer}, .second = {layer, layer}}),
            (Names{"first.a.weight", "first.a.bias"}));
}

TEST(Members, OfATrainingAreFoundAndTheOptimizerIsNotTrained) {
  struct Training {
    Net net;
    optim::AdamW adam;
    Tensor scale;
  };
  Net net;
  const optim::AdamW adam(nn::parameters(net));
  const Training training{net, adam, one()};
  EXPECT_EQ(parameter_names(training), (Names{"net.hidden.weight", "net.hidden.bias",
                                              "net.output.weight", "net.output.bias", "scale"}));
  const Names state = names_of(nn::state_dict(training));
  ASSERT_EQ(state.size(), 5u + 2 + 8);
  EXPECT_EQ(state[4], "adam.learning_rate");
  EXPECT_EQ(state[6], "adam.mean.0");
  EXPECT_EQ(state[14], "scale");
}

TEST(Members, OfContainersAreFound) {
  struct Model {
    std::map<std::string, Net> named;
    std::map<int, Tensor> numbered;
    std::deque<nn::Linear> queue;
    std::pair<Tensor, nn::Linear> pair{one(), {1, 1}};
    std::tuple<Tensor, double, Tensor> tuple{one(), 3, one()};
    std::shared_ptr<Net> shared = std::make_shared<Net>();
    std::vector<double> rates = std::vector<double>(3);
    nn::Linear last;
  };
  Model model{.named = {{"b", {}}, {"a", {}}},
              .numbered = {{7, one()}},
              .queue = {nn::Linear(1, 1, {.bias = false})},
              .last = {2, 2}};
  const Names names = parameter_names(model);
  ASSERT_EQ(names.size(), 4u * 2 + 1 + 1 + 3 + 2 + 4 + 2);
  EXPECT_EQ(names[0], "named.a.hidden.weight");
  EXPECT_EQ(names[8], "numbered.7");
  EXPECT_EQ(names[9], "queue.0.weight");
  EXPECT_EQ(names[10], "pair.0");
  EXPECT_EQ(names[12], "pair.1.bias");
  EXPECT_EQ(names[14], "tuple.2");
  EXPECT_EQ(names[15], "shared.hidden.weight");
  EXPECT_EQ(names.back(), "last.bias");
}

TEST(Members, ThatAreArraysOfCAreLists) {
  struct Model {
    double before = 0;
    nn::Linear layers[2];
    float table[3] = {1, 2, 3};
    Tensor grid[2][2] = {{one(), one()}, {one(), one()}};
    Net net;
    nn::Linear last;
  };
  const Model model{.layers = {{1, 1, {.bias = false}}, {1, 1}}, .last = {1, 1}};
  const Names names = parameter_names(model);
  ASSERT_EQ(names.size(), 3u + 4 + 4 + 2);
  EXPECT_EQ(names[0], "layers.0.weight");
  EXPECT_EQ(names[2], "layers.1.bias");
  EXPECT_EQ(names[4], "grid.0.1");
  EXPECT_EQ(names[7], "net.hidden.weight");
  EXPECT_EQ(names[12], "last.bias");
}

struct Trainable {};
template <typename T>
struct Named {
  std::string name() const { return "named"; }
};

TEST(Members, OfStructsWithEmptyBasesAreFound) {
  struct Model : Trainable, Named<Model> {
    nn::Linear a;
    Tensor b = one();
  };
  const Model model{{}, {}, {1, 1}};
  EXPECT_EQ(parameter_names(model), (Names{"a.weight", "a.bias", "b"}));
}

struct Wider : Net {
  nn::Linear extra{1, 1};

  template <typename V>
  void visit(V&& v) const {
    nn::visit_members(static_cast<const Net&>(*this), v);
    v("extra", extra);
  }
};

TEST(Members, OfABaseAreNamedByVisit) {
  const Names names = parameter_names(Wider());
  ASSERT_EQ(names.size(), 6u);
  EXPECT_EQ(names[0], "hidden.weight");
  EXPECT_EQ(names[5], "extra.bias");
}

// A layer whose type is known when the program runs.
struct Layer {
  virtual ~Layer() = default;
  virtual void visit(nn::StateVisitor& v) const = 0;
};
class Dense : public Layer {
 public:
  void visit(nn::StateVisitor& v) const override { v("kernel", kernel_); }

 private:
  Tensor kernel_ = one();
};

TEST(Members, OfTypesKnownAtRunTimeAreNamedByAVirtualVisit) {
  struct Model {
    std::vector<std::unique_ptr<Layer>> layers;
    nn::Linear last;
  };
  Model model{{}, {1, 1}};
  model.layers.push_back(std::make_unique<Dense>());
  EXPECT_EQ(parameter_names(model), (Names{"layers.0.kernel", "last.weight", "last.bias"}));
}

TEST(Parameters, OfAModelThatHasNoneAreAnError) {
  struct Numbers {
    double p = 0.5;
    std::vector<nn::Linear> none;
  };
  const std::string message = error_of([] { nn::parameters(Numbers()); });
  EXPECT_NE(message.find("no tensor is found"), std::string::npos) << message;
  EXPECT_NE(message.find("members_test.cpp"), std::string::npos) << message;
  EXPECT_NE(error_of([] { nn::state_dict(Numbers()); }).find("no tensor"), std::string::npos);
  EXPECT_NE(error_of([] { nn::load_state_dict(Numbers(), {}); }).find("no tensor"),
            std::string::npos);
  EXPECT_EQ(nn::parameter_count(Numbers()), 0);
  struct Activation {};
  EXPECT_TRUE(nn::parameters(Activation()).empty());
}

TEST(Parameters, ThatAreNoneMakeNoOptimizer) {
  for (const std::string& message :
       {error_of([] { optim::SGD sgd({}); }), error_of([] { optim::Adam adam({}); }),
        error_of([] { optim::AdamW adam({}); })}) {
    EXPECT_NE(message.find("no parameters to train"), std::string::npos) << message;
    EXPECT_NE(message.find("members_test.cpp"), std::string::npos) << message;
  }
  EXPECT_NE(error_of([] { optim::SGD sgd({Tensor()}); }).find("not defined"), std::string::npos);
}

TEST(Parameters, AreTrainedOnceEach) {
  const Tensor a = one(), b = one();
  EXPECT_NE(error_of([&] {
              optim::Adam adam({a, b, a});
            }).find("parameters 0 and 2 are the same"),
            std::string::npos);
}

TEST(Parameters, ThatAFileLacksAreAnErrorWhenLoaded) {
  Net net;
  EXPECT_NE(error_of([&] { nn::load_state_dict(net, {}); }).find("no tensor hidden.weight"),
            std::string::npos);
}

}  // namespace
}  // namespace croze
