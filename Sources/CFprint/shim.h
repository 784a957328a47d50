// libfprint 2 and the GLib that its interface is made of.
#ifndef SIGNET_CFPRINT_H
#define SIGNET_CFPRINT_H

#include <gio/gio.h>
#include <glib-unix.h>
#include <glib.h>
#include <libfprint-2/fp-image-device.h>
#include <libfprint-2/fprint.h>

#endif
