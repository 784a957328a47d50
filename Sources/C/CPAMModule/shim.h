// SPDX-License-Identifier: Apache-2.0
// libpam, as a module sees it, and the libc that Embedded Swift has no module for.
#ifndef SIGNET_CPAMMODULE_H
#define SIGNET_CPAMMODULE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <syslog.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// Swift imports neither variadic functions nor these macros.
static inline int current_errno(void) { return errno; }
static inline int open_at(int directory, const char *name, int flags) {
    return openat(directory, name, flags);
}
static inline int terminal_device(int terminal, unsigned int *device) {
    return ioctl(terminal, TIOCGDEV, device);
}
static inline void log_line(const pam_handle_t *handle, int level, const char *text, int length) {
    pam_syslog(handle, level, "%.*s", length, text);
}
static inline int show_line(pam_handle_t *handle, int style, const char *text, int length) {
    return pam_prompt(handle, style, NULL, "%.*s", length, text);
}
static inline int connect_to(int socket, const struct sockaddr_un *address, socklen_t length) {
    return connect(socket, (const struct sockaddr *)address, length);
}
// pidfd_open(2)
static inline int process_handle(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}
// Whether the process is killed when the thread that started it ends (PR_SET_PDEATHSIG, prctl(2)).
static inline int ends_with_parent(void) {
    int signal_number = 0;
    return prctl(PR_GET_PDEATHSIG, &signal_number) == 0 && signal_number == SIGKILL;
}
// SO_PEERPIDFD of Linux 6.5, which the headers may not have yet: a pidfd of a socket's peer.
static inline int peer_handle(int socket) {
    int handle = -1;
    socklen_t length = sizeof handle;
    return getsockopt(socket, SOL_SOCKET, 77, &handle, &length) == 0 ? handle : -1;
}
static inline int is_ignored(int signal_number) {
    struct sigaction action;
    return sigaction(signal_number, NULL, &action) == 0
        && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}

#endif
