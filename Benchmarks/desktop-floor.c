// SPDX-License-Identifier: Apache-2.0
// net.reactivated.Fprint without anything behind it: what a client's calls cost on the bus alone.
//
//   desktop-floor SOCKET
//
// One thread answers each call at once. What is sent to SOCKET is the finger that matches.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <unistd.h>

static const char device[] = "/net/reactivated/Fprint/Device/0", interface[] = "net.reactivated.Fprint.Device";
static char claimer[64];

static int default_device(sd_bus_message *call, void *unused, sd_bus_error *error) {
    (void)unused, (void)error;
    return sd_bus_reply_method_return(call, "o", device);
}

static int done(sd_bus_message *call, void *unused, sd_bus_error *error) {
    (void)unused, (void)error;
    return sd_bus_reply_method_return(call, "");
}

static int tell(sd_bus *bus, const char *member, const char *types, const char *word, int is_done) {
    sd_bus_message *signal = NULL;
    int result = sd_bus_message_new_signal(bus, &signal, device, interface, member);
    if (result >= 0) result = sd_bus_message_set_destination(signal, claimer);
    if (result >= 0) result = sd_bus_message_append(signal, types, word, is_done);
    if (result >= 0) result = sd_bus_send(bus, signal, NULL);
    sd_bus_message_unref(signal);
    return result;
}

static int verify(sd_bus_message *call, void *unused, sd_bus_error *error) {
    (void)unused, (void)error;
    sd_bus *bus = sd_bus_message_get_bus(call);
    snprintf(claimer, sizeof claimer, "%s", sd_bus_message_get_sender(call));
    int result = sd_bus_reply_method_return(call, "");
    if (result >= 0) result = tell(bus, "VerifyFingerSelected", "s", "right-index-finger", 0);
    return result < 0 ? result
                      : sd_bus_emit_signal(bus, device, "org.freedesktop.DBus.Properties", "PropertiesChanged",
                                           "sa{sv}as", interface, 1, "finger-needed", "b", 1, 0);
}

static int touched(sd_event_source *source, int listener, uint32_t events, void *bus) {
    (void)source, (void)events;
    char text[128];
    int finger = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (finger < 0 || read(finger, text, sizeof text) <= 0) return -1;
    close(finger);
    return tell(bus, "VerifyStatus", "sb", "verify-match", 1);
}

static const sd_bus_vtable manager[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("GetDefaultDevice", "", "o", default_device, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static const sd_bus_vtable methods[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Claim", "s", "", done, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("VerifyStart", "s", "", verify, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("VerifyStop", "", "", done, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Release", "", "", done, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL("VerifyFingerSelected", "s", 0),
    SD_BUS_SIGNAL("VerifyStatus", "sb", 0),
    SD_BUS_VTABLE_END,
};

int main(int count, char **words) {
    if (count != 2) return 2;
    sd_bus *bus = NULL;
    sd_event *loop = NULL;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s", words[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(words[1]);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4) != 0) return 1;
    int result = sd_event_default(&loop);
    if (result >= 0) result = sd_bus_open_system(&bus);
    if (result >= 0)
        result = sd_bus_add_object_vtable(bus, NULL, "/net/reactivated/Fprint/Manager",
                                          "net.reactivated.Fprint.Manager", manager, NULL);
    if (result >= 0) result = sd_bus_add_object_vtable(bus, NULL, device, interface, methods, NULL);
    if (result >= 0) result = sd_bus_request_name(bus, "net.reactivated.Fprint", 0);
    if (result >= 0) result = sd_bus_attach_event(bus, loop, 0);
    if (result >= 0) result = sd_event_add_io(loop, NULL, listener, EPOLLIN, touched, bus);
    if (result >= 0) {
        puts("ready");
        fflush(stdout);
        result = sd_event_loop(loop);
    }
    fprintf(stderr, "desktop-floor: %s\n", strerror(-result));
    return 1;
}
