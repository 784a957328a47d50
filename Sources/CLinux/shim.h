// What Glibc's own Swift module leaves out.
#ifndef SIGNET_CLINUX_H
#define SIGNET_CLINUX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/prctl.h>
#include <sys/random.h>

#endif
