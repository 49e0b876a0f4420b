// TensorFileTest.cpp - tensor files: round trips and hostile headers
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/evidence/TensorFile.h"
#include "tests/unit/evidence/Temporary.h"
#include "tools/evidence/UserError.h"

#include <catch2/catch.hpp>
#include <filesystem>

using namespace bitpact::evidence;
using bitpact::algebra::Format;
using bitpact::tests::Temporary;
using Catch::Matchers::Contains;

namespace {

Tensor sample(Format format, std::vector<int64_t> shape) {
  Tensor tensor{format, std::move(shape), {}};
  int64_t bytes = bitpact::algebra::bytes(format);
  for (int64_t extent : tensor.shape)
    bytes *= extent;
  for (int64_t i = 0; i < bytes; ++i)
    tensor.bytes.push_back(static_cast<uint8_t>(i * 37 + 11));
  return tensor;
}

std::string npy(const std::string &header, const std::string &data,
                char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  if (version > 1)
    bytes += std::string(2, '\0');
  return bytes + header + data;
}

std::string safetensors(const std::string &header, const std::string &data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

} // namespace

TEST_CASE("what is written is read back") {
  Temporary temporary;
  for (Format format : {Format::BF16, Format::F16, Format::F32, Format::F64,
                        Format::I32, Format::I64})
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {3}, {2, 5}, {0, 4}, {2, 3, 4}}) {
      Tensor tensor = sample(format, shape);
      std::string file = temporary.write("a.npy", npyBytes(tensor));
      CHECK(readNpy(file, format == Format::BF16) == tensor);
      Tensor other = sample(Format::F32, {7});
      file = temporary.write(
          "a.safetensors",
          safetensorsBytes({{"the one", &tensor}, {"other", &other}}));
      CHECK(readSafetensors(file, "the one") == tensor);
      CHECK(readSafetensors(file, "other") == other);
    }
}

TEST_CASE("npy as NumPy 2 writes it") {
  Temporary temporary;
  // Written by hand after numpy/lib/format.py: 118 bytes of header, 128 in all.
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  header.resize(117, ' ');
  header += '\n';
  std::string data("\0\0\x80\x3f\0\0\0\xc0", 8);
  for (char version : {1, 2, 3}) {
    Tensor tensor =
        readNpy(temporary.write("x.npy", npy(header, data, version)), false);
    CHECK(tensor.format == Format::F32);
    CHECK(tensor.shape == std::vector<int64_t>{1, 2});
    CHECK(std::string(tensor.bytes.begin(), tensor.bytes.end()) == data);
  }
  Tensor tensor = sample(Format::F32, {1, 2});
  CHECK(npyBytes(tensor).substr(0, 128) == npy(header, ""));
}

TEST_CASE("hostile .npy files are refused with a reason") {
  Temporary temporary;
  auto [header, data, reason] =
      GENERATE(table<std::string, std::string, std::string>({
          {"", "", "expected '{'"},
          {"{'descr': '<f4'}", "", "needs the keys"},
          {"{'descr': '<f4', 'descr': '<f4'}", "", "key 'descr' twice"},
          {"{'descr': '<f4', 'x': 1}", "", "unknown key 'x'"},
          {"{'descr': '<f4', 'fortran_order': No, 'shape': (1,)}", "",
           "neither True nor False"},
          {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "1234",
           "element type '>f4' is not read"},
          {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "1234",
           "element type '|O' is not read"},
          {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}",
           "0123456789abcdef", "Fortran order"},
          {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "",
           "is no extent"},
          {"{'descr': '<f4', 'fortran_order': False, 'shape': (1e9,)}", "",
           "expected ')'"},
          {"{'descr': '<f4', 'fortran_order': False, 'shape': "
           "(99999999999999999999,)}",
           "", "is no extent"},
          {"{'descr': '<f4', 'fortran_order': False, 'shape': "
           "(4611686018427387904, 4)}",
           "", "too many elements"},
          {"{'descr': '<f4', 'fortran_order': False, 'shape': "
           "(4611686018427387904,)}",
           "", "the file holds 0 bytes of data"},
          {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "1234567",
           "needs 2 elements, the file holds 7 bytes"},
          {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
           "123456789", "needs 2 elements, the file holds 9 bytes"},
          {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} junk",
           "12345678", "after the closing brace"},
      }));
  std::string file = temporary.write("bad.npy", npy(header, data));
  CHECK_THROWS_WITH(readNpy(file, false), Contains(reason));
}

TEST_CASE("a .npy file cut anywhere is refused") {
  Temporary temporary;
  std::string whole = npyBytes(sample(Format::F32, {2, 3}));
  for (size_t length = 0; length < whole.size(); ++length)
    CHECK_THROWS_AS(
        readNpy(temporary.write("cut.npy", whole.substr(0, length)), false),
        UserError);
  std::string huge =
      whole.substr(0, 6) + std::string("\2\0\xff\xff\xff\xff", 6);
  CHECK_THROWS_WITH(readNpy(temporary.write("huge.npy", huge), false),
                    Contains("at most 10000 are read"));
}

TEST_CASE("hostile .safetensors files are refused with a reason") {
  Temporary temporary;
  auto [header, data, reason] =
      GENERATE(table<std::string, std::string, std::string>({
          {"", "", "no JSON object"},
          {"[]", "", "no JSON object"},
          {"{\"a\":", "", "no JSON object"},
          {"{\"a\":1}", "", "needs dtype, shape and data_offsets"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
           R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           "1234", "tensor 'a' twice"},
          {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "1234",
           "no extent"},
          {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})",
           "1234", "no extent"},
          {R"({"a":{"dtype":"F32","shape":{},"data_offsets":[0,4]}})", "1234",
           "shape is no list"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", "1234",
           "no two offsets"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "1234",
           "lie outside"},
          {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "1234",
           "is the file truncated?"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,)"
           R"(18446744073709551615]}})",
           "1234", "lie outside"},
          {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234",
           "needs 2 elements, its data_offsets hold 4 bytes"},
          {R"({"a":{"dtype":"F32","shape":[9223372036854775807,3],)"
           R"("data_offsets":[0,4]}})",
           "1234", "too many elements"},
          {R"({"a":{"dtype":"U64","shape":[1],"data_offsets":[0,8]}})",
           "12345678", "dtype U64 is not read"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           "12345678", "overlap or leave a gap at data byte 0"},
          {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           "12345678", "4 bytes after the last tensor"},
      }));
  std::string file =
      temporary.write("bad.safetensors", safetensors(header, data));
  CHECK_THROWS_WITH(readSafetensors(file, "a"), Contains(reason));
}

TEST_CASE("a .safetensors file cut anywhere is refused") {
  Temporary temporary;
  Tensor tensor = sample(Format::F32, {2, 3});
  std::string whole = safetensorsBytes({{"a", &tensor}});
  for (size_t length = 0; length < whole.size(); ++length)
    CHECK_THROWS_AS(
        readSafetensors(
            temporary.write("cut.safetensors", whole.substr(0, length)), "a"),
        UserError);
  std::string huge(8, '\xff');
  CHECK_THROWS_WITH(
      readSafetensors(temporary.write("h.safetensors", huge + "{}"), "a"),
      Contains("header of 18446744073709551615 bytes"));
}

TEST_CASE("a tensor that is not there is answered with those that are") {
  Temporary temporary;
  Tensor tensor = sample(Format::F32, {1});
  std::string file = temporary.write(
      "two.safetensors", safetensorsBytes({{"p", &tensor}, {"q", &tensor}}));
  CHECK_THROWS_WITH(readSafetensors(file, "r"),
                    Contains("no tensor 'r'; it holds: p, q"));
  CHECK_THROWS_WITH(readSafetensors(file, ""),
                    Contains("name one of its tensors"));
  file = temporary.write("one.safetensors", safetensorsBytes({{"p", &tensor}}));
  CHECK(readSafetensors(file, "") == tensor);
}

TEST_CASE("paths name file, tensor and format") {
  TensorPath path = parseTensorPath("d.npy/acts.safetensors:layer.0:x");
  CHECK(path.kind == TensorPath::Kind::Safetensors);
  CHECK(path.file == "d.npy/acts.safetensors");
  CHECK(path.key == "layer.0:x");
  path = parseTensorPath("a.safetensors:b.npy");
  CHECK(path.file == "a.safetensors");
  CHECK(path.key == "b.npy");
  CHECK(parseTensorPath("x.npy:bf16").bf16);
  CHECK_FALSE(parseTensorPath("x.npy").bf16);
  CHECK_THROWS_WITH(parseTensorPath("x.npy:f8"), Contains("only ':bf16'"));
  CHECK_THROWS_WITH(parseTensorPath("x.pt"), Contains("ends neither"));
}

TEST_CASE("outputs appear together or not at all") {
  Temporary temporary;
  Tensor tensor = sample(Format::BF16, {2, 2});
  {
    OutputFiles files;
    auto notes = writeTensors(
        files, {{parseTensorPath(temporary.file("y.npy")), &tensor}});
    REQUIRE(notes.size() == 1);
    CHECK_THAT(notes[0], Contains("uint16"));
    CHECK_FALSE(std::filesystem::exists(temporary.file("y.npy")));
    CHECK_THROWS_WITH(files.write(temporary.file("none/z.npy"), "z"),
                      Contains("cannot write: No such file"));
    std::filesystem::create_directory(temporary.file("dir"));
    CHECK_THROWS_WITH(files.write(temporary.file("dir"), "z"),
                      Contains("is a directory"));
  }
  CHECK(temporary.count() == 1);
  OutputFiles files;
  writeTensors(files,
               {{parseTensorPath(temporary.file("y.npy")), &tensor},
                {parseTensorPath(temporary.file("t.safetensors:a")), &tensor},
                {parseTensorPath(temporary.file("t.safetensors:b")), &tensor}});
  files.commit();
  CHECK(temporary.count() == 3);
  CHECK(readTensor(parseTensorPath(temporary.file("y.npy:bf16"))) == tensor);
  CHECK(readTensor(parseTensorPath(temporary.file("t.safetensors:b"))) ==
        tensor);
}
