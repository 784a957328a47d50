// SPDX-License-Identifier: Apache-2.0
// Stops a program between two of its system calls, where a signal from outside would come by chance.
#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

// A system call under way.
struct tracer_call {
    unsigned long number;
    unsigned long arguments[6];
};

// The second byte of a packet in the traced program's memory says what it is; -1 if there is none.
static int tracer_kind(int process, unsigned long address) {
    unsigned char bytes[2];
    struct iovec here = { bytes, sizeof bytes }, there = { (void *)address, sizeof bytes };
    return process_vm_readv(process, &here, 1, &there, 1, 0) == sizeof bytes ? bytes[1] : -1;
}

// Whether the call that has just returned is the one behind which the program is to stop.
static int tracer_reached(
    int process, enum stop_moment moment, const struct tracer_frames *frames,
    const struct tracer_call *call, long result, int *has_proof) {
    if (call->number == SYS_sendto && moment == stop_asked)
        return result > 1 && tracer_kind(process, call->arguments[1]) == frames->question;
    if (call->number != SYS_recvfrom) return 0;
    if (result > 1 && !(call->arguments[3] & MSG_PEEK)
        && tracer_kind(process, call->arguments[1]) == frames->proof) {
        *has_proof = 1;
        return moment == stop_proven;
    }
    // The look for what came unasked, after the proof was verified and before the question.
    return *has_proof && moment == stop_verified && result == -EAGAIN;
}

static void tracer_say(int report, char what) {
    ssize_t ignored = write(report, &what, 1);
    (void)ignored;
}

static void tracer_run(
    int process, enum stop_moment moment, const struct tracer_frames *frames, int report) {
    if (ptrace(PTRACE_SEIZE, process, 0, PTRACE_O_TRACESYSGOOD) != 0
        || ptrace(PTRACE_INTERRUPT, process, 0, 0) != 0)
        return;
    struct tracer_call call = { 0 };
    int is_ready = 0, has_proof = 0, status;
    for (;;) {
        while (waitpid(process, &status, __WALL) < 0)
            if (errno != EINTR) return;
        if (!WIFSTOPPED(status)) return;
        int delivered = WSTOPSIG(status);
        if (status >> 16 != 0) {
            delivered = 0;
            if (!is_ready) tracer_say(report, 't');
            is_ready = 1;
        } else if (delivered == (SIGTRAP | 0x80)) {
            delivered = 0;
            struct __ptrace_syscall_info info;
            if (ptrace(PTRACE_GET_SYSCALL_INFO, process, sizeof info, &info) <= 0) return;
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
                call.number = info.entry.nr;
                for (int i = 0; i < 6; i++) call.arguments[i] = info.entry.args[i];
            } else if (info.op == PTRACE_SYSCALL_INFO_EXIT
                       && tracer_reached(
                           process, moment, frames, &call, info.exit.rval, &has_proof)) {
                // It takes effect as the program leaves the call, before anything else.
                if (kill(process, SIGSTOP) != 0) return;
                if (ptrace(PTRACE_DETACH, process, 0, 0) != 0) return;
                tracer_say(report, 's');
                return;
            }
        }
        if (ptrace(PTRACE_SYSCALL, process, 0, delivered) != 0) return;
    }
}

int start_tracer(
    int process, enum stop_moment moment, const struct tracer_frames *frames,
    struct tracer *tracer) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    int child = fork();
    if (child == 0) {
        tracer_run(process, moment, frames, ends[1]);
        _exit(0);
    }
    int error = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return -error;
    }
    *tracer = (struct tracer){ child, ends[0] };
    return 0;
}
