// TileLowering.cpp - a contract and a tile schedule become a kernel
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Lowering/TileLowering.h"

#include "codegen/Lowering/Signature.h"
#include "codegen/Lowering/TileEarly.h"
#include "codegen/Lowering/TileProgram.h"

using namespace mlir;
using namespace bitpact;
using namespace bitpact::lowering;

tile::FuncOp lowering::lowerTiles(pact::ContractOp contract,
                                  pact::OperatorOp op,
                                  tile::ScheduleAttr schedule, StringRef symbol,
                                  ModuleOp into) {
  TileFamily family = llvm::cantFail(tileFamily(op));
  family.absent = absentOf(stepOf(contract, family.dots.front()));
  OpBuilder builder(into.getBodyRegion());
  builder.setInsertionPointToEnd(into.getBody());
  Signature signature = signatureOf(contract, op);
  if (!op.getOps<pact::TakeOp>().empty())
    signature.add(kernel::BufferType::get(builder.getContext(),
                                          builder.getI32Type()),
                  kernel::FuncOp::kFaultSlot);
  for (const std::string &tensor : steadyTensors(family, schedule))
    signature.add(builder.getI64Type(), tensor + tile::kSteadySlot.str());
  auto func = tile::FuncOp::create(builder, contract.getLoc(), symbol,
                                   signature.slots(builder.getContext()),
                                   schedule, contract.getDigestAttr());
  signature.addTo(func.getBody().emplaceBlock(), func.getLoc());
  TileProgram(contract, family, func).emit();
  return func;
}
