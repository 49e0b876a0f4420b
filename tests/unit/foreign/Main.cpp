// Main.cpp - Catch2's main, and the worker that the tests start
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define CATCH_CONFIG_RUNNER
#include "tools/evidence/foreign/Worker.h"

#include <catch2/catch.hpp>

int main(int argc, char **argv) {
  using namespace bitpact::evidence::foreign;
  if (isWorker(argc, argv))
    return runWorker(argc, argv);
  return Catch::Session().run(argc, argv);
}
