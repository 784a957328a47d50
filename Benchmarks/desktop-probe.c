// SPDX-License-Identifier: Apache-2.0
// A program of a desktop that verifies a finger at net.reactivated.Fprint, and says how long that took.
//
//   desktop-probe READER FINGER ACCOUNT [user]
//
// Asks for the default device, as every such program does, claims it for ACCOUNT, begins a verification, and when a finger is
// awaited has FINGER scanned by the virtual reader at READER. Prints nanoseconds: from the first call to VerifyFingerSelected,
// from the claim to that, from VerifyStart to that, from the claim until the reader waits for a finger, and from the scan's
// sending to VerifyStatus. Ends with 0 only after verify-match.
//
// It is root's program, as a PAM module in a login is; with `user` it is the account's own, as a lock screen is. A process of
// root's plays the person at the reader.
#define _GNU_SOURCE
#include <gio/gio.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char name[] = "net.reactivated.Fprint", device[] = "/net/reactivated/Fprint/Device/0",
                  interface[] = "net.reactivated.Fprint.Device";
static gint64 selected, needed, told;
/// When the finger was on the reader, written by the process that plays the person.
static gint64 *touched;
static char result[64];

static gint64 now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (gint64)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void signalled(GDBusConnection *bus, const char *sender, const char *path, const char *on,
                      const char *member, GVariant *arguments, void *unused) {
    (void)bus, (void)sender, (void)path, (void)on, (void)unused;
    if (strcmp(member, "VerifyFingerSelected") == 0) {
        selected = now();
    } else if (strcmp(member, "VerifyStatus") == 0) {
        const char *word;
        gboolean is_done;
        g_variant_get(arguments, "(&sb)", &word, &is_done);
        g_strlcpy(result, word, sizeof result);
        told = now();
    } else if (strcmp(member, "PropertiesChanged") == 0) {
        GVariant *changed = g_variant_get_child_value(arguments, 1);
        gboolean is_needed;
        if (g_variant_lookup(changed, "finger-needed", "b", &is_needed) && is_needed) needed = now();
        g_variant_unref(changed);
    }
}

static void call_object(GDBusConnection *bus, const char *object, const char *of, const char *member,
                        const char *argument) {
    GError *error = NULL;
    GVariant *answer = g_dbus_connection_call_sync(
        bus, name, object, of, member, argument ? g_variant_new("(s)", argument) : NULL, NULL,
        G_DBUS_CALL_FLAGS_NONE, 20000, NULL, &error);
    if (answer == NULL) g_error("%s: %s", member, error->message);
    g_variant_unref(answer);
}

static void call(GDBusConnection *bus, const char *member, const char *argument) {
    call_object(bus, device, interface, member, argument);
}

static gboolean late(void *unused) {
    (void)unused;
    g_error("nothing more is said; the last result was '%s'", result);
    return FALSE;
}

static void wait_for(gint64 *moment) {
    while (*moment == 0) g_main_context_iteration(NULL, TRUE);
}

static void scan(const char *reader, const char *finger) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_strlcpy(address.sun_path, reader, sizeof address.sun_path);
    char command[128];
    int length = snprintf(command, sizeof command, "SCAN %s", finger);
    *touched = now();
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0
        || write(descriptor, command, (size_t)length) != length)
        g_error("%s: %m", reader);
    close(descriptor);
}

/// Starts a process that puts FINGER on READER when it reads a byte; returns where to write that.
static int person(const char *reader, const char *finger) {
    int ends[2];
    touched = mmap(NULL, sizeof *touched, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (touched == MAP_FAILED || pipe(ends) != 0) g_error("no memory or pipe: %m");
    pid_t child = fork();
    if (child < 0) g_error("fork: %m");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[1]);
        char byte;
        if (read(ends[0], &byte, 1) == 1) scan(reader, finger);
        _exit(0);
    }
    close(ends[0]);
    return ends[1];
}

static void become(const char *account) {
    struct passwd *entry = getpwnam(account);
    if (entry == NULL || setresgid(entry->pw_gid, entry->pw_gid, entry->pw_gid) != 0
        || setresuid(entry->pw_uid, entry->pw_uid, entry->pw_uid) != 0)
        g_error("%s: %m", account);
}

int main(int count, char **words) {
    if (count != 4 && count != 5) g_error("usage: desktop-probe READER FINGER ACCOUNT [user]");
    int finger = person(words[1], words[2]);
    if (count == 5) become(words[3]);
    GError *error = NULL;
    GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SYSTEM, NULL, &error);
    if (bus == NULL) g_error("no bus: %s", error->message);
    g_dbus_connection_signal_subscribe(bus, name, NULL, NULL, device, NULL, G_DBUS_SIGNAL_FLAGS_NONE,
                                       signalled, NULL, NULL);
    g_timeout_add_seconds(20, late, NULL);
    // Its name's owner is known, and the process is running.
    GVariant *answer = g_dbus_connection_call_sync(
        bus, name, device, "org.freedesktop.DBus.Peer", "Ping", NULL, NULL, G_DBUS_CALL_FLAGS_NONE, 20000,
        NULL, &error);
    if (answer == NULL) g_error("no answer: %s", error->message);

    gint64 first = now();
    call_object(bus, "/net/reactivated/Fprint/Manager", "net.reactivated.Fprint.Manager", "GetDefaultDevice", NULL);
    gint64 begun = now();
    call(bus, "Claim", words[3]);
    gint64 claimed = now();
    call(bus, "VerifyStart", "any");
    wait_for(&selected);
    wait_for(&needed);
    if (write(finger, "", 1) != 1) g_error("the finger: %m");
    wait_for(&told);
    printf("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
           " %" G_GINT64_FORMAT "\n",
           selected - first, selected - begun, selected - claimed, needed - begun, told - *touched);
    call(bus, "VerifyStop", NULL);
    call(bus, "Release", NULL);
    return strcmp(result, "verify-match") == 0 ? 0 : 1;
}
