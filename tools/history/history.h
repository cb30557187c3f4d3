// history.h -- measurements of many commits: one file for each commit and machine, as
// `croze-bench all` writes them.
//
// A figure has a value for each round, which was a process of its own.  Their least and most are
// its noise: a figure is marked as a regression where even the best round of a commit is more than
// 5 % worse than the worst round of the commit before on the same machine.
#pragma once

#include <span>
#include <string>

#include "command_line/json.h"

namespace croze {

constexpr double regression_limit = 0.05;
// The member that tells these files from others; its value is the version of the format.
constexpr const char* measurement_mark = "croze-bench";
constexpr int measurement_version = 1;

// How much worse the best of `now` is than the worst of `before`, as a part of that; negative if it
// is not.  Both hold something.
double worsening(std::span<const double> before, std::span<const double> now, bool is_less_better);

// All measurements of a folder and those in it, commits in the order of their dates:
//
//   commits  [{commit, date, subject, changed, machine}], an object for each file
//   figures  [{machine, name, unit, better, peers: {name: value}, intensity,
//             points: [{commit, value, least, most, worsening, regression}]}]
//
// where `commit` is a number in commits, value a median, and peers are those of the last point; the
// peer "peak" is what the processor can do.  The intensity, operations for a byte, is there if it
// is known. Files of other kinds are passed over.  Throws Error, naming the file, for what is
// damaged.
Json history_of(const std::string& folder);

// Prints the figures of the last commit of each machine beside those of the commit before; returns
// how many regressions are among them.
int print_last(const Json& history);

}  // namespace croze
