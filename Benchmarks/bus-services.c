// SPDX-License-Identifier: Apache-2.0
// The services that fprintd asks on the system bus, answering at once: logind hands out a lock and,
// with the argument `polkit`, polkit says yes.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

static int check(sd_bus_message *call, void *unused, sd_bus_error *error) {
    (void)unused, (void)error;
    sd_bus_message *answer = NULL;
    int result = sd_bus_message_new_method_return(call, &answer);
    if (result >= 0) result = sd_bus_message_append(answer, "(bba{ss})", 1, 0, 0);
    if (result >= 0) result = sd_bus_send(NULL, answer, NULL);
    sd_bus_message_unref(answer);
    return result;
}

static int inhibit(sd_bus_message *call, void *unused, sd_bus_error *error) {
    (void)unused, (void)error;
    int lock = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (lock < 0) return -EIO;
    // The message takes a copy of it.
    int result = sd_bus_reply_method_return(call, "h", lock);
    close(lock);
    return result;
}

static int flags(sd_bus *bus, const char *path, const char *interface, const char *property,
                 sd_bus_message *answer, void *data, sd_bus_error *error) {
    (void)bus, (void)path, (void)interface, (void)data, (void)error;
    if (strcmp(property, "BackendFeatures") == 0) return sd_bus_message_append(answer, "u", 1);
    return sd_bus_message_append(answer, "s", "mock");
}

static const sd_bus_vtable polkit[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", check,
                  SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_PROPERTY("BackendName", "s", flags, 0, 0),
    SD_BUS_PROPERTY("BackendVersion", "s", flags, 0, 0),
    SD_BUS_PROPERTY("BackendFeatures", "u", flags, 0, 0),
    SD_BUS_SIGNAL("Changed", "", 0),
    SD_BUS_VTABLE_END,
};

static const sd_bus_vtable logind[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Inhibit", "ssss", "h", inhibit, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL("PrepareForSleep", "b", 0),
    SD_BUS_VTABLE_END,
};

static int add_polkit(sd_bus *bus) {
    int result = sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/PolicyKit1/Authority",
                                          "org.freedesktop.PolicyKit1.Authority", polkit, NULL);
    if (result < 0) return result;
    return sd_bus_request_name(bus, "org.freedesktop.PolicyKit1", 0);
}

int main(int count, char **arguments) {
    sd_bus *bus = NULL;
    int result = sd_bus_open_system(&bus);
    if (result >= 0)
        result = sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/login1",
                                          "org.freedesktop.login1.Manager", logind, NULL);
    if (result >= 0 && count > 1 && strcmp(arguments[1], "polkit") == 0) result = add_polkit(bus);
    if (result >= 0) result = sd_bus_request_name(bus, "org.freedesktop.login1", 0);
    if (result >= 0) {
        puts("ready");
        fflush(stdout);
    }
    while (result >= 0) {
        result = sd_bus_process(bus, NULL);
        if (result == 0) result = sd_bus_wait(bus, UINT64_MAX);
    }
    fprintf(stderr, "bus-services: %s\n", strerror(-result));
    return 1;
}
