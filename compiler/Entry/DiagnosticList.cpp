// DiagnosticList.cpp - severity, file, line, column, message, notes
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Entry/DiagnosticList.h"

#include "mlir/IR/Location.h"

using namespace mlir;
using namespace bitpact;
using nlohmann::json;

static json describe(Diagnostic &diagnostic) {
  json result = {{"severity", "error"},
                 {"file", ""},
                 {"line", 0},
                 {"column", 0},
                 {"message", diagnostic.str()}};
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Note:
    result["severity"] = "note";
    break;
  case DiagnosticSeverity::Warning:
    result["severity"] = "warning";
    break;
  case DiagnosticSeverity::Remark:
    result["severity"] = "remark";
    break;
  case DiagnosticSeverity::Error:
    break;
  }
  if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
    result["file"] = place.getFilename().str();
    result["line"] = place.getLine();
    result["column"] = place.getColumn();
  }
  return result;
}

entry::DiagnosticList::DiagnosticList(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        json each = describe(diagnostic);
        each["notes"] = json::array();
        for (Diagnostic &note : diagnostic.getNotes())
          each["notes"].push_back(describe(note));
        diagnostics.push_back(std::move(each));
        return success();
      }) {
  // Users write contracts; the IR made of them is not theirs to read.
  context->printOpOnDiagnostic(false);
}

json entry::plainError(const std::string &message) {
  return {{"severity", "error"}, {"file", ""},
          {"line", 0},           {"column", 0},
          {"message", message},  {"notes", json::array()}};
}
