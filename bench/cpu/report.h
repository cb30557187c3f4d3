// report.h -- what was measured of a suite, held against its limits.
#pragma once

#include <string>
#include <vector>

#include "command_line/json.h"
#include "cpu/case.h"
#include "cpu/contest.h"

namespace croze::bench {

struct MeasuredCase {
  const Case* measured;
  Outcome outcome;
};
struct MeasuredGroup {
  const Group* group;
  std::vector<MeasuredCase> cases;
};

struct Unit {
  const char* name;
  double size;
};
Unit unit_of(Work work);  // of what is done in a second

// A row for each limit (measure.h): speed relative to the best peer, where there is one; share of
// the peak; time with fresh results; for a group the geometric mean of its speeds.
Json limit_rows(const std::vector<MeasuredGroup>& groups, Work work);

// An object for each case: times with quartiles, rates, peers.
Json case_rows(const std::vector<MeasuredGroup>& groups, Work work);

void print_head(Work work);
void print_case(const MeasuredCase& c, Work work);

}  // namespace croze::bench
