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
//   tensor/elementwise.h  arithmetic, comparison, rounding, maths
//   tensor/special.h      special functions
//   tensor/activation.h   activation functions
//   tensor/reduce.h       sum, mean, max, argmax, softmax, ...
//   tensor/movement.h     reshape, permute, pad, cat, ...
//   tensor/indexing.h     index, gather, scatter, embedding, ...
//   tensor/linalg.h       matmul and other products, einsum
//   tensor/solve.h        linear equations, determinants, matrix factors
//   tensor/fft.h          Fourier transforms
//   tensor/conv.h         convolution, patches
//   tensor/pool.h         pooling
//   tensor/resample.h     images of another size, sampling at computed places
//   tensor/scan.h         running sums, products, extremes
//   tensor/sort.h         sorting, searching, counting
//   tensor/functional.h   norms, attention
//   tensor/random.h       draws from distributions, dropout
//   tensor/recurrent.h    recurrent cells and sequences
//   tensor/loss.h         losses and distances
//   graph/dtype.h         DType and the promotion of dtypes
//   base/error.h          Error
#pragma once

#include "base/error.h"
#include "base/version.h"
#include "graph/dtype.h"
#include "tensor/activation.h"
#include "tensor/conv.h"
#include "tensor/elementwise.h"
#include "tensor/fft.h"
#include "tensor/functional.h"
#include "tensor/indexing.h"
#include "tensor/linalg.h"
#include "tensor/loss.h"
#include "tensor/movement.h"
#include "tensor/pool.h"
#include "tensor/random.h"
#include "tensor/recurrent.h"
#include "tensor/reduce.h"
#include "tensor/resample.h"
#include "tensor/scan.h"
#include "tensor/solve.h"
#include "tensor/sort.h"
#include "tensor/special.h"
#include "tensor/tensor.h"
