// SPDX-License-Identifier: Apache-2.0
// on-demand SOCKET PROGRAM... -- SOCKET PROGRAM...
//
// Takes systemd's place for two sockets and their services: when somebody connects to the first,
// both programs are started at once, as signetd.service wants signet-reader.service.
#define _GNU_SOURCE
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
#include <unistd.h>

enum { FIRST = 3, BACKLOG = 64 };

static int listen_at(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    unlink(path);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0) return -1;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0) return -1;
    return listen(listener, BACKLOG) < 0 ? -1 : listener;
}

static void become(int listener, char *const arguments[]) {
    char pid[32];
    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
    if (listener != FIRST) dup2(listener, FIRST);
    fcntl(FIRST, F_SETFD, 0);
    close_range(FIRST + 1, ~0U, 0);
    execv(arguments[0], arguments);
    _exit(127);
}

int main(int count, char *arguments[]) {
    int second = 2;
    while (second < count && strcmp(arguments[second], "--") != 0) second++;
    if (second == 2 || second + 2 >= count) return 2;
    arguments[second] = NULL;
    int daemon = listen_at(arguments[1]), reader = listen_at(arguments[second + 1]);
    if (daemon < 0 || reader < 0) {
        perror("on-demand");
        return 1;
    }
    // They may get descriptor 3 in place of their own.
    daemon = fcntl(daemon, F_DUPFD_CLOEXEC, 10);
    reader = fcntl(reader, F_DUPFD_CLOEXEC, 10);
    if (daemon < 0 || reader < 0) return 1;
    fprintf(stderr, "Listening\n");
    struct pollfd caller = {.fd = daemon, .events = POLLIN};
    while (poll(&caller, 1, -1) < 0)
        if (errno != EINTR) return 1;
    pid_t owner = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != owner) _exit(0);
        become(reader, arguments + second + 2);
    }
    become(daemon, arguments + 2);
}
