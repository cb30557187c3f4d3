/* export_c_main.c: runs a model that export_c.cpp has written over what croze was given, and
   compares the results with croze's.  An argument says how many runs are enough, for slow machines.
   A second one asks for so many runs more, over the last inputs, and for the worst of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"

enum { inputs = sizeof given / sizeof given[0], results = sizeof computed / sizeof computed[0] };

static double microseconds[runs];

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static int read_inputs(FILE* file) {
  for (int i = 0; i < inputs; i++) {
    if (fread(given[i], 1, given_bytes[i], file) != given_bytes[i]) return 0;
  }
  return 1;
}

/* The greatest distance of a result from the expected one, relative to the greatest number there.
   A file that ends early and what is no number are far from everything. */
static double distance(FILE* expected) {
  double worst = 0;
  for (int i = 0; i < results; i++) {
    double most = 0, greatest = 0;
    for (size_t k = 0; k < computed_count[i]; k++) {
      float value;
      if (fread(&value, sizeof value, 1, expected) != 1) return HUGE_VAL;
      const double apart = fabs((double)computed[i][k] - (double)value);
      if (!(apart <= most)) most = apart == apart ? apart : HUGE_VAL;
      if (fabs((double)value) > greatest) greatest = fabs((double)value);
    }
    if (most > worst * greatest) worst = most / greatest;
  }
  return worst;
}

/* What whoever must be done in time wants to know.  Other programs have their part in the worst. */
static int run_on(size_t count) {
  double* const times = malloc(count * sizeof times[0]);
  if (!times || count == 0) return 0;
  for (size_t i = 0; i < count; i++) {
    const double begin = now();
    run();
    times[i] = now() - begin;
  }
  qsort(times, count, sizeof times[0], ascending);
  printf("C: %zu runs more: %.1f us the median, %.1f that of 99.99 %%, %.1f the worst\n", count,
         times[count / 2], times[count - 1 - count / 10000], times[count - 1]);
  free(times);
  return 1;
}

int main(int arguments, char** argument) {
  const int asked = arguments > 1 ? atoi(argument[1]) : 0;
  const int count = asked > 0 && asked < runs ? asked : runs;
  FILE* inputs_file = fopen("given.bin", "rb");
  FILE* expected = fopen("expected.bin", "rb");
  if (!inputs_file || !expected || !start()) {
    fprintf(stderr, "given.bin and expected.bin are what export_c writes\n");
    return 1;
  }
  double worst = 0;
  for (int i = 0; i < count; i++) {
    if (!read_inputs(inputs_file)) return 1;
    const double begin = now();
    run();
    microseconds[i] = now() - begin;
    const double apart = distance(expected);
    if (apart > worst) worst = apart;
  }
  fclose(inputs_file);
  fclose(expected);
  qsort(microseconds, (size_t)count, sizeof microseconds[0], ascending);
  printf("C: %.1f us a run (%.1f at best), %.2f of croze's; %d runs, results within %.1e: %s\n",
         microseconds[count / 2], microseconds[0], microseconds[count / 2] / croze_microseconds,
         count, worst, worst <= tolerance ? "equal" : "DIFFERENT");
  if (arguments > 2 && !run_on((size_t)atol(argument[2]))) return 1;
  return worst <= tolerance ? 0 : 1;
}
