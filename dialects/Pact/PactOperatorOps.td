// PactOperatorOps.td - ops that state a real-valued function
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef BITPACT_DIALECTS_PACT_PACTOPERATOROPS_TD
#define BITPACT_DIALECTS_PACT_PACTOPERATOROPS_TD

include "dialects/Pact/PactBase.td"
include "dialects/Pact/PactTypes.td"

def Pact_OperatorOp : Pact_Op<"operator",
    [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "a real-valued function F over named dimensions";
  let description = [{
    The body is a straight list of ops on `!pact.real` values; it fixes
    association and naming, never a format. Dimensions are distinct [F1];
    tensors, params, nodes and sites have distinct names [F4]; there is at
    least one output and every other value is used [F6].

    Example:

    ```mlir
    pact.operator @sum version 1 dims ["tokens", "hidden"] {
      %x = pact.input "x" : !pact.real<["tokens", "hidden"]>
      %s = pact.reduce "sum" sum over "hidden" (%x)
         : (!pact.real<["tokens", "hidden"]>) -> !pact.real<["tokens"]>
      pact.output "y" %s : !pact.real<["tokens"]>
    }
    ```
  }];
  let arguments = (ins Pact_Name:$sym_name, I64Attr:$version,
                       StrArrayAttr:$dims, OptionalAttr<StrAttr>:$doc);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `version` $version `dims` $dims (`doc` $doc^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
}

class Pact_FunctionOp<string mnemonic, list<Trait> traits = []>
    : Pact_Op<mnemonic, !listconcat(traits, [HasParent<"OperatorOp">])> {
  let hasVerifier = 1;
}

def Pact_InputOp : Pact_FunctionOp<"input", [Pure]> {
  let summary = "a tensor that the operator reads";
  let description = [{
    The dimensions of the result are those of the tensor, outermost first [F2].

    Example:

    ```mlir
    %w = pact.input "weight" : !pact.real<["hidden"]>
    ```
  }];
  let arguments = (ins StrAttr:$tensor);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = "$tensor attr-dict `:` qualified(type($result))";
}

def Pact_IndexOp : Pact_FunctionOp<"index", [Pure]> {
  let summary = "a tensor of positions that the operator reads";
  let description = [{
    Integers, which only `pact.take` uses, as its index [F11]. The dimensions of
    the result are those of the tensor, outermost first [F2].

    Example:

    ```mlir
    %target = pact.index "target" : !pact.real<["tokens"]>
    ```
  }];
  let arguments = (ins StrAttr:$tensor);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = "$tensor attr-dict `:` qualified(type($result))";
}

def Pact_SegmentOp : Pact_FunctionOp<"segment", [Pure]> {
  let summary = "the number of the block between offsets at every position";
  let description = [{
    An index, which only `pact.take` uses. At position t along `over` it is the
    block e with offsets[e] <= t < offsets[e + 1]; blocks between equal offsets
    hold no position. The offsets are an input with one dimension, not `over`,
    that segments alone read, and the result has the dimension `over` [F11].
    Where the offsets do not ascend from 0 to the extent of `over`, every
    position has the index -1, at which a take reads nothing.

    Example:

    ```mlir
    %expert = pact.segment %offsets over "tokens"
            : (!pact.real<["boundaries"]>) -> !pact.real<["tokens"]>
    ```
  }];
  let arguments = (ins Pact_RealType:$offsets, StrAttr:$over);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = [{
    $offsets `over` $over attr-dict `:` functional-type(operands, results)
  }];
}

def Pact_ParamOp : Pact_FunctionOp<"param", [Pure]> {
  let summary = "a number that the contract gives";
  let description = [{
    The contract names its format and rounds it once. It has no dimension [F3].

    Example:

    ```mlir
    %eps = pact.param "eps" : !pact.real<[]>
    ```
  }];
  let arguments = (ins StrAttr:$param);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = "$param attr-dict `:` qualified(type($result))";
}

def Pact_ExtentOp : Pact_FunctionOp<"extent", [Pure]> {
  let summary = "the number of elements of a dimension";
  let description = [{
    An integer, converted once in the format of the operation that uses it. The
    dimension is one of the operator's [F2]; the result has none [F3].

    Example:

    ```mlir
    %n = pact.extent "hidden" : !pact.real<[]>
    ```
  }];
  let arguments = (ins StrAttr:$dim);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = "$dim attr-dict `:` qualified(type($result))";
}

def Pact_ConstantOp : Pact_FunctionOp<"constant", [Pure]> {
  let summary = "a real constant in decimal";
  let description = [{
    Kept as text, so that it is rounded once, in the format of the operation
    that uses it. The text is a decimal number [F7] and the result has no
    dimension [F3].

    Example:

    ```mlir
    %half = pact.constant "0.5" : !pact.real<[]>
    ```
  }];
  let arguments = (ins StrAttr:$value);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = "$value attr-dict `:` qualified(type($result))";
}

class Pact_BinaryOp<string mnemonic, string what>
    : Pact_FunctionOp<mnemonic, [Pure]> {
  let summary = what;
  let description = [{
    One operation for every point of the union of its operands' dimensions
    [F3]. A `site` names where a contract rounds the result.

    Example:

    ```mlir
    %z = pact.}] # mnemonic # [{ %x, %r site "z"
       : (!pact.real<["tokens", "hidden"]>, !pact.real<["tokens"]>)
       -> !pact.real<["tokens", "hidden"]>
    ```
  }];
  let arguments = (ins Pact_RealType:$lhs, Pact_RealType:$rhs,
                       OptionalAttr<StrAttr>:$site);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`site` $site^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def Pact_AddOp : Pact_BinaryOp<"add", "sum of two reals">;
def Pact_SubOp : Pact_BinaryOp<"sub", "difference of two reals">;
def Pact_MulOp : Pact_BinaryOp<"mul", "product of two reals">;
def Pact_DivOp : Pact_BinaryOp<"div", "quotient of two reals">;
def Pact_MaxOp : Pact_BinaryOp<"max", "larger of two reals">;

class Pact_UnaryOp<string mnemonic, string what>
    : Pact_FunctionOp<mnemonic, [Pure]> {
  let summary = what;
  let description = [{
    The result has the dimensions of the operand [F3].

    Example:

    ```mlir
    %z = pact.}] # mnemonic # [{ %x site "z"
       : (!pact.real<["tokens"]>) -> !pact.real<["tokens"]>
    ```
  }];
  let arguments = (ins Pact_RealType:$operand, OptionalAttr<StrAttr>:$site);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = [{
    $operand (`site` $site^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Pact_NegOp : Pact_UnaryOp<"neg", "negated real">;
def Pact_AbsOp : Pact_UnaryOp<"abs", "absolute value of a real">;

def Pact_ApplyOp : Pact_FunctionOp<"apply", [Pure]> {
  let summary = "a function whose exact arithmetic the contract chooses";
  let description = [{
    The site is a primitive site: the contract binds it to a primitive of kind
    `function`. The result has the union of the operands' dimensions [F3].
    `rounded` names a site of its own, at which a contract rounds the result.

    Example:

    ```mlir
    %r = pact.apply "rsqrt" (%m) : (!pact.real<["tokens"]>)
       -> !pact.real<["tokens"]>
    %a = pact.apply "silu" (%g) rounded "activation"
       : (!pact.real<["tokens", "out"]>) -> !pact.real<["tokens", "out"]>
    ```
  }];
  let arguments = (ins StrAttr:$site, Variadic<Pact_RealType>:$args,
                       OptionalAttr<StrAttr>:$rounded);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = [{
    $site `(` $args `)` (`rounded` $rounded^)? attr-dict `:`
    functional-type($args, results)
  }];
}

def Pact_ReduceOp : Pact_FunctionOp<"reduce", [Pure]> {
  let summary = "a node: a reduction over one dimension";
  let description = [{
    `sum` adds, `dot` adds products of two operands, `max` takes the largest.
    Every operand has the dimension `over` [F5], the result has the others of
    their union [F3]. The contract gives the node its domain, partition, merge
    tree and precision, and binds the primitive site `<node>.step`.

    `exp_sum` adds e^(x - m), where m is the `max` of the same x over the same
    dimension [S1]. It opens further primitive sites: `<node>.weight`, and where
    the contract lets the maximum run `<node>.rescale` and `<node>.combine`.

    A `site` names where a contract rounds the value of the node.

    Example:

    ```mlir
    %q = pact.reduce "sum_sq" dot over "hidden" (%x, %x)
       : (!pact.real<["tokens", "hidden"]>, !pact.real<["tokens", "hidden"]>)
       -> !pact.real<["tokens"]>
    %m = pact.reduce "max" max over "vocab" (%z)
       : (!pact.real<["tokens", "vocab"]>) -> !pact.real<["tokens"]>
    %l = pact.reduce "sum" exp_sum over "vocab" (%z, %m)
       : (!pact.real<["tokens", "vocab"]>, !pact.real<["tokens"]>)
       -> !pact.real<["tokens"]>
    %p = pact.reduce "dot" dot over "in" (%x, %w) site "product"
       : (!pact.real<["tokens", "in"]>, !pact.real<["out", "in"]>)
       -> !pact.real<["tokens", "out"]>
    ```
  }];
  let arguments = (ins StrAttr:$node, Pact_ReduceKind:$kind, StrAttr:$over,
                       Variadic<Pact_RealType>:$args,
                       OptionalAttr<StrAttr>:$site);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = [{
    $node $kind `over` $over `(` $args `)` (`site` $site^)? attr-dict `:`
    functional-type($args, results)
  }];
}

def Pact_TakeOp : Pact_FunctionOp<"take", [Pure]> {
  let summary = "the element at a position that an index gives";
  let description = [{
    The value at that position along `over`, unrounded. The first operand has
    this dimension and the index has not; the result has the others of both
    [F11]. Where the index lies outside the extent the value is NaN and nothing
    is read.

    Example:

    ```mlir
    %t = pact.take %x over "vocab" at %target
       : (!pact.real<["tokens", "vocab"]>, !pact.real<["tokens"]>)
       -> !pact.real<["tokens"]>
    ```
  }];
  let arguments = (ins Pact_RealType:$operand, StrAttr:$over,
                       Pact_RealType:$index);
  let results = (outs Pact_RealType:$result);
  let assemblyFormat = [{
    $operand `over` $over `at` $index attr-dict `:`
    functional-type(operands, results)
  }];
}

def Pact_OutputOp : Pact_FunctionOp<"output"> {
  let summary = "a tensor that the operator writes";
  let description = [{
    Its rounding site is named like the tensor unless `site` says otherwise;
    `getSiteName` gives the name either way.

    Example:

    ```mlir
    pact.output "y" %v : !pact.real<["tokens", "hidden"]>
    ```
  }];
  let arguments = (ins StrAttr:$tensor, Pact_RealType:$value,
                       OptionalAttr<StrAttr>:$site);
  let assemblyFormat = [{
    $tensor $value (`site` $site^)? attr-dict `:` qualified(type($value))
  }];
  let extraClassDeclaration = [{
    ::llvm::StringRef getSiteName() {
      return getSite().value_or(getTensor());
    }
  }];
}

#endif
