// SPDX-License-Identifier: Apache-2.0
// libpam, as an application calls it, and what a password check in its own process needs.
//
// No _GNU_SOURCE: it changes structures that Glibc's own Swift module has imported without it.
#ifndef SIGNET_CPAM_H
#define SIGNET_CPAM_H

#include <errno.h>
#include <fcntl.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Variadic, hidden behind _GNU_SOURCE, or made of unions: one line each.
static inline int signet_set_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
static inline int signet_close_from(unsigned first) {
    return (int)syscall(SYS_close_range, first, ~0U, 0);
}
static inline int signet_pipe(int *ends) {
    return (int)syscall(SYS_pipe2, ends, O_CLOEXEC | O_NONBLOCK);
}
static inline int signet_kill(int pidfd) { return pidfd_send_signal(pidfd, SIGKILL, NULL, 0); }

int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
static inline int signet_add_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// Waits for the end: 0 with the exit code, or -1 for a process that ended in any other way.
static inline int signet_reap(int pidfd, int *exit_code) {
    siginfo_t info = {0};
    int status;
    do {
        status = waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
    } while (status != 0 && errno == EINTR);
    if (status != 0 || info.si_code != CLD_EXITED) return -1;
    *exit_code = info.si_status;
    return 0;
}

#endif
