// Steps.cu - the matrix-unit instructions of Hopper, one step each
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/atoms/Steps.h"

#include <cstdio>
#include <cuda_runtime.h>

namespace bitpact::tests {
namespace {

__device__ uint32_t pairOf(const uint16_t *at) {
  return *reinterpret_cast<const uint32_t *>(at);
}

/// A fragment of m16n8k16: rows g and g+8, columns 2t, 2t+1 and 8 further on.
__device__ void loadA(const uint16_t *a, int row, int t, uint32_t (&out)[4]) {
  out[0] = pairOf(a + row * tileDepth + 2 * t);
  out[1] = pairOf(a + (row + 8) * tileDepth + 2 * t);
  out[2] = pairOf(a + row * tileDepth + 2 * t + 8);
  out[3] = pairOf(a + (row + 8) * tileDepth + 2 * t + 8);
}

#define MMA_K16(TYPE)                                                          \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE          \
               ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"    \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),        \
                 "r"(b[1]))
#define MMA_K8(TYPE, A0, A1, B)                                                \
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." TYPE "." TYPE           \
               ".f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"             \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                \
               : "r"(A0), "r"(A1), "r"(B))
// TA, TB: "1" where the operand lies along its other dimension.
#define WGMMA_SHARED(TYPE, TA, TB)                                             \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32." TYPE "." TYPE      \
               " {%0,%1,%2,%3}, %4, %5, 1, 1, 1, " TA ", " TB ";"              \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                \
               : "l"(descriptorA), "l"(descriptorB))
#define WGMMA_REGISTER(TYPE)                                                   \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32." TYPE "." TYPE      \
               " {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;"                \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),                   \
                 "l"(descriptorB))

/// No swizzle; both offsets between core matrices (8 rows of 16 bytes).
__device__ uint64_t descriptor(const void *shared, int leading, int stride) {
  uint64_t address = __cvta_generic_to_shared(shared);
  return (address & 0x3ffff) >> 4 | uint64_t(leading >> 4) << 16 |
         uint64_t(stride >> 4) << 32;
}

template <int instruction, bool f16>
__global__ void __launch_bounds__(128)
    step(const uint16_t *allA, const uint16_t *allB, const float *allC,
         float *allD) {
  __shared__ alignas(128) uint16_t sharedA[aElements], sharedB[bElements];
  const size_t tile = blockIdx.x;
  const uint16_t *tileA = allA + tile * aElements;
  const uint16_t *tileB = allB + tile * bElements;
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  const int t = lane % 4;
  const size_t at = tile * cElements + row * tileColumns + 2 * t;
  float d[4] = {allC[at], allC[at + 1], allC[at + 8 * tileColumns],
                allC[at + 8 * tileColumns + 1]};

  uint32_t a[4], b[2];
  loadA(tileA, row, t, a);
  b[0] = pairOf(tileB + lane / 4 * tileDepth + 2 * t);
  b[1] = pairOf(tileB + lane / 4 * tileDepth + 2 * t + 8);

  if constexpr (instruction == MmaK16) {
    if constexpr (f16)
      MMA_K16("f16");
    else
      MMA_K16("bf16");
  } else if constexpr (instruction == MmaK8) {
    if constexpr (f16) {
      MMA_K8("f16", a[0], a[1], b[0]);
      MMA_K8("f16", a[2], a[3], b[1]);
    } else {
      MMA_K8("bf16", a[0], a[1], b[0]);
      MMA_K8("bf16", a[2], a[3], b[1]);
    }
  } else {
    constexpr bool transposedA = instruction == WgmmaTransposedAB;
    constexpr bool transposedB =
        instruction == WgmmaTransposedB || transposedA;
    // Core matrices of 8 × 8: (m / 8, k / 8) at 256 and 128 bytes.
    for (int i = threadIdx.x; i < aElements; i += 128) {
      int m = i / tileDepth, k = i % tileDepth;
      int inner = transposedA ? k % 8 * 8 + m % 8 : m % 8 * 8 + k % 8;
      sharedA[m / 8 * 128 + k / 8 * 64 + inner] = tileA[i];
    }
    for (int i = threadIdx.x; i < bElements; i += 128) {
      int n = i / tileDepth, k = i % tileDepth;
      int inner = transposedB ? k % 8 * 8 + n % 8 : n % 8 * 8 + k % 8;
      sharedB[k / 8 * 64 + inner] = tileB[i];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    uint64_t descriptorA = descriptor(sharedA, 128, 256);
    uint64_t descriptorB = descriptor(sharedB, 128, 128);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    if constexpr (instruction == WgmmaRegister) {
      if constexpr (f16)
        WGMMA_REGISTER("f16");
      else
        WGMMA_REGISTER("bf16");
    } else if constexpr (transposedA) {
      if constexpr (f16)
        WGMMA_SHARED("f16", "1", "1");
      else
        WGMMA_SHARED("bf16", "1", "1");
    } else if constexpr (transposedB) {
      if constexpr (f16)
        WGMMA_SHARED("f16", "0", "1");
      else
        WGMMA_SHARED("bf16", "0", "1");
    } else {
      if constexpr (f16)
        WGMMA_SHARED("f16", "0", "0");
      else
        WGMMA_SHARED("bf16", "0", "0");
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  }
  allD[at] = d[0];
  allD[at + 1] = d[1];
  allD[at + 8 * tileColumns] = d[2];
  allD[at + 8 * tileColumns + 1] = d[3];
}

using Kernel = void (*)(const uint16_t *, const uint16_t *, const float *,
                        float *);
template <bool f16> Kernel kernelOf(Instruction instruction) {
  switch (instruction) {
  case MmaK16:
    return step<MmaK16, f16>;
  case MmaK8:
    return step<MmaK8, f16>;
  case WgmmaShared:
    return step<WgmmaShared, f16>;
  case WgmmaRegister:
    return step<WgmmaRegister, f16>;
  case WgmmaTransposedB:
    return step<WgmmaTransposedB, f16>;
  default:
    return step<WgmmaTransposedAB, f16>;
  }
}

/// Device memory of one call.
struct Memory {
  void *pointer = nullptr;
  cudaError_t state;
  explicit Memory(size_t bytes) : state(cudaMalloc(&pointer, bytes)) {}
  ~Memory() { cudaFree(pointer); }
};

} // namespace

const char *deviceName(const char **why) {
  static cudaDeviceProp properties;
  int count = 0;
  cudaError_t state = cudaGetDeviceCount(&count);
  if (state == cudaSuccess)
    state = cudaGetDeviceProperties(&properties, 0);
  if (state != cudaSuccess) {
    *why = cudaGetErrorString(state);
    return nullptr;
  }
  if (properties.major != 9 || properties.minor != 0) {
    *why = "the device is not of compute capability 9.0";
    return nullptr;
  }
  return properties.name;
}

const char *runTiles(Instruction instruction, bool f16, int tiles,
                     const uint16_t *a, const uint16_t *b, const uint32_t *c,
                     uint32_t *d) {
  size_t sizeA = size_t(2) * aElements * tiles;
  size_t sizeB = size_t(2) * bElements * tiles;
  size_t sizeC = size_t(4) * cElements * tiles;
  Memory onA(sizeA), onB(sizeB), onC(sizeC), onD(sizeC);
  for (const Memory *memory : {&onA, &onB, &onC, &onD})
    if (memory->state != cudaSuccess)
      return cudaGetErrorString(memory->state);
  cudaMemcpy(onA.pointer, a, sizeA, cudaMemcpyHostToDevice);
  cudaMemcpy(onB.pointer, b, sizeB, cudaMemcpyHostToDevice);
  cudaMemcpy(onC.pointer, c, sizeC, cudaMemcpyHostToDevice);
  Kernel kernel =
      f16 ? kernelOf<true>(instruction) : kernelOf<false>(instruction);
  kernel<<<tiles, 128>>>(static_cast<const uint16_t *>(onA.pointer),
                         static_cast<const uint16_t *>(onB.pointer),
                         static_cast<const float *>(onC.pointer),
                         static_cast<float *>(onD.pointer));
  cudaMemcpy(d, onD.pointer, sizeC, cudaMemcpyDeviceToHost);
  cudaError_t state = cudaGetLastError();
  return state == cudaSuccess ? nullptr : cudaGetErrorString(state);
}

} // namespace bitpact::tests
