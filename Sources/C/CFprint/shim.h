// SPDX-License-Identifier: Apache-2.0
// libfprint 2, and the USB devices that it hands out. What it takes of GLib is CGLib's.
#ifndef SIGNET_CFPRINT_H
#define SIGNET_CFPRINT_H

#include "../CGLib/shim.h"

#include <gusb.h>
#include <libfprint-2/fp-image-device.h>
#include <libfprint-2/fprint.h>

#endif
