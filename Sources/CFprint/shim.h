// libfprint 2, the GLib that its interface is made of, and the USB devices that it hands out.
#ifndef SIGNET_CFPRINT_H
#define SIGNET_CFPRINT_H

#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
#include <glib.h>
#include <gusb.h>
#include <libfprint-2/fp-image-device.h>
#include <libfprint-2/fprint.h>

#endif
