// SPDX-License-Identifier: Apache-2.0
// What tests need of fork, namespaces, terminals and credentials, which Swift cannot call:
// between fork and exec only C may run.
#ifndef SIGNET_CTESTSUPPORT_H
#define SIGNET_CTESTSUPPORT_H

// How a child is started. Descriptors that are -1 are taken from `terminal`.
struct spawn_plan {
    char *const *arguments;
    char *const *environment;
    const char *directory;
    const char *terminal;   // a slave's path: opened by the child, its controlling terminal; or NULL
    int standard[3];
    int host;               // pidfd whose namespaces are joined, or -1
    const char *group;      // the cgroup.procs, in the fixture, of the group that it is put into; or NULL
    const char *connects;   // a socket that is connected to instead, see receive_descriptor; or NULL
    int changes_user;
    unsigned int uid;
    unsigned int gid;
};

// Starts a child in a session of its own; returns its pid, or -errno.
int spawn_child(const struct spawn_plan *plan);

// The connection of a child that connects to a socket as its program, and has `from` as the other end
// of its standard input; it stays until that is closed. Returns a descriptor or -errno.
int receive_descriptor(int from);

// Opens a pipe that other programs do not inherit (pipe2). Returns 0 or -errno.
int open_pipe(int *read_end, int *write_end);

// write(2), without SIGPIPE where the reader is gone. Returns the count or -errno.
long write_quietly(int to, const void *from, unsigned long count);

// A handle of a process (pidfd): readable when it has ended. Returns it, or -errno.
int open_process(int pid);

// Where a login by the module can be stopped: as soon as it has read the proof; when it has verified it
// and is about to ask whether it is still good; and as soon as it has asked.
enum stop_moment { stop_proven, stop_verified, stop_asked };

// The second bytes of the packets that tell these moments.
struct tracer_frames {
    unsigned char proof;
    unsigned char question;
};

// A process that traces another: `said` gives 't' when it does, 's' when it has sent the other SIGSTOP
// at the moment and left it, and ends with it.
struct tracer {
    int pid;
    int said;
};

// Starts a tracer, which has to be waited for. Returns 0 or -errno.
int start_tracer(
    int process, enum stop_moment moment, const struct tracer_frames *frames,
    struct tracer *tracer);

// What a wait status says: the exit status or the signal, or -1.
int wait_exited(int status);
int wait_killed(int status);

// Opens a pseudo-terminal; `name` receives the slave's path. Returns 0 or -errno.
int open_terminal(int *master, int *slave, char *name, unsigned long capacity);

// Returns 0 or -errno.
int resize_terminal(int master, unsigned short rows, unsigned short columns);

// Who sent a datagram.
struct sender {
    int pid;
    unsigned int uid;
};

// A datagram socket at `path` that reports the sender: returns a descriptor or -errno.
int bind_datagram(const char *path);

// A socket that takes streams at `path`: returns a descriptor or -errno.
int listen_stream(const char *path);

// A stream connected to the socket at `path`: returns a descriptor or -errno.
int connect_stream(const char *path);

// One datagram or, from a pipe or terminal, some bytes; `sender` is filled where known.
// Returns the count, or -1 with errno set.
long receive_some(int from, void *into, unsigned long capacity, struct sender *sender);

// From now on virtual readers can be unplugged, exchanged, and improve prints: see readers.c.
void replug_virtual_readers(void);

// Whether libfprint's virtual readers of this process list and delete without half a second's pause.
void hurry_virtual_readers(int hurry);

// Has what the one virtual reader with storage keeps lie in a file too, an id a line, so that it is
// there again when a process is started anew. Call it before the readers are looked for.
void keep_virtual_storage(const char *path);

// Listens at a path, and has a process of its own start the program `arguments[0]` whenever a client
// connects and none runs, with the socket as systemd passes it. Both end with the caller. Call it
// while there is one thread. Returns 0 or an errno.
int start_on_demand(const char *path, char *const arguments[]);

#endif
