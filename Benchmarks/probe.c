// SPDX-License-Identifier: Apache-2.0
// A PAM application that tells what an authentication costs: one line for each thing that
// happens, with CLOCK_MONOTONIC nanoseconds. Used for every peer alike.
//
//   probe authenticate SERVICE USER    start, message…, return CODE; PROBE_RHOST is PAM_RHOST
//   probe memory SERVICE USER          the same, and PSS in kB at each point
//   probe load MODULE                  nanoseconds of dlopen in this fresh process
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int with_memory;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// Into static storage, so that measuring adds nothing to what is measured.
static int pss(void) {
    static char text[4096];
    int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count < 0) return -1;
    text[count] = 0;
    const char *line = strstr(text, "\nPss:");
    return line ? atoi(line + 5) : -1;
}

static void tell(const char *what, long long time, int number, const char *text) {
    char line[1024];
    int length = snprintf(line, sizeof line, "%s %lld %d %d %s\n", what, time, number,
                          with_memory ? pss() : 0, text);
    if (length > (int)sizeof line) length = sizeof line;
    if (write(STDOUT_FILENO, line, length) < 0) _exit(3);
}

static int converse(int count, const struct pam_message **messages,
                    struct pam_response **responses, void *unused) {
    (void)unused;
    *responses = calloc(count, sizeof **responses);
    if (*responses == NULL) return PAM_BUF_ERR;
    for (int i = 0; i < count; i++)
        tell("message", now(), messages[i]->msg_style, messages[i]->msg);
    return PAM_SUCCESS;
}

static int authenticate(const char *service, const char *user) {
    struct pam_conv conversation = { converse, NULL };
    pam_handle_t *handle = NULL;
    if (pam_start(service, user, &conversation, &handle) != PAM_SUCCESS) return 2;
    // What a remote login has, and one that is not.
    const char *host = getenv("PROBE_RHOST");
    if (host && pam_set_item(handle, PAM_RHOST, host) != PAM_SUCCESS) return 2;
    long long start = now();
    tell("start", start, 0, "");
    int code = pam_authenticate(handle, 0);
    long long end = now();
    tell("return", end, code, "");
    pam_end(handle, code);
    return 0;
}

static int load(const char *module) {
    long long start = now();
    void *handle = dlopen(module, RTLD_NOW);
    long long end = now();
    if (handle == NULL) fprintf(stderr, "%s\n", dlerror());
    printf("load %lld\n", end - start);
    return handle == NULL;
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "load") == 0) return load(arguments[2]);
    if (count != 4) return 64;
    with_memory = strcmp(arguments[1], "memory") == 0;
    return authenticate(arguments[2], arguments[3]);
}
