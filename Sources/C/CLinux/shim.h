// SPDX-License-Identifier: Apache-2.0
// What Glibc's own Swift module leaves out.
#ifndef SIGNET_CLINUX_H
#define SIGNET_CLINUX_H

// Without _GNU_SOURCE: it would change types that Glibc's module has already (fd_set). What it
// would have shown is declared below, as in glibc 2.36.
#include <shadow.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/vfs.h>

#ifndef __USE_GNU
struct ucred {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};
extern int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
struct statx_timestamp {
    long long tv_sec;
    unsigned tv_nsec;
    int reserved;
};
struct statx {
    unsigned stx_mask;
    unsigned stx_before_times[15];
    struct statx_timestamp stx_atime, stx_btime, stx_ctime, stx_mtime;
    unsigned long long stx_after_times[16];
};
_Static_assert(sizeof(struct statx) == 256, "the kernel's");
#define STATX_BTIME 0x00000800U
#define AT_EMPTY_PATH 0x1000
extern int statx(int directory, const char *path, int flags, unsigned mask, struct statx *status);
extern int renameat2(int from, const char *old, int to, const char *name, unsigned flags);
#define RENAME_NOREPLACE 1U
extern pid_t gettid(void);
extern int pidfd_open(pid_t pid, unsigned flags);  // <sys/pidfd.h>, which redefines S_IF* too
extern int sync_file_range(int file, off_t offset, off_t count, unsigned flags);
#define SYNC_FILE_RANGE_WRITE 2U
#define O_PATH 010000000  // <asm-generic/fcntl.h>, not <fcntl.h>: that one redefines S_IF*
#endif

// Variadic in C, which Swift does not import.
static inline int set_dumpable(int value) { return prctl(PR_SET_DUMPABLE, value, 0, 0, 0); }
// The control messages of recvmsg(2) are macros in C. As recv(2), and with the uid that the kernel vouches
// for as the packet's sender (unix(7) SCM_CREDENTIALS): 0xffffffff where it does not. Descriptors that
// come with it find no room, and the kernel closes them.
static inline ssize_t receive_with_sender(int fd, void *buffer, size_t size, int flags, uid_t *sender) {
    union {
        struct cmsghdr alignment;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1,
        .msg_control = control.bytes, .msg_controllen = sizeof control.bytes,
    };
    *sender = (uid_t)-1;
    ssize_t count = recvmsg(fd, &message, flags | MSG_CMSG_CLOEXEC);
    if (count < 0) { return count; }
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == 2 /* SCM_CREDENTIALS */
        && header->cmsg_len == CMSG_LEN(sizeof(struct ucred))) {
        struct ucred credentials;
        __builtin_memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
        *sender = credentials.uid;
    }
    return count;
}

#endif
