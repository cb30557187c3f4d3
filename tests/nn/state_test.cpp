// Finding the tensors of a model: names, order, containers, buffers, loading.
#include "croze/nn/state.h"

#include <map>
#include <memory>

#include "nn/models.h"

namespace croze {
namespace {

using test::error_of;
using test::names_of;
using Names = std::vector<std::string>;

Tensor ones(const Shape& shape) { return Tensor::ones(shape).realize(); }

struct Pair2 {
  Tensor weight = ones({2});
  Tensor bias = ones({1});
};

struct Nested {
  Pair2 first;
  std::vector<Pair2> layers{2};
  std::array<Tensor, 2> two = {ones({1}), ones({1})};
  std::optional<Pair2> maybe;
  std::unique_ptr<Pair2> owned = std::make_unique<Pair2>();
  double dropout = 0.1;
  bool causal = true;
  std::string title = "net";
  DType dtype = DType::Float32;
  Tensor (*activation)(const Tensor&, Location) = relu;
  Shape kernel{3, 3};
  Tensor last = ones({4});

  Tensor operator()(const Tensor& x) const { return activation(x * last, {}); }
};

TEST(State, NamesOfMembersAreFoundInOrder) {
  Nested net;
  EXPECT_EQ(
      names_of(nn::named_parameters(net)),
      (Names{"first.weight", "first.bias", "layers.0.weight", "layers.0.bias", "layers.1.weight",
             "layers.1.bias", "two.0", "two.1", "owned.weight", "owned.bias", "last"}));
  net.maybe.emplace();
  net.owned.reset();
  EXPECT_EQ(names_of(nn::named_parameters(net))[8], "maybe.weight");
  EXPECT_EQ(nn::parameter_count(net), 3 + 2 * 3 + 2 + 3 + 4);
}

TEST(State, ParametersAreHandles) {
  Pair2 pair;
  for (Tensor& p : nn::parameters(pair)) p.assign(7);
  EXPECT_EQ(pair.weight.to_vector<float>(), (std::vector<float>{7, 7}));
  EXPECT_EQ(pair.bias.item<float>(), 7);
}

class Private {
 public:
  template <typename V>
  void visit(V&& v) const {
    v("kernel", secret_);
    v("inner", inner_);
  }

 private:
  Tensor secret_ = ones({3});
  Pair2 inner_;
};

TEST(State, AStructMayNameItsMembersItself) {
  struct Model {
    Private part;
  };
  EXPECT_EQ(names_of(nn::named_parameters(Model())),
            (Names{"part.kernel", "part.inner.weight", "part.inner.bias"}));
}

TEST(State, BuffersAndIntegersAreStateButNotTrained) {
  struct Model {
    Tensor weight = ones({2});
    nn::Buffer mean = ones({2});
    Tensor count = Tensor::from_data({1}, {1});
    Tensor absent;
  };
  const Model model;
  EXPECT_EQ(names_of(nn::named_parameters(model)), Names{"weight"});
  EXPECT_EQ(names_of(nn::state_dict(model)), (Names{"weight", "mean", "count"}));
}

TEST(State, ASharedTensorIsListedOnce) {
  struct Model {
    Tensor embedding = ones({2});
    Tensor output = embedding;
  };
  EXPECT_EQ(names_of(nn::named_parameters(Model())), Names{"embedding"});
}

TEST(State, StructsOfManyMembersAndLocalOnesWork) {
  struct Wide {
    Tensor a = ones({1}), b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a,
           l = a;
    Tensor m = a, n = a, o = a, p = a, q = a, r = a, s = a, t = a, u = a, v = a, w = a;
    Tensor last_of_all = ones({1});
  };
  EXPECT_EQ(names_of(nn::named_parameters(Wide())), (Names{"a", "last_of_all"}));
}

TEST(State, ATensorAndAVectorAreModelsToo) {
  EXPECT_EQ(nn::parameters(ones({2})).size(), 1u);
  EXPECT_EQ(names_of(nn::named_parameters(std::vector<Pair2>(1))), (Names{"0.weight", "0.bias"}));
}

// ---- loading ----------------------------------------------------------------------------------

TEST(LoadStateDict, AssignsByNameAndConverts) {
  Pair2 pair;
  nn::load_state_dict(
      pair, {{"bias", Tensor::from_data({5.0}, {1})}, {"weight", Tensor::from_data({1, 2}, {2})}});
  EXPECT_EQ(pair.weight.dtype(), DType::Float32);
  EXPECT_EQ(pair.weight.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(pair.bias.item<float>(), 5);
}

TEST(LoadStateDict, RefusesWhatDoesNotFitAndChangesNothing) {
  Pair2 pair;
  const Tensor two = Tensor::from_data({3.f, 4.f}, {2}), one = Tensor::from_data({5.f}, {1});
  EXPECT_NE(error_of([&] {
              nn::load_state_dict(pair, {{"weight", two}});
            }).find("no tensor bias"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              nn::load_state_dict(pair, {{"weight", two}, {"bias", one}, {"extra", one}});
            }).find("no tensor extra"),
            std::string::npos);
  const std::string message = error_of([&] {
    nn::load_state_dict(pair, {{"weight", two}, {"bias", two}});
  });
  EXPECT_NE(message.find("bias has shape (2,), where the model has (1,)"), std::string::npos)
      << message;
  EXPECT_NE(error_of([&] {
              nn::load_state_dict(pair, {{"weight", two}, {"bias", one}, {"bias", one}});
            }).find("stands twice"),
            std::string::npos);
  EXPECT_EQ(pair.weight.to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(LoadStateDict, NotStrictTakesWhatThereIs) {
  Pair2 pair;
  const Tensor two = Tensor::from_data({3.f, 4.f}, {2});
  nn::load_state_dict(pair, {{"weight", two}, {"extra", two}}, false);
  EXPECT_EQ(pair.weight.to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(pair.bias.item<float>(), 1);
}

TEST(LoadStateDict, RestoresAModel) {
  const nn::Linear saved(3, 2);
  nn::Linear loaded(3, 2);
  nn::load_state_dict(loaded, nn::state_dict(saved));
  EXPECT_EQ(loaded.weight.to_vector<float>(), saved.weight.to_vector<float>());
  // A copy, not the same memory.
  loaded.weight += 1;
  loaded.weight.realize();
  EXPECT_NE(loaded.weight.to_vector<float>(), saved.weight.to_vector<float>());
}

}  // namespace
}  // namespace croze
