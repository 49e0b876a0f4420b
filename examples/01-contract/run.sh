#!/usr/bin/env bash
# run.sh - compiles a contract for the CPU and checks every kernel of it
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run.sh [BITPACT]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bitpact=$(realpath "${1:-$here/../../build/bin/bitpact}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo "1. The layout of the file is the canonical one:"
"$bitpact" fmt --check "$here/my_norm.json"
echo
echo "2. Compile it; every variant keeps the same bits:"
"$bitpact" compile "$here/my_norm.json" -o norm.pkg --target cpu
echo
echo "3. Against the reference evaluator, on ordinary and on nasty values:"
"$bitpact" check norm.pkg --device cpu --rows 1,2,33
echo
echo "4. A contract that cannot be kept is an error, at its place in the file:"
sed 's/lane:64/lane:65/; s#^// my_norm.json.*#// wrong.json - 65 lanes#' \
  "$here/my_norm.json" >wrong.json
if "$bitpact" compile wrong.json -o wrong.pkg; then
  echo "the error is missing" >&2
  exit 1
fi
test ! -e wrong.pkg
