// SPDX-License-Identifier: Apache-2.0
// Plugs a played reader (Tests/PlayedUSB) into a virtual machine: it speaks usbredir with QEMU's
// usb-redir device, so that the machine's kernel and libfprint are what Debian ships.
//
//   PLAYED_READER=MODEL PLAYED_PLACE=DIRECTORY reader-cable SOCKET
//
// SOCKET is that of QEMU's character device. The program ends when QEMU does.
#define _GNU_SOURCE
#include "../PlayedUSB/answers.h"
#include "../PlayedUSB/reader.h"

#include <usbredirparser.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { IN = 0x80, BULK_SIZE = 512, INTERRUPT_SIZE = 8, PENDING = 64, LENGTH = 65536 };
enum { GET_STATUS = 0, GET_DESCRIPTOR = 6 };

// A read of the machine's that the reader has not answered yet, in the order in which they came.
struct pending {
    uint64_t id;
    struct usb_redir_bulk_packet_header header;
};

static struct usbredirparser *parser;
static int qemu;
static int is_present = 1, has_greeted;
static struct pending pending[PENDING];
static int pending_count;
// The endpoint that the machine polls, 0 for none.
static uint8_t polled;

static const uint8_t bulk_endpoints[] = {0x01, 0x81, 0x82, 0x83, 0x84};
static const uint8_t synaptics_endpoints[] = {0x01, 0x81, 0x82};

static int has_interrupts(void) { return strcmp(model->name, "synaptics") == 0; }

static const uint8_t *endpoints(int *length) {
    *length = has_interrupts() ? sizeof synaptics_endpoints : sizeof bulk_endpoints;
    return has_interrupts() ? synaptics_endpoints : bulk_endpoints;
}

// MARK: - Plugging in and out

static int slot(uint8_t endpoint) { return (endpoint & IN ? 16 : 0) + (endpoint & 0x0F); }

static void describe_endpoint(
    struct usb_redir_ep_info_header *info, uint8_t endpoint, uint8_t type, uint16_t size) {
    info->type[slot(endpoint)] = type;
    info->interval[slot(endpoint)] = type == usb_redir_type_interrupt ? 4 : 0;
    info->max_packet_size[slot(endpoint)] = size;
}

static void connect_device(void) {
    struct usb_redir_interface_info_header interfaces = {
        .interface_count = 1, .interface_class = {0xFF}};
    struct usb_redir_ep_info_header info = {0};
    memset(info.type, usb_redir_type_invalid, sizeof info.type);
    describe_endpoint(&info, 0x00, usb_redir_type_control, 64);
    describe_endpoint(&info, 0x80, usb_redir_type_control, 64);
    int length;
    const uint8_t *all = endpoints(&length);
    for (int i = 0; i < length; i++)
        describe_endpoint(&info, all[i], usb_redir_type_bulk, BULK_SIZE);
    if (has_interrupts()) describe_endpoint(&info, 0x83, usb_redir_type_interrupt, INTERRUPT_SIZE);
    struct usb_redir_device_connect_header device = {
        .speed = usb_redir_speed_high, .device_class = 0xFF, .vendor_id = model->vendor,
        .product_id = model->product, .device_version_bcd = 0x0100};
    usbredirparser_send_interface_info(parser, &interfaces);
    usbredirparser_send_ep_info(parser, &info);
    usbredirparser_send_device_connect(parser, &device);
}

static void flush(void) {
    while (usbredirparser_has_data_to_write(parser) > 0)
        if (usbredirparser_do_write(parser) != 0) exit(0);
}

int is_plugged(void) { return is_present; }

void plug(int in) {
    if (is_present == in) return;
    is_present = in;
    pending_count = 0;
    polled = 0;
    forget_answers();
    await_finger(0);
    if (in) model->start();
    if (!has_greeted) return;
    if (in) connect_device();
    else usbredirparser_send_device_disconnect(parser);
    flush();
    changed();
}

// MARK: - What the machine asks

static void greeted(void *unused, struct usb_redir_hello_header *hello) {
    (void)unused, (void)hello;
    has_greeted = 1;
    if (is_present) connect_device();
}

static void reset(void *unused) {
    (void)unused;
    forget_answers();
    // Nor does it wait for a finger any more, for which a process that was killed had asked.
    await_finger(0);
    pending_count = 0;
    model->start();
}

static void set_configuration(
    void *unused, uint64_t id, struct usb_redir_set_configuration_header *wanted) {
    (void)unused;
    struct usb_redir_configuration_status_header status = {
        .status = usb_redir_success, .configuration = wanted->configuration};
    usbredirparser_send_configuration_status(parser, id, &status);
}

static void get_configuration(void *unused, uint64_t id) {
    (void)unused;
    struct usb_redir_configuration_status_header status = {.configuration = 1};
    usbredirparser_send_configuration_status(parser, id, &status);
}

static void set_setting(
    void *unused, uint64_t id, struct usb_redir_set_alt_setting_header *wanted) {
    (void)unused;
    struct usb_redir_alt_setting_status_header status = {
        .interface = wanted->interface, .alt = wanted->alt};
    usbredirparser_send_alt_setting_status(parser, id, &status);
}

static void get_setting(
    void *unused, uint64_t id, struct usb_redir_get_alt_setting_header *wanted) {
    (void)unused;
    struct usb_redir_alt_setting_status_header status = {.interface = wanted->interface};
    usbredirparser_send_alt_setting_status(parser, id, &status);
}

static int append_endpoint(uint8_t *into, uint8_t endpoint, int interrupt) {
    int size = interrupt ? INTERRUPT_SIZE : BULK_SIZE;
    uint8_t bytes[7] = {7, 5, endpoint, interrupt ? 3 : 2, (uint8_t)size, (uint8_t)(size >> 8),
                        interrupt ? 4 : 0};
    memcpy(into, bytes, sizeof bytes);
    return sizeof bytes;
}

static int configuration(uint8_t *into) {
    int count, length = 18;
    const uint8_t *all = endpoints(&count);
    for (int i = 0; i < count; i++) length += append_endpoint(into + length, all[i], 0);
    if (has_interrupts()) length += append_endpoint(into + length, 0x83, 1);
    uint8_t begin[18] = {9, 2, (uint8_t)length, 0, 1, 1, 0, 0xA0, 50,
                         9, 4, 0, 0, (uint8_t)(count + has_interrupts()), 0xFF, 0, 0, 0};
    memcpy(into, begin, sizeof begin);
    return length;
}

static int string(uint8_t *into, int index) {
    static const char *const texts[] = {NULL, "Played", "Played reader", "PLAYEDB0"};
    if (index == 0) return memcpy(into, (uint8_t[]){4, 3, 0x09, 0x04}, 4), 4;
    if (index > 3) return -1;
    int length = (int)strlen(texts[index]);
    into[0] = (uint8_t)(2 + 2 * length);
    into[1] = 3;
    for (int i = 0; i < length; i++) {
        into[2 + 2 * i] = (uint8_t)texts[index][i];
        into[3 + 2 * i] = 0;
    }
    return into[0];
}

static int descriptor(uint16_t value, uint8_t *into) {
    const uint8_t device[18] = {
        18, 1, 0x00, 0x02, 0xFF, 0, 0, 64, (uint8_t)model->vendor, (uint8_t)(model->vendor >> 8),
        (uint8_t)model->product, (uint8_t)(model->product >> 8), 0x00, 0x01, 1, 2, 3, 1};
    switch (value >> 8) {
    case 1: return memcpy(into, device, sizeof device), (int)sizeof device;
    case 2: return configuration(into);
    case 3: return string(into, value & 0xFF);
    default: return -1;
    }
}

static void control(
    void *unused, uint64_t id, struct usb_redir_control_packet_header *header, uint8_t *data,
    int length) {
    (void)unused;
    uint8_t answered[LENGTH] = {0};
    if (length > 0) memcpy(answered, data, (size_t)length);
    int count = -1;
    if ((header->requesttype & 0x60) == 0) {
        if (header->request == GET_DESCRIPTOR) count = descriptor(header->value, answered);
        else if (header->request == GET_STATUS) count = 2;
        else if (!(header->requesttype & IN)) count = 0;
    } else if (model->control != NULL && !has_fault("mute")) {
        count = model->control(
            header->requesttype, header->request, header->value, answered, header->length);
    }
    if (count > header->length) count = header->length;
    header->status = count < 0 ? usb_redir_stall : usb_redir_success;
    header->length = count < 0 ? 0 : (uint16_t)count;
    int sent = header->requesttype & IN && count > 0 ? count : 0;
    usbredirparser_send_control_packet(parser, id, header, sent > 0 ? answered : NULL, sent);
    if (data != NULL) usbredirparser_free_packet_data(parser, data);
}

static void finish(struct pending *at, uint8_t status, uint8_t *bytes, int length) {
    at->header.status = status;
    at->header.length = (uint16_t)length;
    at->header.length_high = (uint16_t)(length >> 16);
    usbredirparser_send_bulk_packet(parser, at->id, &at->header, length > 0 ? bytes : NULL, length);
    pending_count--;
    memmove(at, at + 1, (size_t)(pending + pending_count - at) * sizeof *at);
}

static void bulk(
    void *unused, uint64_t id, struct usb_redir_bulk_packet_header *header, uint8_t *data,
    int length) {
    (void)unused;
    if (header->endpoint & IN) {
        if (pending_count == PENDING) abort();
        pending[pending_count++] = (struct pending){.id = id, .header = *header};
        return;
    }
    if (!has_fault("mute")) model->take(header->endpoint, data, length);
    header->status = usb_redir_success;
    usbredirparser_send_bulk_packet(parser, id, header, NULL, 0);
    if (data != NULL) usbredirparser_free_packet_data(parser, data);
}

static void cancel(void *unused, uint64_t id) {
    (void)unused;
    for (int i = 0; i < pending_count; i++) {
        if (pending[i].id != id) continue;
        finish(&pending[i], usb_redir_cancelled, NULL, 0);
        return;
    }
}

static void poll_endpoint(
    void *unused, uint64_t id, struct usb_redir_start_interrupt_receiving_header *wanted) {
    (void)unused;
    polled = wanted->endpoint;
    struct usb_redir_interrupt_receiving_status_header status = {.endpoint = polled};
    usbredirparser_send_interrupt_receiving_status(parser, id, &status);
}

static void poll_no_more(
    void *unused, uint64_t id, struct usb_redir_stop_interrupt_receiving_header *wanted) {
    (void)unused;
    polled = 0;
    struct usb_redir_interrupt_receiving_status_header status = {.endpoint = wanted->endpoint};
    usbredirparser_send_interrupt_receiving_status(parser, id, &status);
}

static void disconnected(void *unused) { (void)unused; }

// MARK: - What the reader answers

static int give(int index) {
    static uint8_t bytes[LENGTH];
    struct pending *at = &pending[index];
    int capacity = at->header.length | at->header.length_high << 16;
    int length = next_answer(
        at->header.endpoint, bytes, capacity < LENGTH ? capacity : LENGTH);
    if (length >= 0) finish(at, usb_redir_success, bytes, length);
    else if (length == TOO_LONG) finish(at, usb_redir_babble, NULL, 0);
    return length >= 0 || length == TOO_LONG;
}

static void settle(void) {
    static uint64_t number;
    uint8_t bytes[INTERRUPT_SIZE];
    for (int i = 0; i < pending_count;)
        if (!give(i)) i++;
    int length;
    while (polled != 0 && (length = next_answer(polled, bytes, sizeof bytes)) >= 0) {
        struct usb_redir_interrupt_packet_header header = {
            .endpoint = polled, .length = (uint16_t)length};
        usbredirparser_send_interrupt_packet(parser, number++, &header, bytes, length);
    }
    flush();
}

static void *answer_always(void *unused) {
    (void)unused;
    lock();
    while (1) {
        settle();
        wait_changed(next_due(0));
    }
    return NULL;
}

// MARK: - The line

static int read_line(void *unused, uint8_t *into, int count) {
    (void)unused;
    ssize_t got = recv(qemu, into, (size_t)count, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return 0;
    return got <= 0 ? -1 : (int)got;
}

static int write_line(void *unused, uint8_t *from, int count) {
    (void)unused;
    return (int)send(qemu, from, (size_t)count, MSG_NOSIGNAL);
}

static void log_line(void *unused, int level, const char *text) {
    (void)unused;
    if (level <= usbredirparser_warning) fprintf(stderr, "reader-cable: %s\n", text);
}

static void begin(void) {
    uint32_t abilities[USB_REDIR_CAPS_SIZE] = {0};
    static const int all[] = {
        usb_redir_cap_connect_device_version, usb_redir_cap_device_disconnect_ack,
        usb_redir_cap_ep_info_max_packet_size, usb_redir_cap_64bits_ids,
        usb_redir_cap_32bits_bulk_length};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        usbredirparser_caps_set_cap(abilities, all[i]);
    parser = usbredirparser_create();
    if (parser == NULL) abort();
    parser->log_func = log_line;
    parser->read_func = read_line;
    parser->write_func = write_line;
    parser->hello_func = greeted;
    parser->reset_func = reset;
    parser->set_configuration_func = set_configuration;
    parser->get_configuration_func = get_configuration;
    parser->set_alt_setting_func = set_setting;
    parser->get_alt_setting_func = get_setting;
    parser->start_interrupt_receiving_func = poll_endpoint;
    parser->stop_interrupt_receiving_func = poll_no_more;
    parser->cancel_data_packet_func = cancel;
    parser->control_packet_func = control;
    parser->bulk_packet_func = bulk;
    parser->device_disconnect_ack_func = disconnected;
    usbredirparser_init(
        parser, "signet reader-cable", abilities, USB_REDIR_CAPS_SIZE, usbredirparser_fl_usb_host);
}

int main(int count, char **arguments) {
    if (count != 2 || model == NULL) {
        fprintf(stderr, "reader-cable: wants a socket, PLAYED_READER and PLAYED_PLACE\n");
        return 2;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", arguments[1]);
    qemu = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(qemu, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("reader-cable");
        return 1;
    }
    lock();
    begin();
    flush();
    unlock();
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer_always, NULL) != 0) return 1;
    struct pollfd line = {.fd = qemu, .events = POLLIN};
    while (poll(&line, 1, -1) >= 0 || errno == EINTR) {
        lock();
        if (usbredirparser_do_read(parser) == usbredirparser_read_io_error) return 0;
        settle();
        unlock();
    }
    return 1;
}
