// States.cpp - contracts of an exp_sum, with primitives that a hand can follow
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/reference/States.h"

namespace bitpact::tests {

using nlohmann::json;

static json stateDefinitions() {
  json all = definitions();
  all["ratio.f32"] = json::parse(R"({"kind":"function","args":["f32","f32"],
    "result":"f32","yield":"v3","body":[
     {"id":"v0","op":"cmp","pred":"oeq","type":"i1","args":["a0","a1"]},
     {"id":"v1","op":"constant","type":"f32","bits":"3f800000"},
     {"id":"v2","op":"div","type":"f32","args":["a0","a1"]},
     {"id":"v3","op":"select","type":"f32","args":["v0","v1","v2"]}]})");
  // 1 / (1 + (x - m)²): no ratio, but total, and falls off as e^(x - m) does.
  all["bell.f32"] = json::parse(R"({"kind":"function","args":["f32","f32"],
    "result":"f32","yield":"v5","body":[
     {"id":"v0","op":"cmp","pred":"oeq","type":"i1","args":["a0","a1"]},
     {"id":"v1","op":"constant","type":"f32","bits":"3f800000"},
     {"id":"v2","op":"sub","type":"f32","args":["a0","a1"]},
     {"id":"v3","op":"fma","type":"f32","args":["v2","v2","v1"]},
     {"id":"v4","op":"div","type":"f32","args":["v1","v3"]},
     {"id":"v5","op":"select","type":"f32","args":["v0","v1","v4"]}]})");
  all["combine.mul_add.f32"] = json::parse(R"({"kind":"function",
    "args":["f32","f32","f32","f32"],"result":"f32","yield":"v2","body":[
     {"id":"v0","op":"mul","type":"f32","args":["a0","a1"]},
     {"id":"v1","op":"mul","type":"f32","args":["a2","a3"]},
     {"id":"v2","op":"add","type":"f32","args":["v0","v1"]}]})");
  all["combine.fma.f32"] = json::parse(R"({"kind":"function",
    "args":["f32","f32","f32","f32"],"result":"f32","yield":"v1","body":[
     {"id":"v0","op":"mul","type":"f32","args":["a2","a3"]},
     {"id":"v1","op":"fma","type":"f32","args":["a0","a1","v0"]}]})");
  return all;
}

static json nodeOf(const StateText &text, bool isState) {
  json node = {{"domain", "vocab"},
               {"partition", isState ? text.partition : "j:*"},
               {"merge", {"j pairwise"}},
               {"start", text.start},
               {"precision", {{"accumulator", "f32"}}}};
  if (text.extent)
    node["domain"] = {
        {"vocab", {{"extent", text.extent}, {"stored", text.stored}}}};
  if (isState) {
    node["merge"] = text.merge;
    node["state"] = text.state;
  }
  return node;
}

json stateContract(const StateText &text) {
  json c = json::parse(R"({"bitpact":1,"name":"n","op":{"name":"state",
    "version":1,"dims":["rows","vocab"],"params":[],
    "tensors":[{"name":"x","kind":"in","dims":["rows","vocab"]},
               {"name":"l","kind":"out","dims":["rows"]},
               {"name":"m","kind":"out","dims":["rows"]}],
    "body":[{"id":"v0","op":"input","tensor":"x"},
            {"id":"v1","op":"reduce","node":"max","kind":"max",
             "over":"vocab","args":["v0"]},
            {"id":"v2","op":"reduce","node":"sum","kind":"exp_sum",
             "over":"vocab","args":["v0","v1"]},
            {"op":"output","tensor":"l","site":"l","args":["v2"]},
            {"op":"output","tensor":"m","site":"m","args":["v1"]}]},
    "dims":{"rows":"*","vocab":"*"},"params":{},
    "rounding":{"l":{"format":"f32","mode":"rne"},
                "m":{"format":"f32","mode":"rne"}}})");
  if (text.extent)
    c["dims"]["vocab"] = text.stored;
  c["definitions"] = stateDefinitions();
  c["types"] = {{"x", text.input}, {"l", "f32"}, {"m", "f32"}};
  c["nodes"] = {{"max", nodeOf(text, false)}, {"sum", nodeOf(text, true)}};
  c["primitives"] = {{"max.step", "max.maximum.f32"},
                     {"sum.step", "sum.add.f32"},
                     {"sum.weight", text.weight}};
  if (text.state == "online")
    c["primitives"]["sum.rescale"] = text.weight;
  for (const std::string &entry : text.merge)
    if (entry.find(" merge") != std::string::npos)
      c["primitives"]["sum.combine"] = text.combine;
  return c;
}

json takeContract(const StateText &text, const std::string &index) {
  json c = stateContract(text);
  json &op = c["op"];
  op["tensors"].push_back(
      {{"name", "at"}, {"kind", "index"}, {"dims", {"rows"}}});
  for (const char *name : {"t", "n"})
    op["tensors"].push_back(
        {{"name", name}, {"kind", "out"}, {"dims", {"rows"}}});
  json more = json::parse(R"([
    {"id":"i","op":"index","tensor":"at"},
    {"id":"t","op":"take","over":"vocab","args":["v0","i"]},
    {"op":"output","tensor":"t","site":"t","args":["t"]},
    {"id":"e","op":"extent","dim":"vocab"},
    {"id":"s","op":"sub","args":["v1","v1"]},
    {"id":"n","op":"add","args":["s","e"]},
    {"op":"output","tensor":"n","site":"n","args":["n"]}])");
  op["body"].insert(op["body"].end(), more.begin(), more.end());
  c["types"]["at"] = index;
  c["types"]["t"] = c["types"]["n"] = "f32";
  c["rounding"]["t"] = c["rounding"]["n"] = c["rounding"]["l"];
  return c;
}

double stateRow(const StateText &text, const std::vector<double> &row) {
  reference::Evaluator evaluator(stateContract(text));
  Tensor x = tensorOf(*algebra::parseFormat(text.input),
                      {1, static_cast<int64_t>(row.size())}, row);
  return valuesOf(evaluator.run({{"x", x}}).at("l"))[0];
}

} // namespace bitpact::tests
