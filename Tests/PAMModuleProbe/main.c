// SPDX-License-Identifier: Apache-2.0
// A small PAM application for the tests. What it is to do stands in PROBE_… variables, so that its
// arguments are free to look like sudo's. It reports what happens, line by line.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define tell(...) dprintf(STDOUT_FILENO, __VA_ARGS__)

static int fail(const char *what) {
    tell("failed %s: %s\n", what, strerror(errno));
    return 100;
}

static int converse(
    int count, const struct pam_message **messages, struct pam_response **answers, void *data) {
    (void)data;
    struct pam_response *made = calloc((size_t)count, sizeof *made);
    if (!made) return PAM_BUF_ERR;
    // A locker that is being cancelled answers nothing more.
    if (getenv("PROBE_REFUSES")) return free(made), PAM_CONV_ERR;
    for (int i = 0; i < count; i++) {
        const char *password = getenv("PROBE_PASSWORD");
        switch (messages[i]->msg_style) {
        case PAM_TEXT_INFO: tell("info %s\n", messages[i]->msg); break;
        case PAM_ERROR_MSG: tell("error %s\n", messages[i]->msg); break;
        default:
            tell("prompt %s\n", messages[i]->msg);
            made[i].resp = strdup(password ? password : "");
        }
    }
    *answers = made;
    return PAM_SUCCESS;
}

static int entries(const char *directory) {
    DIR *open = opendir(directory);
    int count = 0;
    if (!open) return -1;
    while (readdir(open)) count++;
    closedir(open);
    return count;
}

static int is_mapped(const char *name) {
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, name) != NULL;
    if (maps) fclose(maps);
    return found;
}

// What /proc/self/status says of blocked, ignored and caught signals.
static void read_signals(char text[256]) {
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");
    text[0] = 0;
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "Sig", 3) && strncmp(line, "SigQ", 4) && strlen(text) < 200)
            strncat(text, line, 40);
    if (status) fclose(status);
}

static long long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

// As lockers do that have no process for it: in a thread, while the main one shows the screen.
struct authentication {
    pam_handle_t *handle;
    int code;
};

static void *authenticate(void *data) {
    struct authentication *running = data;
    running->code = pam_authenticate(running->handle, 0);
    return NULL;
}

static void *nothing(void *data) { return data; }

static int authenticate_in_thread(pam_handle_t *handle) {
    struct authentication running = {handle, -1};
    pthread_t thread;
    if (pthread_create(&thread, NULL, authenticate, &running) != 0) return fail("pthread_create");
    pthread_join(thread, NULL);
    return running.code;
}

// PAM_FAIL_DELAY of kscreenlocker: a failure is shown at once.
static void no_delay(int code, unsigned microseconds, void *data) {
    (void)code, (void)microseconds, (void)data;
}

static void carry_out(pam_handle_t *handle, const char *step, int flags) {
    const char *rest = strchr(step, ':');
    rest = rest ? rest + 1 : "";
    if (!strcmp(step, "auth")) tell("auth %d\n", pam_authenticate(handle, flags));
    else if (!strcmp(step, "lock")) {
        pam_set_item(handle, PAM_FAIL_DELAY, no_delay);
        long long begun = milliseconds();
        int code = authenticate_in_thread(handle);
        tell("auth %d\ntook %lld\n", code, milliseconds() - begun);
    } else if (!strcmp(step, "refresh"))
        tell("refresh %d\n", pam_setcred(handle, flags | PAM_REFRESH_CRED));
    else if (!strcmp(step, "establish"))
        tell("establish %d\n", pam_setcred(handle, flags | PAM_ESTABLISH_CRED));
    else if (!strcmp(step, "reinitialize"))
        tell("reinitialize %d\n", pam_setcred(handle, flags | PAM_REINITIALIZE_CRED));
    else if (!strcmp(step, "delete"))
        tell("delete %d\n", pam_setcred(handle, flags | PAM_DELETE_CRED));
    else if (!strcmp(step, "acct")) tell("acct %d\n", pam_acct_mgmt(handle, flags));
    else if (!strcmp(step, "open")) tell("open %d\n", pam_open_session(handle, flags));
    else if (!strcmp(step, "close")) tell("close %d\n", pam_close_session(handle, flags));
    else if (!strcmp(step, "chauthtok")) tell("chauthtok %d\n", pam_chauthtok(handle, flags));
    else if (!strncmp(step, "user:", 5)) pam_set_item(handle, PAM_USER, rest);
    else if (!strcmp(step, "user?")) {
        const void *user = NULL;
        pam_get_item(handle, PAM_USER, &user);
        tell("user %s\n", user ? (const char *)user : "");
    } else if (!strncmp(step, "euid:", 5)) {
        if (seteuid((uid_t)atoi(rest)) != 0) fail("seteuid");
    } else if (!strcmp(step, "dies")) {
        // From now on as the worker of KDE's next locker: killed with the process that started it.
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail("prctl");
    } else if (!strncmp(step, "files:", 6)) {
        struct rlimit limit = {(rlim_t)atoi(rest), (rlim_t)atoi(rest)};
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit");
    } else tell("unknown step %s\n", step);
}

static int run(void) {
    const struct pam_conv conversation = {converse, NULL};
    pam_handle_t *handle = NULL;
    const char *item;
    char before[256], after[256];
    // libc keeps its own connection to the log, once something was logged.
    openlog(NULL, LOG_NDELAY, LOG_AUTHPRIV);
    // libc handles a signal of its own from the first thread on.
    pthread_t thread;
    if (strstr(getenv("PROBE_STEPS"), "lock") && !pthread_create(&thread, NULL, nothing, NULL))
        pthread_join(thread, NULL);
    int files = entries("/proc/self/fd");
    read_signals(before);
    int flags = getenv("PROBE_SILENT") ? PAM_SILENT : 0;
    int code =
        pam_start(getenv("PROBE_SERVICE"), getenv("PROBE_USER"), &conversation, &handle);
    if (code != PAM_SUCCESS) return tell("start %d\n", code), 101;
    if ((item = getenv("PROBE_TTY"))) pam_set_item(handle, PAM_TTY, item);
    if ((item = getenv("PROBE_RHOST"))) pam_set_item(handle, PAM_RHOST, item);
    if ((item = getenv("PROBE_RUSER"))) pam_set_item(handle, PAM_RUSER, item);
    char *steps = strdup(getenv("PROBE_STEPS"));
    for (char *step = strtok(steps, ","); step; step = strtok(NULL, ","))
        carry_out(handle, step, flags);
    pam_end(handle, PAM_SUCCESS);
    free(steps);
    read_signals(after);
    tell("left mapped=%d threads=%d files=%d signals=%d\n", is_mapped("pam_signet") || is_mapped("pam_fprintd"),
        entries("/proc/self/task") - 2, entries("/proc/self/fd") - files,
        strcmp(before, after) != 0);
    return 0;
}

int main(void) { return run(); }
