// SPDX-License-Identifier: Apache-2.0
// Starts a program whenever a client connects to a socket and it does not run, as systemd does.
#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 3, BACKLOG = 64 };

static void run(int listener, char *const arguments[], pid_t owner) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != owner) _exit(0);
    if (listener != FIRST) dup2(listener, FIRST);
    fcntl(FIRST, F_SETFD, 0);
    close_range(FIRST + 1, ~0U, 0);
    char pid[32];
    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
    unsetenv("LISTEN_FDNAMES");
    unsetenv("NOTIFY_SOCKET");
    // What plays a reader is in this process alone.
    const char *played = getenv("PLAYED_USB");
    if (played != NULL) setenv("LD_PRELOAD", played, 1);
    execv(arguments[0], arguments);
    _exit(127);
}

static void activate(int listener, char *const arguments[], pid_t owner) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != owner) _exit(0);
    prctl(PR_SET_NAME, "activator");
    // The sockets and pipes of its owner are not to stay open when that has ended.
    for (int number = FIRST; number < 1024; number++)
        if (number != listener) close(number);
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    for (;;) {
        struct pollfd ready = {.fd = listener, .events = POLLIN};
        if (poll(&ready, 1, -1) < 0) continue;
        pid_t self = getpid(), child = fork();
        if (child == 0) {
            signal(SIGTERM, SIG_DFL);
            signal(SIGINT, SIG_DFL);
            run(listener, arguments, self);
        }
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    }
}

int start_on_demand(const char *path, char *const arguments[]) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0) return errno;
    // Like systemd's, a socket with a listener stays.
    if (connect(listener, (struct sockaddr *)&address, sizeof address) == 0) {
        close(listener);
        return 0;
    }
    unlink(path);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0
        || listen(listener, BACKLOG) < 0) {
        int error = errno;
        close(listener);
        return error;
    }
    pid_t owner = getpid(), child = fork();
    if (child < 0) return errno;
    if (child == 0) activate(listener, arguments, owner);
    close(listener);
    return 0;
}
