// Contracts.cpp - small contracts and tensors for the evaluator's tests
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/reference/Contracts.h"

#include "contracts/reference/Arithmetic.h"

#include <cstring>

namespace bitpact::tests {

using nlohmann::json;

json definitions() {
  json all = json::object();
  for (const char *f : {"f16", "bf16", "f32", "f64"}) {
    std::string format = f;
    all["sum.add." + format] = json::parse(R"({"kind":"step","reduction":"sum",
      "args":["T","T"],"result":"T","yield":"v0",
      "body":[{"id":"v0","op":"add","type":"T","args":["a0","a1"]}]})");
    all["max.maximum." + format] = json::parse(R"({"kind":"step",
      "reduction":"max","args":["T","T"],"result":"T","yield":"v0",
      "body":[{"id":"v0","op":"maximum","type":"T","args":["a0","a1"]}]})");
    all["dot.fma." + format] = json::parse(R"({"kind":"step",
      "reduction":"dot","product":"exact","args":["T","T","T"],"result":"T",
      "yield":"v0",
      "body":[{"id":"v0","op":"fma","type":"T","args":["a0","a1","a2"]}]})");
    all["dot.mul_add." + format] = json::parse(R"({"kind":"step",
      "reduction":"dot","product":"T","args":["T","T","T"],"result":"T",
      "yield":"v1",
      "body":[{"id":"v0","op":"mul","type":"T","args":["a0","a1"]},
              {"id":"v1","op":"add","type":"T","args":["a2","v0"]}]})");
    all["rsqrt.div_sqrt." + format] = json::parse(R"({"kind":"function",
      "args":["T"],"result":"T","yield":"v3",
      "body":[{"id":"v1","op":"sqrt","type":"T","args":["a0"]},
              {"id":"v2","op":"div","type":"T","args":["v1","v1"]},
              {"id":"v3","op":"div","type":"T","args":["v2","v1"]}]})");
    std::string text = all.dump();
    for (size_t at; (at = text.find("\"T\"")) != std::string::npos;)
      text.replace(at + 1, 1, format);
    all = json::parse(text);
  }
  // 1 as a constant, where the format has one way to write it.
  all["rsqrt.div_sqrt.f32"]["body"][1] = {
      {"id", "v2"}, {"op", "constant"}, {"type", "f32"}, {"bits", "3f800000"}};
  for (const char *element : {"bf16", "f16"})
    for (int terms : {4, 8, 16})
      for (int fraction : {24, 25, 26}) {
        std::string name = "dot.nv(" + std::to_string(terms) + "," +
                           std::to_string(fraction) + ")";
        all[name + "." + element] = {{"kind", "atom"},
                                     {"reduction", "dot"},
                                     {"product", "exact"},
                                     {"atom", "dot.nv"},
                                     {"L", terms},
                                     {"F", fraction},
                                     {"args", {element, element, "f32"}},
                                     {"result", "f32"}};
      }
  return all;
}

static json nodeJson(const std::string &kind, const NodeText &node,
                     const std::string &over, const std::string &step,
                     const json &defs) {
  json result = {{"domain", over},
                 {"partition", node.partition},
                 {"merge", node.merge},
                 {"start", node.start},
                 {"precision", {{"accumulator", node.accumulator}}}};
  if (kind == "dot")
    result["precision"]["product"] = defs.at(step).at("product");
  return result;
}

static std::string stepName(const std::string &kind, const NodeText &node) {
  if (!node.step.empty())
    return node.step;
  return (kind == "sum"   ? "sum.add."
          : kind == "max" ? "max.maximum."
                          : "dot.fma.") +
         node.accumulator;
}

static json rne(const std::string &format) {
  return {{"format", format}, {"mode", "rne"}};
}

json reduceContract(const std::string &kind, const NodeText &node) {
  json c = json::parse(R"({"bitpact":1,"name":"n","op":{"name":"reduce",
    "version":1,"dims":["rows","hidden"],"params":[],
    "tensors":[{"name":"x","kind":"in","dims":["rows","hidden"]},
               {"name":"y","kind":"out","dims":["rows"]}],
    "body":[{"id":"v0","op":"input","tensor":"x"},
            {"id":"v1","op":"reduce","node":"total","kind":"sum",
             "over":"hidden","args":["v0"]},
            {"op":"output","tensor":"y","site":"y","args":["v1"]}]},
    "dims":{"rows":"*","hidden":"*"},"params":{}})");
  c["op"]["body"][1]["kind"] = kind;
  c["definitions"] = definitions();
  std::string output = node.output.empty() ? node.accumulator : node.output;
  std::string step = stepName(kind, node);
  c["types"] = {{"x", node.input}, {"y", output}};
  c["nodes"] = {
      {"total", nodeJson(kind, node, "hidden", step, c["definitions"])}};
  c["rounding"] = {{"y", rne(output)}};
  c["primitives"] = {{"total.step", step}};
  return c;
}

json dotContract(const NodeText &node) {
  json c = json::parse(R"({"bitpact":1,"name":"n","op":{"name":"dot",
    "version":1,"dims":["m","n","k"],"params":[],
    "tensors":[{"name":"a","kind":"in","dims":["m","k"]},
               {"name":"b","kind":"in","dims":["n","k"]},
               {"name":"y","kind":"out","dims":["m","n"]}],
    "body":[{"id":"v0","op":"input","tensor":"a"},
            {"id":"v1","op":"input","tensor":"b"},
            {"id":"v2","op":"reduce","node":"total","kind":"dot",
             "over":"k","args":["v0","v1"]},
            {"op":"output","tensor":"y","site":"y","args":["v2"]}]},
    "dims":{"m":"*","n":"*","k":"*"},"params":{}})");
  c["definitions"] = definitions();
  std::string output = node.output.empty() ? node.accumulator : node.output;
  std::string step = stepName("dot", node);
  c["types"] = {{"a", node.input}, {"b", node.input}, {"y", output}};
  c["nodes"] = {{"total", nodeJson("dot", node, "k", step, c["definitions"])}};
  c["rounding"] = {{"y", rne(output)}};
  c["primitives"] = {{"total.step", step}};
  return c;
}

json groupedContract(const NodeText &node) {
  json c = dotContract(node), &op = c["op"];
  op["dims"] = {"m", "e", "bounds", "n", "k"};
  op["tensors"][1]["dims"] = {"e", "n", "k"};
  op["tensors"].push_back(
      {{"name", "offsets"}, {"kind", "in"}, {"dims", {"bounds"}}});
  op["body"] = json::parse(R"([
    {"id":"v0","op":"input","tensor":"a"},
    {"id":"v1","op":"input","tensor":"b"},
    {"id":"v2","op":"input","tensor":"offsets"},
    {"id":"v3","op":"segment","over":"m","args":["v2"]},
    {"id":"v4","op":"take","over":"e","args":["v1","v3"]},
    {"id":"v5","op":"reduce","node":"total","kind":"dot","over":"k",
     "args":["v0","v4"]},
    {"op":"output","tensor":"y","site":"y","args":["v5"]}])");
  c["dims"] = {{"m", "*"}, {"e", "*"}, {"bounds", "*"}, {"n", "*"}, {"k", "*"}};
  c["types"]["offsets"] = "i32";
  return c;
}

json rmsNormContract(const NodeText &node, const std::string &type,
                     const std::string &epsBits) {
  json c = json::parse(R"({"bitpact":1,"name":"n","op":{"name":"rms_norm",
    "version":1,"dims":["tokens","hidden"],"params":["eps"],
    "tensors":[{"name":"x","kind":"in","dims":["tokens","hidden"]},
               {"name":"weight","kind":"in","dims":["hidden"]},
               {"name":"y","kind":"out","dims":["tokens","hidden"]}],
    "body":[
     {"id":"v0","op":"input","tensor":"x"},
     {"id":"v1","op":"input","tensor":"weight"},
     {"id":"v2","op":"param","param":"eps"},
     {"id":"v3","op":"reduce","node":"sum_sq","kind":"dot","over":"hidden",
      "args":["v0","v0"]},
     {"id":"v4","op":"extent","dim":"hidden"},
     {"id":"v5","op":"div","args":["v3","v4"],"site":"mean_sq"},
     {"id":"v6","op":"add","args":["v5","v2"]},
     {"id":"v7","op":"apply","site":"rsqrt","args":["v6"]},
     {"id":"v8","op":"mul","args":["v0","v7"],"site":"normed"},
     {"id":"v9","op":"mul","args":["v8","v1"]},
     {"op":"output","tensor":"y","site":"y","args":["v9"]}]},
    "dims":{"tokens":"*","hidden":"*"}})");
  c["definitions"] = definitions();
  std::string step = stepName("dot", node);
  c["types"] = {{"x", type}, {"weight", type}, {"y", type}};
  c["params"] = {{"eps", {{"format", "f32"}, {"bits", epsBits}}}};
  c["nodes"] = {
      {"sum_sq", nodeJson("dot", node, "hidden", step, c["definitions"])}};
  c["rounding"] = {
      {"mean_sq", rne("f32")}, {"normed", rne("f32")}, {"y", rne(type)}};
  c["primitives"] = {{"sum_sq.step", step}, {"rsqrt", "rsqrt.div_sqrt.f32"}};
  return c;
}

json elementwiseContract(const json &body, const json &rounding,
                         const std::string &type, const std::string &output) {
  json c = json::parse(R"({"bitpact":1,"name":"n","op":{"name":"map",
    "version":1,"dims":["n"],"params":[],
    "tensors":[{"name":"x","kind":"in","dims":["n"]},
               {"name":"w","kind":"in","dims":["n"]},
               {"name":"c","kind":"in","dims":["n"]},
               {"name":"y","kind":"out","dims":["n"]}],
    "body":[{"id":"v0","op":"input","tensor":"x"},
            {"id":"v1","op":"input","tensor":"w"},
            {"id":"v2","op":"input","tensor":"c"}]},
    "dims":{"n":"*"},"params":{},"nodes":{},"primitives":{}})");
  for (const json &op : body)
    c["op"]["body"].push_back(op);
  c["definitions"] = definitions();
  c["types"] = {{"x", type}, {"w", type}, {"c", type}, {"y", output}};
  c["rounding"] = rounding;
  c["rounding"]["y"] = rne(output);
  return c;
}

Tensor tensorOfBits(Format format, std::vector<int64_t> shape,
                    const std::vector<uint64_t> &bits) {
  Tensor tensor{format, std::move(shape), {}};
  size_t width = algebra::bytes(format);
  tensor.bytes.resize(bits.size() * width);
  for (size_t i = 0; i < bits.size(); ++i)
    std::memcpy(tensor.bytes.data() + i * width, &bits[i], width);
  return tensor;
}

Tensor tensorOf(Format format, std::vector<int64_t> shape,
                const std::vector<double> &values) {
  std::vector<uint64_t> bits;
  for (double value : values)
    bits.push_back(reference::encode(format, value));
  return tensorOfBits(format, std::move(shape), bits);
}

std::vector<uint64_t> bitsOf(const Tensor &tensor) {
  size_t width = algebra::bytes(tensor.format);
  std::vector<uint64_t> bits(tensor.bytes.size() / width, 0);
  for (size_t i = 0; i < bits.size(); ++i)
    std::memcpy(&bits[i], tensor.bytes.data() + i * width, width);
  return bits;
}

Tensor randomTensor(std::vector<int64_t> shape, std::mt19937 &random) {
  std::vector<double> values;
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  for (int64_t i = 0; i < elements; ++i)
    values.push_back(
        static_cast<float>(static_cast<double>(random()) * 0x1p-32 - 0.5));
  return tensorOf(Format::F32, std::move(shape), values);
}

std::vector<double> valuesOf(const Tensor &tensor) {
  std::vector<double> values;
  for (uint64_t bits : bitsOf(tensor))
    values.push_back(reference::decode(tensor.format, bits));
  return values;
}

double reduceRow(const std::string &kind, const NodeText &node,
                 const std::vector<double> &row) {
  reference::Evaluator evaluator(reduceContract(kind, node));
  Tensor x = tensorOf(*algebra::parseFormat(node.input),
                      {1, static_cast<int64_t>(row.size())}, row);
  return valuesOf(evaluator.run({{"x", x}}).at("y"))[0];
}

double dotRow(const NodeText &node, const std::vector<double> &a,
              const std::vector<double> &b) {
  reference::Evaluator evaluator(dotContract(node));
  Format format = *algebra::parseFormat(node.input);
  std::vector<int64_t> shape{1, static_cast<int64_t>(a.size())};
  return valuesOf(evaluator
                      .run({{"a", tensorOf(format, shape, a)},
                            {"b", tensorOf(format, shape, b)}})
                      .at("y"))[0];
}

} // namespace bitpact::tests
