// SPDX-License-Identifier: Apache-2.0
// libsystemd: socket activation, readiness, journal, sessions.
#ifndef SIGNET_CSYSTEMD_H
#define SIGNET_CSYSTEMD_H

#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

#endif
