// SPDX-License-Identifier: Apache-2.0
// What drivers read of the reader's answers. Models see `answer` and `verdict` alone: reader.h.
#ifndef SIGNET_ANSWERS_H
#define SIGNET_ANSWERS_H

#include <stdint.h>

enum { NOTHING_YET = -1, TOO_LONG = -2, NEVER = -3 };

// Takes the next of an endpoint; its length, NOTHING_YET, or TOO_LONG where the driver has not
// enough room for it.
int next_answer(uint8_t endpoint, uint8_t *into, int capacity);
// When the next of those that come late is there, if that is before `until` (0 for ever).
int64_t next_due(int64_t until);
// What becomes of the reply to a control request, in its place: its length, TOO_LONG or NEVER, and
// when it comes.
int distort_reply(uint8_t *bytes, int length, int capacity, int64_t *due);
// Has something happen to one in four answers, from now on; 0 to nothing any more.
void distort_at_random(uint64_t seed);

#endif
