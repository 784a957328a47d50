// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int spawn_take_terminal(const struct spawn_plan *plan) {
    int terminal = open(plan->terminal, O_RDWR | O_CLOEXEC);
    if (terminal < 0) return -1;
    if (ioctl(terminal, TIOCSCTTY, 0) != 0) return -1;
    if (plan->changes_user && fchown(terminal, plan->uid, (gid_t)-1) != 0) return -1;
    return terminal;
}

static void spawn_reset_signals(void) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// In place of a program: connects to the socket and hands the connection to the peer at the other
// end of standard input, then stays until that end is closed.
static void spawn_connect(const char *path) {
    close_range(3, ~0U, 0);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0;
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) != 0)
        error = errno;
    union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(int))]; } control = { 0 };
    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
    memcpy(CMSG_DATA(&control.header), &connection, sizeof connection);
    struct iovec part = { &error, sizeof error };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (error == 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.space;
    }
    if (sendmsg(0, &message, MSG_NOSIGNAL) < 0) _exit(126);
    close(connection);
    struct pollfd end = { .fd = 0, .events = POLLIN };
    while (poll(&end, 1, -1) < 0 && errno == EINTR) {}
    _exit(0);
}

// The child, to its exec. Returns only on failure, with errno set.
static void spawn_become(const struct spawn_plan *plan) {
    if (setsid() < 0) return;
    int terminal = -1;
    if (plan->terminal != NULL && (terminal = spawn_take_terminal(plan)) < 0) return;
    for (int target = 0; target < 3; target++) {
        int source = plan->standard[target] >= 0 ? plan->standard[target] : terminal;
        if (dup2(source, target) < 0) return;
    }
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    spawn_reset_signals();
    umask(022);
    if (plan->changes_user) {
        // Not libc's functions: they have all threads follow, and here those are the caller's.
        if (syscall(SYS_setgroups, 1, &plan->gid) != 0) return;
        if (syscall(SYS_setresgid, plan->gid, plan->gid, plan->gid) != 0) return;
        if (syscall(SYS_setresuid, plan->uid, plan->uid, plan->uid) != 0) return;
    }
    if (chdir(plan->directory) != 0) return;
    if (plan->connects != NULL) spawn_connect(plan->connects);
    execvpe(plan->arguments[0], plan->arguments, plan->environment);
}

// Moves this process to the control group of a cgroup.procs file.
static int spawn_enter_group(const char *procs) {
    int file = open(procs, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t written = write(file, "0", 1);
    int error = errno;
    close(file);
    errno = error;
    return written == 1 ? 0 : -1;
}

// Joins the fixture, but for the process namespace of this process itself. Its control group is
// entered first: from within the namespace of control groups, ours could not be left.
static int spawn_join(const struct spawn_plan *plan) {
    if (setns(plan->host, CLONE_NEWNS) != 0) return -1;
    if (plan->group != NULL && spawn_enter_group(plan->group) != 0) return -1;
    return setns(plan->host, CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWCGROUP);
}

static void spawn_report(int pipe_end, int value) {
    ssize_t ignored = write(pipe_end, &value, sizeof value);
    (void)ignored;
}

// What the children of one `spawn_child` share with it.
struct spawn_family {
    const struct spawn_plan *plan;
    int report;
    // The flags of a clone(2) whose child borrows the caller's memory until its exec, or 0.
    int borrowing;
    // A stack for each of the two children.
    char *stacks;
};

enum { spawn_stack = 256 << 10 };

static int spawn_program(void *argument) {
    const struct spawn_family *family = argument;
    spawn_become(family->plan);
    spawn_report(family->report, -errno);
    _exit(127);
}

// Joins the fixture, and leaves a second child there, which is the *caller's* child (CLONE_PARENT) so
// that the caller itself can wait for it.
static int spawn_in_fixture(void *argument) {
    struct spawn_family *family = argument;
    int child = -1;
    if (spawn_join(family->plan) == 0)
        child = clone(
            spawn_program, family->stacks + 2 * spawn_stack,
            family->borrowing | CLONE_PARENT | SIGCHLD, family);
    spawn_report(family->report, child > 0 ? child : -errno);
    _exit(child > 0 ? 0 : 127);
}

int spawn_child(const struct spawn_plan *plan) {
    struct spawn_family family = { .plan = plan };
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return -errno;
    family.report = report[1];
    // The memory of a whole test process is not copied for a program that replaces it at once. What
    // does not become a program gets a copy: its caller would wait for it.
    if (plan->connects == NULL) family.borrowing = CLONE_VM | CLONE_VFORK;
    family.stacks = mmap(
        NULL, 2 * spawn_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
        -1, 0);
    if (family.stacks == MAP_FAILED) {
        int error = errno;
        close(report[0]);
        close(report[1]);
        return -error;
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t first = clone(
        plan->host >= 0 ? spawn_in_fixture : spawn_program, family.stacks + spawn_stack,
        family.borrowing | SIGCHLD, &family);
    int forked = first > 0 ? 0 : -errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    int child = plan->host < 0 ? first : 0;
    int value = 0;
    ssize_t count;
    // To the end, whatever is reported first: a child whose exec fails may be faster than the one
    // that says which it is, and has to be waited for.
    while (first > 0 && (count = read(report[0], &value, sizeof value)) != 0) {
        if (count < 0 && errno == EINTR) continue;
        if (count != sizeof value) break;
        if (value > 0) child = value;
        else forked = value;
    }
    close(report[0]);
    munmap(family.stacks, 2 * spawn_stack);
    if (first > 0 && (plan->host >= 0 || forked != 0)) waitpid(first, NULL, 0);
    if (forked != 0 && child > 0 && child != first) waitpid(child, NULL, 0);
    return forked != 0 ? forked : child > 0 ? child : -ESRCH;
}

int open_terminal(int *master, int *slave, char *name, unsigned long capacity) {
    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master < 0) return -errno;
    *slave = -1;
    if (grantpt(*master) == 0 && unlockpt(*master) == 0
        && ptsname_r(*master, name, capacity) == 0)
        *slave = ioctl(*master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*slave >= 0) return 0;
    int error = errno;
    close(*master);
    return -error;
}

int resize_terminal(int master, unsigned short rows, unsigned short columns) {
    struct winsize size = { .ws_row = rows, .ws_col = columns };
    return ioctl(master, TIOCSWINSZ, &size) == 0 ? 0 : -errno;
}

int bind_datagram(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sock < 0) return -errno;
    int one = 1;
    if (setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &one, sizeof one) == 0
        && bind(sock, (struct sockaddr *)&address, sizeof address) == 0
        && chmod(path, 0666) == 0)
        return sock;
    int error = errno;
    close(sock);
    return -error;
}

int listen_stream(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (sock < 0) return -errno;
    if (bind(sock, (struct sockaddr *)&address, sizeof address) == 0 && listen(sock, 64) == 0)
        return sock;
    int error = errno;
    close(sock);
    return -error;
}

int connect_stream(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (sock < 0) return -errno;
    if (connect(sock, (struct sockaddr *)&address, sizeof address) == 0) return sock;
    int error = errno;
    close(sock);
    return -error;
}

long receive_some(int from, void *into, unsigned long capacity, struct sender *sender) {
    union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(struct ucred))]; } control;
    struct iovec part = { into, capacity };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1,
                              .msg_control = &control, .msg_controllen = sizeof control };
    ssize_t count = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return errno == ENOTSOCK ? read(from, into, capacity) : -1;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS) {
            struct ucred credentials;
            memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
            *sender = (struct sender){ credentials.pid, credentials.uid };
        }
    return count;
}

int receive_descriptor(int from) {
    int error = 0;
    union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(int))]; } control;
    struct iovec part = { &error, sizeof error };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1,
                              .msg_control = &control, .msg_controllen = sizeof control };
    ssize_t count = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    if (count < 0) return -errno;
    if (count != sizeof error) return -ECONNRESET;
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (error != 0 || first == NULL) return error != 0 ? -error : -EBADMSG;
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(first), sizeof descriptor);
    return descriptor;
}

int open_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

long write_quietly(int to, const void *from, unsigned long count) {
    sigset_t broken, before;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    ssize_t written;
    do written = write(to, from, count); while (written < 0 && errno == EINTR);
    int error = errno;
    struct timespec now = { 0, 0 };
    if (written < 0 && error == EPIPE) sigtimedwait(&broken, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return written >= 0 ? written : -error;
}

int open_process(int pid) {
    int handle = pidfd_open(pid, 0);
    return handle >= 0 ? handle : -errno;
}

int wait_exited(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
int wait_killed(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : -1; }
