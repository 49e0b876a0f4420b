// Symbol.cpp - the parent's side of calling a symbol in a child process
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/foreign/Symbol.h"
#include "tools/evidence/UserError.h"
#include "tools/evidence/foreign/Worker.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

using nlohmann::json;

namespace bitpact::evidence::foreign {
namespace {

/// Of the shared memory, unless one run needs more.
constexpr int64_t BatchBytes = 16 << 20;

int64_t storedBytes(const Operand &operand) {
  return operand.storedElements() * bytesOf(operand.type);
}

/// Between a row-major tensor and the operand's own layout.
template <class Move>
void eachElement(const Operand &operand, const Move &move) {
  int64_t width = bytesOf(operand.type);
  size_t rank = operand.shape.size();
  int64_t rows = rank > 1 ? operand.shape[0] : 1;
  int64_t columns = rank > 0 ? operand.shape.back() : 1;
  int64_t rowStride = rank > 1 ? operand.strides[0] : 0;
  int64_t stride = rank > 0 ? operand.strides.back() : 0, dense = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      move((i * rowStride + j * stride) * width, dense++ * width, width);
}

bool isDense(const Operand &operand) {
  size_t rank = operand.shape.size();
  return !rank || (operand.strides.back() == 1 &&
                   (rank == 1 || operand.strides[0] == operand.shape[1]));
}

void store(const Operand &operand, const Tensor &tensor, uint8_t *to) {
  if (isDense(operand)) {
    std::memcpy(to, tensor.bytes.data(), tensor.bytes.size());
    return;
  }
  // NaNs between the elements show whether they are read.
  std::memset(to, 0xff, static_cast<size_t>(storedBytes(operand)));
  eachElement(operand, [&](int64_t stored, int64_t dense, int64_t width) {
    std::memcpy(to + stored, tensor.bytes.data() + dense, width);
  });
}

void load(const Operand &operand, const uint8_t *from, Tensor &tensor) {
  eachElement(operand, [&](int64_t stored, int64_t dense, int64_t width) {
    std::memcpy(tensor.bytes.data() + dense, from + stored, width);
  });
}

} // namespace

SymbolPath parseSymbolPath(const std::string &text) {
  size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size() ||
      text.find('/', colon) != std::string::npos)
    throw UserError("--library",
                    fmt::format("'{}' is not LIBRARY:SYMBOL, for instance "
                                "libopenblas.so.0:cblas_sdot",
                                text));
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Symbol::Symbol(const SymbolPath &path, const Signature &signature,
               const std::map<std::string, int64_t> &dims,
               const SymbolOptions &options)
    : path(path), options(options),
      computes(signature.operation == Operation::Sum ? Formula::Sum
                                                     : Formula::Dot),
      layout(makeCall(signature, dims)),
      label(path.library + ":" + path.symbol) {
  for (const Operand &operand : layout.operands) {
    TensorType type{operand.name, *formatOf(operand.type), operand.dims,
                    operand.shape};
    runBytes += aligned(storedBytes(operand));
    if (operand.output)
      outputType = type;
    else
      inputTypes.push_back(type);
  }
  perBatch = std::max<int64_t>(BatchBytes / runBytes, 1);
  mappedBytes = SharedAlignment + perBatch * runBytes;
  memory = Descriptor(::memfd_create("operands", MFD_CLOEXEC));
  size_t size = static_cast<size_t>(mappedBytes);
  if (memory.get() < 0 || ::ftruncate(memory.get(), mappedBytes))
    throw UserError(label, "no memory for the operands");
  void *address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED,
                         memory.get(), 0);
  if (address == MAP_FAILED)
    throw UserError(label, "no memory for the operands");
  mapped.reset(address, [size](void *at) { ::munmap(at, size); });
  start();
}

void Symbol::start() {
  worker = std::make_unique<Process>(
      std::vector<std::string>{options.tool, WorkerArgument,
                               fmt::to_string(memory.get())},
      Process::Environment{}, memory.get());
  json operands = json::array(), arguments = json::array();
  for (const Operand &operand : layout.operands)
    operands.push_back({{"name", operand.name},
                        {"bytes", storedBytes(operand)},
                        {"output", operand.output}});
  for (const Argument &argument : layout.arguments)
    arguments.push_back({{"kind", static_cast<int>(argument.kind)},
                         {"type", static_cast<int>(argument.type)},
                         {"bits", argument.bits},
                         {"operand", argument.operand}});
  static_cast<SharedHeader *>(mapped.get())->started = 0;
  json answer = ask({{"library", path.library},
                     {"symbol", path.symbol},
                     {"operands", operands},
                     {"arguments", arguments},
                     {"result", static_cast<int>(layout.result)}},
                    "while it was loaded");
  if (answer.contains("error"))
    throw UserError(answer["place"] == "library" ? path.library : label,
                    answer["error"].get<std::string>());
  notice(answer);
}

json Symbol::ask(const json &request, const char *doing) {
  std::string line;
  int64_t runs = request.value("runs", int64_t(0));
  if (!worker->writeLine(request.dump()))
    died(doing, runs);
  switch (worker->readLine(line, options.timeout)) {
  case Process::Answer::Line:
    return json::parse(line);
  case Process::Answer::TimedOut:
    worker->kill();
    worker.reset();
    throw UserError(label, fmt::format("did not return {} within {} s; input "
                                       "{} (--timeout sets the limit)",
                                       doing, options.timeout, shapes()));
  default:
    died(doing, runs);
  }
}

void Symbol::died(const char *doing, int64_t runs) {
  Process::Ending ending = worker->ending();
  std::string printed = worker->errors(400);
  worker.reset();
  uint64_t started = static_cast<SharedHeader *>(mapped.get())->started;
  std::string message = "the process that called it " + ending.text;
  if (ending.status >= 0)
    message = fmt::format("ended the process that called it, with status {}",
                          ending.status);
  message += fmt::format(", {}", doing);
  if (runs)
    message += fmt::format(" (call {} of {})", started, runs);
  message += "; input " + shapes();
  if (!printed.empty())
    message += fmt::format("; it printed: {}", printed);
  throw UserError(label, message);
}

void Symbol::notice(const json &answer) {
  if (answer.contains("environment") && answer["environment"] != "")
    environment = answer["environment"];
  if (answer.contains("changed"))
    changed = answer["changed"];
  if (answer.contains("overrun"))
    throw UserError(label, fmt::format("wrote beyond the end of '{}'; input {}",
                                       answer["overrun"].get<std::string>(),
                                       shapes()));
}

std::vector<Tensor> Symbol::call(const std::vector<std::vector<Tensor>> &runs) {
  if (!worker)
    start();
  std::vector<Tensor> outputs;
  uint8_t *base = static_cast<uint8_t *>(mapped.get()) + SharedAlignment;
  for (size_t begin = 0; begin < runs.size();) {
    size_t count = std::min(runs.size() - begin, static_cast<size_t>(perBatch));
    uint8_t *at = base;
    for (size_t run = begin; run < begin + count; ++run) {
      size_t input = 0;
      for (const Operand &operand : layout.operands) {
        if (operand.output)
          std::memset(at, 0, static_cast<size_t>(storedBytes(operand)));
        else if (const Tensor &tensor = runs[run].at(input);
                 static_cast<int64_t>(tensor.bytes.size()) !=
                 inputTypes[input++].bytes())
          throw std::logic_error("an operand of another size");
        else
          store(operand, tensor, at);
        at += aligned(storedBytes(operand));
      }
    }
    notice(ask({{"runs", count}}, "in a call"));
    at = base;
    for (size_t run = begin; run < begin + count; ++run)
      for (const Operand &operand : layout.operands) {
        if (operand.output) {
          Tensor tensor{outputType.format, outputType.shape, {}};
          tensor.bytes.resize(static_cast<size_t>(outputType.bytes()));
          load(operand, at, tensor);
          outputs.push_back(std::move(tensor));
        }
        at += aligned(storedBytes(operand));
      }
    begin += count;
  }
  return outputs;
}

std::vector<std::string> Symbol::notes() const {
  std::vector<std::string> list;
  if (!environment.empty())
    list.push_back("the library changed the process: " + environment);
  if (!changed.empty())
    list.push_back(fmt::format("it changes its input '{}'", changed));
  if (std::string printed = worker ? worker->errors(200) : ""; !printed.empty())
    list.push_back(fmt::format("it printed: {}", lastLine(printed)));
  for (const char *variable : {"OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE",
                               "OMP_NUM_THREADS", "MKL_NUM_THREADS"})
    if (const char *value = std::getenv(variable))
      list.push_back(fmt::format("{}={}", variable, value));
  return list;
}

} // namespace bitpact::evidence::foreign
