// AbiDevice.cpp - C interface: devices, memory, events
// Part of Bitpact, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/core/Handles.h"
#include "runtime/core/Record.h"

#include <cstddef>

using namespace bitpact;
using runtime::fail;
using runtime::fillInfo;
using runtime::guard;
using runtime::require;

bitpact_status bitpact_device_open(const char *name,
                                   const bitpact_device_options *options,
                                   bitpact_device **device) {
  return guard([&] {
    require(name, "name");
    require(device, "device");
    *device = nullptr;
    uint32_t threads = 0;
    if (options) {
      if (options->size < sizeof *options)
        fail(BITPACT_INVALID_ARGUMENT, "options.size: is {}, must be {}",
             options->size, sizeof *options);
      threads = options->threads;
    }
    runtime::startRecords();
    auto handle = std::make_unique<bitpact_device>();
    handle->device = drivers::openDevice(name, threads);
    for (const std::string &arch : handle->device->archs)
      handle->archs.push_back(arch.c_str());
    runtime::log(fmt::format("opened device {}: {}", handle->device->name,
                             handle->device->description));
    *device = handle.release();
  });
}

void bitpact_device_close(bitpact_device *device) { delete device; }

bitpact_status bitpact_device_get_info(const bitpact_device *device,
                                       bitpact_device_info *info) {
  return guard([&] {
    require(device, "device");
    const drivers::Device &opened = *device->device;
    fillInfo(info,
             {0, opened.name.c_str(), opened.description.c_str(),
              bitpact_target_kind(opened.kind), uint32_t(device->archs.size()),
              device->archs.data(), opened.units, opened.dlDevice});
  });
}

// Every call that reaches the driver.
template <typename Body>
static bitpact_status with(bitpact_device *device, Body body) {
  return guard([&] {
    require(device, "device");
    device->device->checkFork();
    body(*device->device);
  });
}

bitpact_status bitpact_device_alloc(bitpact_device *device, uint64_t bytes,
                                    void **data) {
  return with(device, [&](drivers::Device &opened) {
    require(data, "data");
    *data = opened.allocate(bytes);
  });
}

bitpact_status bitpact_device_free(bitpact_device *device, void *data) {
  return with(device, [&](drivers::Device &opened) {
    if (data)
      opened.release(data);
  });
}

bitpact_status bitpact_device_copy_in(bitpact_device *device, void *to_device,
                                      const void *from_host, uint64_t bytes) {
  return with(device, [&](drivers::Device &opened) {
    if (bytes == 0)
      return;
    require(to_device, "to_device");
    require(from_host, "from_host");
    opened.copyIn(to_device, from_host, bytes);
  });
}

bitpact_status bitpact_device_copy_out(bitpact_device *device, void *to_host,
                                       const void *from_device,
                                       uint64_t bytes) {
  return with(device, [&](drivers::Device &opened) {
    if (bytes == 0)
      return;
    require(to_host, "to_host");
    require(from_device, "from_device");
    opened.copyOut(to_host, from_device, bytes);
  });
}

bitpact_status bitpact_device_copy(bitpact_device *device, void *to,
                                   const void *from, uint64_t bytes,
                                   void *stream) {
  return with(device, [&](drivers::Device &opened) {
    if (bytes == 0)
      return;
    require(to, "to");
    require(from, "from");
    opened.copy(to, from, bytes, stream);
  });
}

bitpact_status bitpact_device_fill(bitpact_device *device, void *to,
                                   uint8_t value, uint64_t bytes,
                                   void *stream) {
  return with(device, [&](drivers::Device &opened) {
    if (bytes == 0)
      return;
    require(to, "to");
    opened.fill(to, value, bytes, stream);
  });
}

bitpact_status bitpact_device_synchronize(bitpact_device *device) {
  return with(device, [](drivers::Device &opened) { opened.synchronize(); });
}

bitpact_status bitpact_stream_create(bitpact_device *device, void **stream) {
  return with(device, [&](drivers::Device &opened) {
    require(stream, "stream");
    *stream = opened.createStream();
  });
}

bitpact_status bitpact_stream_destroy(bitpact_device *device, void *stream) {
  return with(device, [&](drivers::Device &opened) {
    if (stream)
      opened.destroyStream(stream);
  });
}

bitpact_status bitpact_event_create(bitpact_device *device,
                                    bitpact_event **event) {
  return with(device, [&](drivers::Device &opened) {
    require(event, "event");
    auto handle = std::make_unique<bitpact_event>();
    handle->device = device->device;
    handle->event = opened.createEvent();
    *event = handle.release();
  });
}

bitpact_status bitpact_event_record(bitpact_event *event, void *stream) {
  return guard([&] {
    require(event, "event");
    event->device->checkFork();
    event->device->recordEvent(event->event, stream);
  });
}

bitpact_status bitpact_event_elapsed(bitpact_event *from, bitpact_event *to,
                                     double *milliseconds) {
  return guard([&] {
    require(from, "from");
    require(to, "to");
    require(milliseconds, "milliseconds");
    if (from->device != to->device)
      fail(BITPACT_INVALID_ARGUMENT, "from and to: are events of two devices");
    from->device->checkFork();
    *milliseconds = from->device->elapsed(from->event, to->event);
  });
}

void bitpact_event_destroy(bitpact_event *event) {
  if (event)
    guard([&] { event->device->destroyEvent(event->event); });
  delete event;
}
