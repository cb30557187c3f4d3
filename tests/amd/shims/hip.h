// hip.h -- the words of HIP C that kernels use, for a compiler that has none of its headers.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))

struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
extern const __device__ uint3 threadIdx, blockIdx;

__device__ void __syncthreads();
__device__ float sqrtf(float);
__device__ float truncf(float);
__device__ float fmaf(float, float, float);
__device__ double sqrt(double);
__device__ double trunc(double);
__device__ double fma(double, double, double);
__device__ bool signbit(float);
__device__ bool signbit(double);
