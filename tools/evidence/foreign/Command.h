// Command.h - a program that computes one tensor for each line it is given
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_EVIDENCE_FOREIGN_COMMAND_H
#define BITPACT_EVIDENCE_FOREIGN_COMMAND_H

#include "tools/evidence/foreign/Conversation.h"
#include "tools/evidence/foreign/Function.h"

#include <map>
#include <memory>

namespace bitpact::evidence::foreign {

/// What a command computes: `f32[rows] sum(f32[rows, n] x)`. Dims are named,
/// and what the output lacks is reduced; `rms_norm` reduces the last dim of x.
struct TensorSignature {
  std::string text;
  Formula formula = Formula::Sum;
  TensorType output;
  std::vector<TensorType> inputs; ///< shapes are empty
  std::string reduced;

  /// In the order in which they are first named.
  std::vector<std::string> dims() const;
};

/// Throws UserError for a text that is no such signature.
TensorSignature parseTensorSignature(std::string_view text);

/// For each run the program is given one line with the paths of its inputs as
/// .npy files, separated by spaces, and answers with one line: the path of its
/// output, or `error: ` and a message.
class Command : public Function {
public:
  Command(std::shared_ptr<Conversation> with, const TensorSignature &signature,
          const std::map<std::string, int64_t> &dims);

  Formula formula() const override { return signature.formula; }
  const std::vector<TensorType> &inputs() const override {
    return signature.inputs;
  }
  const TensorType &output() const override { return signature.output; }
  const std::string &name() const override { return conversation->command(); }
  std::vector<Tensor>
  call(const std::vector<std::vector<Tensor>> &runs) override;
  std::vector<std::string> notes() const override;

private:
  std::shared_ptr<Conversation> conversation;
  TensorSignature signature;
  std::vector<std::string> files;

  Tensor one(const std::vector<Tensor> &tensors);
  Tensor read(const std::string &answer) const;
};

} // namespace bitpact::evidence::foreign

#endif // BITPACT_EVIDENCE_FOREIGN_COMMAND_H
