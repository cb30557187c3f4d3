// Types of 2, 4 and 8 bits, against numbers worked out by hand.
#include <cmath>

#include "croze/io/onnx/model.h"
#include "io/onnx/messages.h"
#include "support/files.h"

namespace croze {
namespace {

using namespace croze::test;
using Numbers = std::vector<double>;
using onnx::ElementType;

class OnnxNarrow : public FilesTest {
 protected:
  onnx::Value run(const Message& made, const Message& initializer, std::int64_t opset) const {
    const GraphProto g{.nodes = {made},
                       .initializers = {initializer},
                       .inputs = {},
                       .outputs = {value_info("y", Float, {})}};
    return onnx::Model(file("model.onnx", model(g, opset).bytes())).run({}).at("y");
  }
  // What the codes in a file stand for.
  Numbers stored(Type type, std::int64_t count, std::string_view bytes) const {
    const onnx::Value y =
        run(node("Identity", {"w"}, {"y"}), tensor("w", type, {count}).text(9, bytes), 25);
    EXPECT_EQ(static_cast<std::int64_t>(y.element_type()), type);
    return y.tensor().to_vector<double>();
  }
  Numbers cast(Type type, const std::vector<float>& numbers, std::int64_t opset,
               std::string_view round_mode = "up") const {
    const Message mode = Message().text(1, "round_mode").text(4, round_mode).integer(20, 3);
    const auto count = static_cast<std::int64_t>(numbers.size());
    const onnx::Value y = run(node("Cast", {"w"}, {"y"}, {attribute("to", type), mode}),
                              floats("w", {count}, numbers), opset);
    EXPECT_EQ(static_cast<std::int64_t>(y.element_type()), type);
    return y.tensor().to_vector<double>();
  }
};

TEST_F(OnnxNarrow, TheFirstElementOfAByteIsInItsLowestBits) {
  EXPECT_EQ(stored(UInt2, 5, "\xe4\x02"), (Numbers{0, 1, 2, 3, 2}));
  EXPECT_EQ(stored(Int2, 4, "\xe4"), (Numbers{0, 1, -2, -1}));
  EXPECT_EQ(stored(Int4, 3, "\x87\x0f"), (Numbers{7, -8, -1}));
}

TEST_F(OnnxNarrow, Float4HasSixteenCodes) {
  EXPECT_EQ(stored(Float4, 16, "\x10\x32\x54\x76\x98\xba\xdc\xfe"),
            (Numbers{0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6}));
}

TEST_F(OnnxNarrow, Float8E8M0IsAPowerOfTwoOrNoNumber) {
  const Numbers y = stored(Float8E8M0, 5, std::string_view("\x00\x01\x7f\xfe\xff", 5));
  EXPECT_EQ(Numbers(y.begin(), y.end() - 1),
            (Numbers{std::ldexp(1, -127), std::ldexp(1, -126), 1, std::ldexp(1, 127)}));
  EXPECT_TRUE(std::isnan(y.back()));
}

TEST_F(OnnxNarrow, NumbersBeyondFewBitsKeepTheirLowBitsFromOpset24On) {
  EXPECT_EQ(cast(Int4, {9, -9, 7}, 24), (Numbers{-7, 7, 7}));
  EXPECT_EQ(cast(Int4, {9, -9, 7}, 21), (Numbers{7, -8, 7}));
  EXPECT_EQ(cast(UInt2, {5, -1, 2}, 25), (Numbers{1, 3, 2}));
  EXPECT_EQ(cast(Int2, {2, -3, -2}, 25), (Numbers{-2, 1, -2}));
}

TEST_F(OnnxNarrow, Float4RoundsHalvesToEvenCodesAndStaysInRange) {
  EXPECT_EQ(cast(Float4, {0.25f, 0.75f, 1.25f, 2.5f, 3.5f, 5, 5.1f, 100, -1.75f}, 23),
            (Numbers{0, 1, 1, 2, 4, 4, 6, 6, -2}));
}

TEST_F(OnnxNarrow, PowersOfTwoAreRoundedAsTheModeSays) {
  const std::vector<float> numbers{1, 1.25f, 1.5f, 3, 5};
  EXPECT_EQ(cast(Float8E8M0, numbers, 24, "up"), (Numbers{1, 2, 2, 4, 8}));
  EXPECT_EQ(cast(Float8E8M0, numbers, 24, "down"), (Numbers{1, 1, 1, 2, 4}));
  EXPECT_EQ(cast(Float8E8M0, numbers, 24, "nearest"), (Numbers{1, 1, 2, 4, 4}));
  EXPECT_NE(error_of([&] { cast(Float8E8M0, numbers, 24, "odd"); }).find("round_mode"),
            std::string::npos);
}

}  // namespace
}  // namespace croze
