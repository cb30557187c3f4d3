// Curves as SVG and as text.
#include "croze/log/plot.h"

#include <gtest/gtest.h>

#include <cmath>

namespace croze::logs {
namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at++) found++;
  return found;
}

TEST(SvgPlot, HasTheCurvesAndTheirNames) {
  const Curve curves[] = {{"a & b", {{0, 0}, {50, 10}, {100, 5}}}, {"c", {{0, 10}, {100, 0}}}};
  const std::string svg = svg_plot(curves, {"<title>", "step", "loss"});
  EXPECT_EQ(svg.find("<svg "), 0u);
  EXPECT_EQ(count(svg, "<polyline"), 2);
  // Corners of the plot: (0, 0) is at the left below, (50, 10) in the middle above.
  EXPECT_NE(svg.find("points=\"64.0,376.0 382.0,40.0 700.0,208.0 \""), std::string::npos) << svg;
  EXPECT_NE(svg.find(">a &amp; b</text>"), std::string::npos);
  EXPECT_NE(svg.find(">&lt;title&gt;</text>"), std::string::npos);
  for (const char* mark : {">0<", ">20<", ">100<", ">2<", ">10<"}) {
    EXPECT_NE(svg.find(mark), std::string::npos) << mark;
  }
}

TEST(SvgPlot, LeavesOutWhatIsNotFinite) {
  const Curve curves[] = {{"loss", {{0, 1}, {1, NAN}, {2, INFINITY}, {3, 2}}}};
  const std::string svg = svg_plot(curves, {});
  EXPECT_NE(svg.find("points=\"64.0,376.0 700.0,40.0 \""), std::string::npos) << svg;
}

TEST(SvgPlot, TakesCurvesWithoutExtent) {
  const Curve curves[] = {{"none", {}}, {"one", {{5, 5}}}, {"large", {{5, 1e300}}}};
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_EQ(count(svg_plot(std::span(curves).subspan(i, 1), {}), "nan"), 0);
    EXPECT_LT(svg_plot(std::span(curves).subspan(i, 1), {}).size(), 5000u);
  }
}

// A line from the corner above on the left to the one below on the right.
TEST(TextPlot, DrawsALineOfDots) {
  const Curve curves[] = {{"line", {{0, 7}, {7, 0}}}};
  EXPECT_EQ(text_plot(curves, {"down", "step", ""}, 4, 2),
            "down\n"
            "        7 \u2502\u2811\u2884\u2800\u2800\n"
            "        0 \u2502\u2800\u2800\u2811\u2884\n"
            "          0 7 step\n");
}

TEST(TextPlot, TakesCurvesWithoutExtent) {
  const Curve curves[] = {{"one", {{5, 5}}}};
  EXPECT_EQ(count(text_plot({}, {"none", "", ""}, 8, 3), "\n"), 5);
  EXPECT_EQ(count(text_plot(curves, {"one", "", ""}, 8, 3), "\n"), 5);
}

}  // namespace
}  // namespace croze::logs
