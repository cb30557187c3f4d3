/* export_c_main.c: runs the network that export_c.cpp has written over the images beside it, and
   compares its predictions with those of croze. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fashion.h"

enum { count = 1000, pixels = 28 * 28, classes = 10 };

static _Alignas(64) unsigned char arena[FASHION_ARENA_BYTES];
static fashion_state state;
static uint8_t images[count][pixels], expected[count];
static double microseconds[count];

static int read_file(const char* path, void* bytes, size_t size) {
  FILE* file = fopen(path, "rb");
  if (!file) return 0;
  const size_t read = fread(bytes, 1, size, file);
  fclose(file);
  return read == size;
}

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int predict(const uint8_t* image) {
  float scores[classes];
  fashion_run(&state, image, scores);
  int best = 0;
  for (int i = 1; i < classes; i++) best = scores[i] > scores[best] ? i : best;
  return best;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(void) {
  if (!read_file("images.bin", images, sizeof images) ||
      !read_file("predicted.bin", expected, sizeof expected)) {
    fprintf(stderr, "images.bin and predicted.bin are what export_c writes\n");
    return 1;
  }
  if (fashion_init(&state, arena, sizeof arena) != FASHION_OK) return 1;
  int equal = 0;
  for (int i = 0; i < count; i++) {
    const double begin = now();
    equal += predict(images[i]) == expected[i];
    microseconds[i] = now() - begin;
  }
  qsort(microseconds, count, sizeof microseconds[0], compare);
  printf("C: %.1f us a run (median); %d of %d predictions equal\n", microseconds[count / 2], equal,
         count);
  return equal == count ? 0 : 1;
}
