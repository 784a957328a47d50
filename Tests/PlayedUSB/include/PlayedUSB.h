// SPDX-License-Identifier: Apache-2.0
// A library of the tests that takes libusb's place in a program (LD_PRELOAD): the only device on its
// bus is a fingerprint reader that is played. See reader.h.
#ifndef SIGNET_PLAYEDUSB_H
#define SIGNET_PLAYEDUSB_H

// Whether this process has a played reader.
int plays_reader(void);

#endif
