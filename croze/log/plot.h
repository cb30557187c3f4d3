// plot.h -- curves as a picture: an SVG file, or text for a terminal.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace croze::logs {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>>
      points;  // x and y, x rising; what is not finite is left out
};

struct PlotLabels {
  std::string title, x, y;
};

// A whole file of 720 by 420, with axes and a legend.  Up to eight curves have colours of their
// own.
std::string svg_plot(std::span<const Curve> curves, const PlotLabels& labels);

// Lines of `columns` by `rows` characters and more for the axes, in the dots of Braille: eight of a
// character.  Curves look alike.
std::string text_plot(std::span<const Curve> curves, const PlotLabels& labels, int columns = 64,
                      int rows = 12);

}  // namespace croze::logs
