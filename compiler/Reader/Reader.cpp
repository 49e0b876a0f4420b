// Reader.cpp - the walk: expand, bind, check, write canonical, digest
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Reader/Reader.h"

#include "compiler/Reader/Bind.h"
#include "compiler/Reader/Canonical.h"
#include "compiler/Reader/Expand.h"
#include "contracts/algebra/Digest.h"

#include "mlir/IR/Verifier.h"

#include <stdexcept>

using namespace mlir;
using namespace bitpact;
using namespace bitpact::reader;

FailureOr<ReadResult> reader::readContract(StringRef path,
                                           const Library &library,
                                           MLIRContext *context) {
  FailureOr<Value> root = expandContract(path, library, context);
  if (failed(root))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> module =
      bindContract(*root, library, context);
  if (failed(module))
    return failure();
  // Every rule was checked above with places in the file.
  if (failed(verify(**module)))
    throw std::logic_error("the reader built IR that does not verify");

  ReadResult result;
  auto contract = *(*module)->getOps<pact::ContractOp>().begin();
  result.canonical = canonicalContract(contract, **module);
  result.digest = algebra::digest(result.canonical);
  contract.setDigest(result.digest);
  result.module = std::move(*module);
  return result;
}
