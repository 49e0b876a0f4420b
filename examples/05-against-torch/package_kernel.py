# package_kernel.py - a kernel of a package for PyTorch's tensors, with ctypes
# Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The structs and calls of runtime/include/bitpact.h that a launch needs."""
import collections
import ctypes as c
import json
import os


class DLTensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32),
                ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8),
                ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class PackageInfo(c.Structure):
    _fields_ = [("size", c.c_size_t), ("path", c.c_char_p),
                ("format", c.c_int64), ("producer", c.c_char_p),
                ("sha256", c.c_char_p), ("contract_count", c.c_uint32),
                ("variant_count", c.c_uint32)]


class ContractInfo(c.Structure):
    _fields_ = [("size", c.c_size_t), ("digest", c.c_char_p),
                ("name", c.c_char_p), ("op", c.c_char_p),
                ("text", c.c_char_p), ("tensor_count", c.c_uint32),
                ("dim_count", c.c_uint32)]


class VariantInfo(c.Structure):
    # The library fills as much as `size` says.
    _fields_ = [("size", c.c_size_t), ("id", c.c_char_p)]


class Dim(c.Structure):
    _fields_ = [("name", c.c_char_p), ("extent", c.c_int64)]


class LaunchArgs(c.Structure):
    _fields_ = [("size", c.c_size_t),
                ("tensors", c.POINTER(c.POINTER(DLTensor))),
                ("tensor_count", c.c_uint32), ("stream", c.c_void_p),
                ("workspace", c.c_void_p), ("workspace_bytes", c.c_uint64),
                ("site", c.c_uint64), ("steady", c.c_uint64)]


DEVICES = {"cpu": 1, "cuda": 2}  # kDLCPU, kDLCUDA
INT, FLOAT, BF16 = 0, 2, 4  # kDLInt, kDLFloat, kDLBfloat

# A tensor in memory: strides in elements, the kind of its elements as above.
View = collections.namedtuple("View", "address shape strides code bits")


def view_of(torch, tensor):
    code = (BF16 if tensor.dtype == torch.bfloat16 else
            FLOAT if tensor.dtype.is_floating_point else INT)
    return View(tensor.data_ptr(), tensor.shape, tensor.stride(), code,
                8 * tensor.element_size())


def contracts(package):
    """The contracts of a package, as their files say them."""
    with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
        entries = json.load(file)["contracts"]
    result = []
    for entry in entries:
        path = os.path.join(package, entry["file"])
        with open(path, encoding="utf-8") as file:
            result.append({"name": entry["name"], **json.load(file)})
    return result


def variants(package, contract, kind):
    """Ids of the contract's variants for targets of a kind."""
    with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    digests = {entry["digest"] for entry in manifest["contracts"]
               if entry["name"] == contract}
    return [entry["id"] for entry in manifest["variants"]
            if entry["contract"] in digests and
            entry["target"]["kind"] == kind]


class Kernel:
    def __init__(self, library, package, contract, role, dims,
                 device="cuda:0", variant=None):
        """`dims`: the largest that will be launched, {"tokens": 8192}."""
        self.api = c.CDLL(library)
        self.api.bitpact_last_error.restype = c.c_char_p
        self.device_name = device
        self.package, self.device, self.kernel = (c.c_void_p()
                                                  for _ in range(3))
        self.check(self.api.bitpact_package_open(package.encode(),
                                                 c.byref(self.package)))
        self.check(self.api.bitpact_device_open(device.encode(), None,
                                                c.byref(self.device)))
        self.check(self.api.bitpact_kernel_lookup(
            self.package, self.device, self.digest(contract), role.encode(),
            variant and variant.encode(), c.byref(self.kernel)))
        largest = (Dim * len(dims))(*((name.encode(), extent)
                                      for name, extent in dims.items()))
        self.check(self.api.bitpact_kernel_prepare(self.kernel, largest,
                                                   len(dims)))
        needed = c.c_uint64()
        self.check(self.api.bitpact_kernel_workspace(self.kernel, largest,
                                                     len(dims),
                                                     c.byref(needed)))
        self.workspace_bytes = needed.value

    def check(self, status):
        if status:
            raise RuntimeError(self.api.bitpact_last_error().decode())

    def digest(self, name):
        info = PackageInfo(c.sizeof(PackageInfo))
        self.check(self.api.bitpact_package_get_info(self.package,
                                                     c.byref(info)))
        for i in range(info.contract_count):
            contract = ContractInfo(c.sizeof(ContractInfo))
            self.check(self.api.bitpact_contract_get_info(
                self.package, i, c.byref(contract)))
            if contract.name.decode() == name:
                return contract.digest
        raise RuntimeError(f"the package has no contract '{name}'")

    def launch_args(self, views, stream=None, workspace=None, steady=(),
                    site=0):
        """LaunchArgs for views, and all that it points to. `steady`: indices
        of inputs that nothing writes while launches run."""
        kind, _, number = self.device_name.partition(":")
        keep, pointers = [], (c.POINTER(DLTensor) * len(views))()
        for i, view in enumerate(views):
            shape = (c.c_int64 * len(view.shape))(*view.shape)
            strides = (c.c_int64 * len(view.shape))(*view.strides)
            keep.append(DLTensor(view.address, DEVICES[kind], int(number or 0),
                                 len(view.shape), view.code, view.bits, 1,
                                 shape, strides, 0))
            pointers[i] = c.pointer(keep[-1])
        args = LaunchArgs(c.sizeof(LaunchArgs), pointers, len(views), stream,
                          workspace, self.workspace_bytes, site,
                          sum(1 << index for index in steady))
        return args, (keep, pointers)

    def launch(self, args):
        self.check(self.api.bitpact_kernel_launch(self.kernel, c.byref(args)))

    def arguments(self, torch, tensors, steady=(), site=0):
        """LaunchArgs for PyTorch's tensors, with all that it points to."""
        device = tensors[0].device
        stream = (torch.cuda.current_stream().cuda_stream
                  if device.type == "cuda" else None)
        # PyTorch's allocations are aligned beyond the 256 bytes that are asked.
        space = (torch.empty(self.workspace_bytes, dtype=torch.uint8,
                             device=device)
                 if self.workspace_bytes else None)
        args, keep = self.launch_args(
            [view_of(torch, tensor) for tensor in tensors], stream,
            space.data_ptr() if space is not None else None, steady, site)
        return args, (tensors, keep, space)

    def records(self):
        """The launches of this process since the last call, each a dict."""
        lines = []
        take = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)(
            lambda _, line: lines.append(json.loads(line)))
        dropped = c.c_uint64()
        self.check(self.api.bitpact_records_drain(take, None,
                                                  c.byref(dropped)))
        if dropped.value:
            raise RuntimeError(f"{dropped.value} records were dropped")
        return lines

    def bind(self, torch, tensors, steady=(), site=0):
        """A call that launches on these tensors, with nothing left to do."""
        args, keep = self.arguments(torch, tensors, steady, site)
        launch, kernel, pointer = (self.api.bitpact_kernel_launch, self.kernel,
                                   c.byref(args))

        def call(_=keep):
            if launch(kernel, pointer):
                raise RuntimeError(self.api.bitpact_last_error().decode())
        return call

    def variant(self, tensors, torch):
        """The id of the variant that such a launch takes."""
        args, keep = self.arguments(torch, tensors)
        index = c.c_uint32()
        self.check(self.api.bitpact_kernel_select(
            self.kernel, c.byref(args), c.byref(index)))
        info = VariantInfo(c.sizeof(VariantInfo))
        self.check(self.api.bitpact_variant_get_info(self.package, index,
                                                     c.byref(info)))
        return info.id.decode()
