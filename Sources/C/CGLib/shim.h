// SPDX-License-Identifier: Apache-2.0
// GLib and GIO: the main loops, the system bus, and the form that prints are written in.
#ifndef SIGNET_CGLIB_H
#define SIGNET_CGLIB_H

#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
#include <glib.h>

#endif
