// histogram.h -- how the elements of a tensor are spread, in buckets that grow with their distance
// from zero.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace croze::logs {

// Counts of values by bucket: bucket i holds those from limits[i - 1] up to, and without,
// limits[i].  The first bucket of those made here is empty, so that all others have both ends.
struct Histogram {
  double least = 0, most = 0, count = 0, sum = 0, sum_of_squares = 0;
  std::vector<double> limits, counts;  // of one length
};

// The ends of buckets are zero and, on both sides of it, 1e-12 times the powers of 1.1, as
// TensorBoard has them.  Values that are not finite are left out.
Histogram histogram_of(std::span<const double> values);

}  // namespace croze::logs
