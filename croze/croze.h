// croze.h -- everything a program needs: #include <croze/croze.h>, link croze::croze.
//
// croze is a deep-learning compiler and framework.  You write ordinary tensor code:
//
//     #include <croze/croze.h>
//     #include <cstdio>
//
//     using croze::Tensor;
//
//     int main() {
//       Tensor x = Tensor::randn({64, 3});
//       Tensor y = croze::matmul(x, Tensor::from_data({1.f, -2.f, 3.f}, {3, 1}));
//       Tensor w = Tensor::zeros({3, 1}).realize();
//       for (int step = 0; step < 100; step++) {
//         Tensor loss = (matmul(x, w) - y).square().mean();
//         w -= 0.1 * loss.gradient({w})[0];
//         w.realize();
//       }
//       for (float v : w.to_vector<float>()) std::printf("%.3f ", v);  // 1.000 -2.000 3.000
//     }
//
// * Nothing is computed until a value is asked for, by realize(), item<T>() or to_vector<T>().
//   Until then operations are recorded; when the time comes the whole recording is scheduled into
//   few fused kernels, which are generated for the device at hand, compiled and run.
//   CROZE_DEBUG=2 prints them.
// * A Tensor is a handle: copying it is cheap and copies nothing.  Views share memory with what
//   they look at, everything else is a value of its own.
// * Gradients are a function of the recording: loss.gradient({w, b}) for any tensors that the
//   loss was computed from.  Nothing has to be marked beforehand and nothing accumulates.
// * Names, broadcasting and the meaning of each function follow PyTorch.  A number never widens a
//   tensor's dtype: a float16 tensor times 2.0 is float16.
// * A mistake throws croze::Error, whose what() names the operation, the shapes and the line of
//   the call.  croze::InternalError is a bug of ours.
//
// Where to look:
//   tensor/tensor.h       Tensor: creation, properties, computing, gradients; the list of methods
//   tensor/gradient.h     gradients given by functions, gradients of several tensors
//   tensor/elementwise/elementwise.h  arithmetic, comparison, rounding, maths
//   tensor/elementwise/special.h      special functions
//   tensor/elementwise/activation.h   activation functions
//   tensor/reduce/reduce.h       sum, mean, max, argmax, softmax, ...
//   tensor/movement/movement.h     reshape, permute, pad, cat, ...
//   tensor/movement/indexing.h     index, gather, scatter, embedding, ...
//   tensor/linalg/linalg.h       matmul and other products, einsum
//   tensor/linalg/solve.h        linear equations, determinants, matrix factors
//   tensor/signal/fft.h          Fourier transforms
//   tensor/network/conv.h         convolution, patches
//   tensor/network/pool.h         pooling
//   tensor/network/resample.h     images of another size, sampling at computed places
//   tensor/reduce/scan.h         running sums, products, extremes
//   tensor/reduce/sort.h         sorting, searching, counting
//   tensor/network/functional.h   norms, attention
//   tensor/random/random.h       draws from distributions, dropout
//   tensor/network/recurrent.h    recurrent cells and sequences
//   tensor/network/loss.h         losses and distances
//   tensor/print.h        tensors as text
//   tensor/benchmark.h    how long work takes
//   tensor/explain.h      why work takes its memory and its launches
//   run/trace/trace.h     what a program does, for `croze viz`
//   graph/dtype.h         DType and the promotion of dtypes
//   base/error.h          Error
#pragma once

#include "croze/base/error.h"
#include "croze/base/version.h"
#include "croze/graph/dtype.h"
#include "croze/run/trace/trace.h"
#include "croze/tensor/benchmark.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/special.h"
#include "croze/tensor/explain.h"
#include "croze/tensor/gradient.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/linalg/solve.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/conv.h"
#include "croze/tensor/network/functional.h"
#include "croze/tensor/network/loss.h"
#include "croze/tensor/network/pool.h"
#include "croze/tensor/network/recurrent.h"
#include "croze/tensor/network/resample.h"
#include "croze/tensor/print.h"
#include "croze/tensor/random/random.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/reduce/sort.h"
#include "croze/tensor/signal/fft.h"
#include "croze/tensor/tensor.h"
