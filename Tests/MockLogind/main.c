// SPDX-License-Identifier: Apache-2.0
// What Signet asks of logind, on a private bus; tests tell it what happens to the machine.
//
//   mock-logind SOCKET
//
// Says "ready" when it has the name. Like logind it waits for those who delay sleep, up to 5 s.
// It stands in for systemd too, as far as Signet asks that to kill a unit: it says which.
#define _GNU_SOURCE
#include <fcntl.h>
#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LONGEST_DELAY_MS = 5000 };

static const char interfaces[] =
    "<node>"
    " <interface name='org.freedesktop.login1.Manager'>"
    "  <method name='Inhibit'>"
    "   <arg type='s' direction='in'/><arg type='s' direction='in'/>"
    "   <arg type='s' direction='in'/><arg type='s' direction='in'/>"
    "   <arg type='h' direction='out'/>"
    "  </method>"
    "  <property name='LidClosed' type='b' access='read'/>"
    "  <property name='PreparingForSleep' type='b' access='read'/>"
    "  <signal name='PrepareForSleep'><arg type='b'/></signal>"
    " </interface>"
    // Closes when all who delay are gone: whether they were in time, and whether a process listened at PATH.
    " <interface name='org.freedesktop.login1.Mock'>"
    "  <method name='Sleep'>"
    "   <arg type='s' direction='in'/>"
    "   <arg type='b' direction='out'/><arg type='b' direction='out'/>"
    "  </method>"
    "  <method name='Wake'/>"
    "  <method name='SetLid'><arg type='b' direction='in'/></method>"
    "  <method name='SetStarting'><arg type='b' direction='in'/></method>"
    "  <method name='SetWorking'><arg type='b' direction='in'/></method>"
    "  <method name='SetSilent'><arg type='b' direction='in'/></method>"
    "  <method name='AwaitInhibitors'><arg type='u' direction='in'/></method>"
    "  <method name='LastInhibitor'><arg type='s' direction='out'/></method>"
    " </interface>"
    "</node>";

static const char units[] =
    "<node>"
    " <interface name='org.freedesktop.systemd1.Manager'>"
    "  <method name='KillUnit'>"
    "   <arg type='s' direction='in'/><arg type='s' direction='in'/>"
    "   <arg type='i' direction='in'/>"
    "  </method>"
    "  <method name='RestartUnit'>"
    "   <arg type='s' direction='in'/><arg type='s' direction='in'/>"
    "   <arg type='o' direction='out'/>"
    "  </method>"
    " </interface>"
    "</node>";

static const char unit[] =
    "<node>"
    " <interface name='org.freedesktop.systemd1.Unit'>"
    "  <property name='ActiveState' type='s' access='read'/>"
    " </interface>"
    " <interface name='org.freedesktop.systemd1.Service'>"
    "  <property name='CPUUsageNSec' type='t' access='read'/>"
    " </interface>"
    "</node>";

static GDBusConnection *bus;
static gboolean lid_closed, preparing, silent, starting, working;
static guint64 used;
static guint inhibitors;
static char *last;
static char *watched;
static GDBusMethodInvocation *sleeper, *awaiting;
static guint awaited, sleep_limit;

static void say_sleep(gboolean begins) {
    preparing = begins;
    g_dbus_connection_emit_signal(
        bus, NULL, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep",
        g_variant_new("(b)", begins), NULL);
}

// A virtual reader listens while it is open.
static gboolean listens(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_strlcpy(address.sun_path, path, sizeof address.sun_path);
    gboolean is_open = connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0;
    close(descriptor);
    return is_open;
}

static void fall_asleep(gboolean in_time) {
    GDBusMethodInvocation *call = sleeper;
    sleeper = NULL;
    if (sleep_limit != 0) g_source_remove(sleep_limit);
    sleep_limit = 0;
    g_dbus_method_invocation_return_value(call, g_variant_new("(bb)", in_time, listens(watched)));
}

static gboolean is_over(gpointer data) {
    (void)data;
    sleep_limit = 0;
    fall_asleep(FALSE);
    return G_SOURCE_REMOVE;
}

static void counted(void) {
    if (sleeper != NULL && inhibitors == 0) fall_asleep(TRUE);
    if (awaiting != NULL && inhibitors == awaited) {
        g_dbus_method_invocation_return_value(awaiting, NULL);
        awaiting = NULL;
    }
}

static gboolean released(int descriptor, GIOCondition condition, gpointer data) {
    (void)condition, (void)data;
    close(descriptor);
    inhibitors -= 1;
    counted();
    return G_SOURCE_REMOVE;
}

static void inhibit(GVariant *arguments, GDBusMethodInvocation *call) {
    const char *what, *who, *why, *mode;
    g_variant_get(arguments, "(&s&s&s&s)", &what, &who, &why, &mode);
    g_free(last);
    last = g_strdup_printf("%s|%s|%s|%s", what, who, why, mode);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) g_error("pipe");
    g_unix_fd_add(ends[0], G_IO_HUP, released, NULL);
    inhibitors += 1;
    GUnixFDList *list = g_unix_fd_list_new_from_array(&ends[1], 1);
    g_dbus_method_invocation_return_value_with_unix_fd_list(call, g_variant_new("(h)", 0), list);
    g_object_unref(list);
    // The reply is out before any client hears of the lock.
    g_dbus_connection_flush_sync(bus, NULL, NULL);
    counted();
}

static void mock(const char *method, GVariant *arguments, GDBusMethodInvocation *call) {
    GVariant *answer = NULL;
    if (strcmp(method, "Sleep") == 0) {
        g_free(watched);
        g_variant_get(arguments, "(s)", &watched);
        sleeper = call;
        say_sleep(TRUE);
        sleep_limit = g_timeout_add(LONGEST_DELAY_MS, is_over, NULL);
        counted();
        return;
    }
    if (strcmp(method, "AwaitInhibitors") == 0) {
        g_variant_get(arguments, "(u)", &awaited);
        awaiting = call;
        counted();
        return;
    }
    if (strcmp(method, "Wake") == 0) say_sleep(FALSE);
    if (strcmp(method, "SetLid") == 0) g_variant_get(arguments, "(b)", &lid_closed);
    if (strcmp(method, "SetStarting") == 0) g_variant_get(arguments, "(b)", &starting);
    if (strcmp(method, "SetWorking") == 0) g_variant_get(arguments, "(b)", &working);
    if (strcmp(method, "SetSilent") == 0) g_variant_get(arguments, "(b)", &silent);
    if (strcmp(method, "LastInhibitor") == 0) answer = g_variant_new("(s)", last ? last : "");
    g_dbus_method_invocation_return_value(call, answer);
}

// Properties too come here, since the table has no function for them.
static void called(GDBusConnection *connection, const char *sender, const char *path,
                   const char *interface, const char *method, GVariant *arguments,
                   GDBusMethodInvocation *call, gpointer data) {
    (void)connection, (void)sender, (void)data;
    if (strcmp(method, "RestartUnit") == 0) {
        const char *unit, *mode;
        g_variant_get(arguments, "(&s&s)", &unit, &mode);
        printf("restarted %s\n", unit);
        fflush(stdout);
        g_dbus_method_invocation_return_value(call, g_variant_new("(o)", "/job"));
    } else if (strcmp(interface, "org.freedesktop.systemd1.Manager") == 0) {
        const char *unit, *whom;
        gint32 signal;
        g_variant_get(arguments, "(&s&si)", &unit, &whom, &signal);
        printf("killed %s of %s by %d\n", whom, unit, signal);
        fflush(stdout);
        g_dbus_method_invocation_return_value(call, NULL);
    } else if (strcmp(interface, "org.freedesktop.login1.Mock") == 0) {
        mock(method, arguments, call);
    } else if (strstr(path, "/unit/") != NULL) {
        const char *name;
        g_variant_get(arguments, "(&s&s)", NULL, &name);
        // A unit that works has used more processor each time that it is looked at.
        if (working) used += 1000000;
        GVariant *value = strcmp(name, "CPUUsageNSec") == 0
                              ? g_variant_new_uint64(used)
                              : g_variant_new_string(starting ? "activating" : "active");
        g_dbus_method_invocation_return_value(call, g_variant_new("(v)", value));
    } else if (silent) {
        // Never answered, and never freed.
    } else if (strcmp(method, "Inhibit") == 0) {
        inhibit(arguments, call);
    } else if (strcmp(method, "Get") == 0) {
        const char *name;
        g_variant_get(arguments, "(&s&s)", NULL, &name);
        gboolean value = strcmp(name, "LidClosed") == 0 ? lid_closed : preparing;
        g_dbus_method_invocation_return_value(
            call, g_variant_new("(v)", g_variant_new_boolean(value)));
    }
}

static void acquired(GDBusConnection *connection, const char *name, gpointer data) {
    (void)connection, (void)name, (void)data;
    puts("ready");
    fflush(stdout);
}

static void lost(GDBusConnection *connection, const char *name, gpointer data) {
    (void)connection, (void)name, (void)data;
    g_error("the name is taken");
}

static void offer(const char *description, const char *path) {
    static const GDBusInterfaceVTable table = { .method_call = called };
    GError *error = NULL;
    GDBusNodeInfo *node = g_dbus_node_info_new_for_xml(description, &error);
    if (node == NULL) g_error("%s", error->message);
    for (int index = 0; node->interfaces[index] != NULL; index++) {
        if (g_dbus_connection_register_object(bus, path, node->interfaces[index], &table, NULL,
                                              NULL, &error)
            == 0)
            g_error("%s", error->message);
    }
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    char *address = g_strdup_printf("unix:path=%s", arguments[1]);
    GError *error = NULL;
    bus = g_dbus_connection_new_for_address_sync(
        address,
        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT
            | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
        NULL, NULL, &error);
    if (bus == NULL) g_error("%s", error->message);
    g_dbus_connection_set_exit_on_close(bus, TRUE);
    offer(interfaces, "/org/freedesktop/login1");
    offer(units, "/org/freedesktop/systemd1");
    offer(unit, "/org/freedesktop/systemd1/unit/signet_2dreader_2eservice");
    g_bus_own_name_on_connection(bus, "org.freedesktop.systemd1", G_BUS_NAME_OWNER_FLAGS_NONE,
                                 NULL, lost, NULL, NULL);
    g_bus_own_name_on_connection(bus, "org.freedesktop.login1", G_BUS_NAME_OWNER_FLAGS_NONE,
                                 acquired, lost, NULL, NULL);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
    return 0;
}
