// SPDX-License-Identifier: Apache-2.0
// libusb's interface, as far as libgusb uses it, with one device on the bus: the played reader.
//
// As with the kernel, a handle may be opened that another has open, and an interface can be claimed
// by one handle only.
#define _GNU_SOURCE
#include "answers.h"
#include "reader.h"

#include <libusb-1.0/libusb.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

// What is submitted, until its callback has run.
struct submission {
    struct submission *next;
    struct libusb_context *context;
    int64_t deadline;
    // When the reply to a control request comes, which is there already; 0 for none.
    int64_t due;
    int is_done;
    struct libusb_transfer transfer;
};

struct libusb_context {
    struct libusb_context *next;
    libusb_hotplug_callback_fn hotplug;
    void *hotplug_data;
    // What the reader is plugged into, and the reader where it is.
    struct libusb_device *hub, *device;
    int has_arrived, has_left, is_woken;
};

struct libusb_device {
    struct libusb_context *context;
    int references;
};

struct libusb_device_handle {
    struct libusb_device *device;
};

static struct libusb_context *contexts;
static struct submission *submissions;
static struct libusb_device_handle *claimer;
static int is_present = 1;

// Drivers and libusb may sleep in any thread that comes here. One with much timer slack would sleep
// longer than they mean to, by hours: prctl(2), PR_SET_TIMERSLACK.
static void expect_punctual_thread(void) {
    if (prctl(PR_GET_TIMERSLACK) <= 1000000000) return;
    fputs("a thread that drives the reader does not keep time\n", stderr);
    abort();
}

static struct submission *submission_of(struct libusb_transfer *transfer) {
    return (struct submission *)((char *)transfer - offsetof(struct submission, transfer));
}

static void unref(struct libusb_device *device) {
    if (--device->references == 0) free(device);
}

int is_plugged(void) { return is_present; }

void plug(int in) {
    if (is_present == in) return;
    is_present = in;
    claimer = NULL;
    forget_answers();
    await_finger(0);
    if (in) model->start();
    for (struct libusb_context *context = contexts; context != NULL; context = context->next) {
        if (in) context->has_arrived = 1;
        else context->has_left = 1;
    }
    changed();
}

// MARK: - Contexts and devices

static struct libusb_device *make_device(struct libusb_context *context) {
    struct libusb_device *device = calloc(1, sizeof *device);
    if (device == NULL) abort();
    *device = (struct libusb_device){.context = context, .references = 1};
    return device;
}

static int is_hub(const struct libusb_device *device) { return device == device->context->hub; }

int libusb_init(libusb_context **made) {
    struct libusb_context *context = calloc(1, sizeof *context);
    if (context == NULL) abort();
    lock();
    context->hub = make_device(context);
    if (is_present) context->device = make_device(context);
    context->next = contexts;
    contexts = context;
    unlock();
    *made = context;
    return 0;
}

void libusb_exit(libusb_context *context) {
    lock();
    for (struct libusb_context **at = &contexts; *at != NULL; at = &(*at)->next) {
        if (*at != context) continue;
        *at = context->next;
        break;
    }
    if (context->device != NULL) unref(context->device);
    unref(context->hub);
    unlock();
    free(context);
}

int libusb_has_capability(uint32_t capability) { (void)capability; return 1; }
int libusb_set_option(libusb_context *context, enum libusb_option option, ...) {
    (void)context;
    (void)option;
    return 0;
}
const char *libusb_strerror(int code) { (void)code; return "played fault"; }

ssize_t libusb_get_device_list(libusb_context *context, libusb_device ***made) {
    lock();
    libusb_device **list = calloc(3, sizeof *list);
    if (list == NULL) abort();
    list[0] = context->hub;
    list[1] = context->device;
    int count = list[1] == NULL ? 1 : 2;
    for (int i = 0; i < count; i++) list[i]->references++;
    unlock();
    *made = list;
    return count;
}

void libusb_free_device_list(libusb_device **list, int unrefs) {
    lock();
    for (int i = 0; unrefs && list[i] != NULL; i++) unref(list[i]);
    unlock();
    free(list);
}

libusb_device *libusb_ref_device(libusb_device *device) {
    lock();
    device->references++;
    unlock();
    return device;
}

void libusb_unref_device(libusb_device *device) {
    lock();
    unref(device);
    unlock();
}

// No bus of a real machine has this number.
uint8_t libusb_get_bus_number(libusb_device *device) { (void)device; return 250; }
uint8_t libusb_get_device_address(libusb_device *device) { return is_hub(device) ? 1 : 2; }
uint8_t libusb_get_port_number(libusb_device *device) { (void)device; return 1; }
libusb_device *libusb_get_parent(libusb_device *device) {
    return is_hub(device) ? NULL : device->context->hub;
}

int libusb_get_device_descriptor(
    libusb_device *device, struct libusb_device_descriptor *descriptor) {
    *descriptor = (struct libusb_device_descriptor){
        .bLength = 18, .bDescriptorType = 1, .bcdUSB = 0x0200, .bMaxPacketSize0 = 64,
        .bDeviceClass = is_hub(device) ? LIBUSB_CLASS_HUB : LIBUSB_CLASS_VENDOR_SPEC,
        .idVendor = is_hub(device) ? 0x1D6B : model->vendor,
        .idProduct = is_hub(device) ? 2 : model->product, .iManufacturer = 1,
        .iProduct = 2, .iSerialNumber = 3, .bNumConfigurations = 1};
    return 0;
}

int libusb_get_active_config_descriptor(
    libusb_device *device, struct libusb_config_descriptor **made) {
    (void)device;
    *made = NULL;
    return LIBUSB_ERROR_NOT_FOUND;
}

void libusb_free_config_descriptor(struct libusb_config_descriptor *descriptor) {
    (void)descriptor;
}

int libusb_hotplug_register_callback(
    libusb_context *context, int events, int flags, int vendor, int product, int class,
    libusb_hotplug_callback_fn callback, void *data, libusb_hotplug_callback_handle *made) {
    (void)events, (void)vendor, (void)product, (void)class;
    lock();
    context->hotplug = callback;
    context->hotplug_data = data;
    if (flags & LIBUSB_HOTPLUG_ENUMERATE && context->device != NULL) context->has_arrived = 1;
    changed();
    unlock();
    *made = 1;
    return 0;
}

void libusb_hotplug_deregister_callback(
    libusb_context *context, libusb_hotplug_callback_handle handle) {
    (void)handle;
    lock();
    context->hotplug = NULL;
    context->is_woken = 1;
    changed();
    unlock();
}

// MARK: - Handles

int libusb_open(libusb_device *device, libusb_device_handle **made) {
    expect_punctual_thread();
    lock();
    int result = is_present ? 0 : LIBUSB_ERROR_NO_DEVICE;
    if (has_fault("open")) result = LIBUSB_ERROR_IO;
    if (result == 0) {
        *made = calloc(1, sizeof **made);
        if (*made == NULL) abort();
        (*made)->device = device;
        device->references++;
    }
    unlock();
    return result;
}

void libusb_close(libusb_device_handle *handle) {
    lock();
    if (claimer == handle) claimer = NULL;
    unref(handle->device);
    unlock();
    free(handle);
}

int libusb_claim_interface(libusb_device_handle *handle, int number) {
    (void)number;
    lock();
    int result = claimer == NULL || claimer == handle ? 0 : LIBUSB_ERROR_BUSY;
    if (has_fault("claim")) result = LIBUSB_ERROR_IO;
    if (!is_present) result = LIBUSB_ERROR_NO_DEVICE;
    if (result == 0) {
        claimer = handle;
        forget_answers();
    }
    unlock();
    return result;
}

int libusb_release_interface(libusb_device_handle *handle, int number) {
    (void)number;
    lock();
    if (claimer == handle) claimer = NULL;
    unlock();
    return 0;
}

int libusb_reset_device(libusb_device_handle *handle) {
    (void)handle;
    lock();
    int result = is_present ? 0 : LIBUSB_ERROR_NO_DEVICE;
    if (result == 0) model->start();
    unlock();
    return result;
}

int libusb_get_configuration(libusb_device_handle *handle, int *configuration) {
    (void)handle;
    *configuration = 1;
    return 0;
}

int libusb_set_configuration(libusb_device_handle *handle, int configuration) {
    (void)handle, (void)configuration;
    return 0;
}

int libusb_set_interface_alt_setting(libusb_device_handle *handle, int number, int setting) {
    (void)handle, (void)number, (void)setting;
    return 0;
}

int libusb_attach_kernel_driver(libusb_device_handle *handle, int number) {
    (void)handle, (void)number;
    return LIBUSB_ERROR_NOT_FOUND;
}

int libusb_detach_kernel_driver(libusb_device_handle *handle, int number) {
    (void)handle, (void)number;
    return LIBUSB_ERROR_NOT_FOUND;
}

int libusb_get_string_descriptor_ascii(
    libusb_device_handle *handle, uint8_t index, unsigned char *into, int capacity) {
    (void)handle;
    const char *text = index == 3 ? "PLAYEDB0" : "Played";
    int length = (int)strlen(text);
    if (length >= capacity) return LIBUSB_ERROR_OVERFLOW;
    memcpy(into, text, (size_t)length + 1);
    return length;
}

int libusb_control_transfer(
    libusb_device_handle *handle, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
    unsigned char *data, uint16_t length, unsigned int timeout) {
    (void)handle, (void)index, (void)timeout;
    lock();
    int result = model->control == NULL ? -1 : model->control(type, request, value, data, length);
    unlock();
    return result < 0 ? LIBUSB_ERROR_PIPE : result;
}

// MARK: - Transfers

struct libusb_transfer *libusb_alloc_transfer(int packets) {
    struct submission *submission =
        calloc(1, sizeof *submission + (size_t)packets * sizeof(struct libusb_iso_packet_descriptor));
    return submission == NULL ? NULL : &submission->transfer;
}

void libusb_free_transfer(struct libusb_transfer *transfer) {
    if (transfer == NULL) return;
    if (transfer->flags & LIBUSB_TRANSFER_FREE_BUFFER) free(transfer->buffer);
    free(submission_of(transfer));
}

static void finish(struct submission *submission, enum libusb_transfer_status status, int length) {
    submission->transfer.status = status;
    submission->transfer.actual_length = length;
    submission->is_done = 1;
    changed();
}

static void send(struct submission *submission) {
    struct libusb_transfer *transfer = &submission->transfer;
    if (!has_fault("mute")) model->take(transfer->endpoint, transfer->buffer, transfer->length);
    finish(submission, LIBUSB_TRANSFER_COMPLETED, transfer->length);
}

// A reader that is mute, or never replies, leaves the driver waiting.
static void request(struct submission *submission) {
    struct libusb_transfer *transfer = &submission->transfer;
    struct libusb_control_setup *setup = (struct libusb_control_setup *)transfer->buffer;
    uint8_t *data = transfer->buffer + LIBUSB_CONTROL_SETUP_SIZE;
    if (has_fault("mute")) return;
    int length = -1;
    if (model->control != NULL)
        length = model->control(
            setup->bmRequestType, setup->bRequest, setup->wValue, data, setup->wLength);
    if (length < 0) return finish(submission, LIBUSB_TRANSFER_STALL, 0);
    int64_t due = 0;
    if (setup->bmRequestType & LIBUSB_ENDPOINT_IN)
        length = distort_reply(data, length, setup->wLength, &due);
    if (length == NEVER) return;
    if (length == TOO_LONG) return finish(submission, LIBUSB_TRANSFER_OVERFLOW, setup->wLength);
    transfer->actual_length = length;
    submission->due = due;
    if (due == 0) finish(submission, LIBUSB_TRANSFER_COMPLETED, length);
}

int libusb_submit_transfer(struct libusb_transfer *transfer) {
    struct submission *submission = submission_of(transfer);
    lock();
    int result = is_present ? 0 : LIBUSB_ERROR_NO_DEVICE;
    if (result == 0) {
        submission->context = transfer->dev_handle->device->context;
        submission->deadline = transfer->timeout == 0 ? 0 : now() + transfer->timeout;
        submission->due = 0;
        submission->is_done = 0;
        struct submission **last = &submissions;
        while (*last != NULL) last = &(*last)->next;
        submission->next = NULL;
        *last = submission;
        if (transfer->type == LIBUSB_TRANSFER_TYPE_CONTROL) request(submission);
        else if (!(transfer->endpoint & LIBUSB_ENDPOINT_IN)) send(submission);
        changed();
    }
    unlock();
    return result;
}

int libusb_cancel_transfer(struct libusb_transfer *transfer) {
    lock();
    int result = LIBUSB_ERROR_NOT_FOUND;
    for (struct submission *at = submissions; at != NULL; at = at->next) {
        if (at != submission_of(transfer) || at->is_done) continue;
        if (!has_fault("stubborn")) finish(at, LIBUSB_TRANSFER_CANCELLED, 0);
        result = 0;
    }
    unlock();
    return result;
}

// Finishes what the reader has answered, and what has to wait no longer.
static void settle(void) {
    for (struct submission *at = submissions; at != NULL; at = at->next) {
        if (at->is_done) continue;
        struct libusb_transfer *transfer = &at->transfer;
        int length = next_answer(transfer->endpoint, transfer->buffer, transfer->length);
        if (!is_present) finish(at, LIBUSB_TRANSFER_NO_DEVICE, 0);
        else if (length >= 0) finish(at, LIBUSB_TRANSFER_COMPLETED, length);
        else if (length == TOO_LONG) finish(at, LIBUSB_TRANSFER_OVERFLOW, transfer->length);
        else if (at->due != 0 && at->due <= now())
            finish(at, LIBUSB_TRANSFER_COMPLETED, transfer->actual_length);
        else if (at->deadline != 0 && at->deadline <= now())
            finish(at, LIBUSB_TRANSFER_TIMED_OUT, 0);
    }
}

// The first that is done, taken off the list; NULL for none.
static struct submission *take_done(struct libusb_context *context) {
    for (struct submission **at = &submissions; *at != NULL; at = &(*at)->next) {
        struct submission *submission = *at;
        if (!submission->is_done || submission->context != context) continue;
        *at = submission->next;
        return submission;
    }
    return NULL;
}

static int64_t next_deadline(int64_t until) {
    for (struct submission *at = submissions; at != NULL; at = at->next) {
        if (at->is_done) continue;
        if (at->deadline != 0 && at->deadline < until) until = at->deadline;
        if (at->due != 0 && at->due < until) until = at->due;
    }
    return next_due(until);
}

// Waits for whatever is next, at most until then; false when it is then.
static int wait_for_next(int64_t until) {
    expect_punctual_thread();
    int64_t next = next_deadline(INT64_MAX);
    int is_early = wait_changed(next < until ? next : until);
    return is_early || now() < until;
}

// Tells of what came or went, without the lock; true if there was anything.
static int tell_hotplug(struct libusb_context *context) {
    int left = context->has_left, arrived = context->has_arrived;
    context->has_left = context->has_arrived = 0;
    if (!left && !arrived) return 0;
    struct libusb_device *gone = left ? context->device : NULL;
    if (left) context->device = NULL;
    if (arrived && context->device == NULL) context->device = make_device(context);
    libusb_hotplug_callback_fn callback = context->hotplug;
    struct libusb_device *device = context->device;
    unlock();
    if (callback != NULL && gone != NULL)
        callback(context, gone, LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT, context->hotplug_data);
    if (callback != NULL && arrived)
        callback(context, device, LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED, context->hotplug_data);
    lock();
    if (gone != NULL) unref(gone);
    return 1;
}

int libusb_handle_events_timeout_completed(
    libusb_context *context, struct timeval *limit, int *completed) {
    lock();
    int64_t until = now() + (int64_t)limit->tv_sec * 1000 + limit->tv_usec / 1000;
    while (1) {
        settle();
        struct submission *done = take_done(context);
        if (done != NULL) {
            struct libusb_transfer *transfer = &done->transfer;
            unlock();
            int frees = transfer->flags & LIBUSB_TRANSFER_FREE_TRANSFER;
            transfer->callback(transfer);
            if (frees) libusb_free_transfer(transfer);
            return 0;
        }
        if (tell_hotplug(context) || context->is_woken || (completed != NULL && *completed)) break;
        if (!wait_for_next(until)) break;
    }
    context->is_woken = 0;
    unlock();
    return 0;
}
