// SPDX-License-Identifier: Apache-2.0
// What the played readers share: one lock, the packets on their way, fingers, and what they keep.
//
// PLAYED_READER names the model, PLAYED_PLACE a directory: `prints` in it is what the reader keeps,
// `control` the socket that takes what happens to it. Nothing is scripted: each message is answered
// by what it says and by the reader's state, in whatever order messages come.
#ifndef SIGNET_READER_H
#define SIGNET_READER_H

#include <stdint.h>

enum { NAME = 32, ID = 160, PRINTS = 64 };

// A print in the reader's storage.
struct print {
    char finger[NAME];      // whose finger it really is
    uint8_t id[ID];         // what the driver had stored with it
    int length;
};

// What a reader does; all is called with the lock held.
struct model {
    const char *name;
    uint16_t vendor, product;
    int capacity;
    // The reader has power again, or was reset.
    void (*start)(void);
    // The driver sent something to an endpoint.
    void (*take)(uint8_t endpoint, const uint8_t *bytes, int length);
    // The driver sent a control request; returns how much of `data` is its answer, or -1.
    int (*control)(uint8_t type, uint8_t request, uint16_t value, uint8_t *data, int length);
    // A finger was put on the reader that waits for one.
    void (*touched)(const char *finger);
    // It was lifted.
    void (*lifted)(void);
    // What another system would store with a print, numbered.
    int (*foreign)(uint8_t *id, int number);
};

extern const struct model elanmoc, synaptics, goodixmoc, fpcmoc;

// For models.

// Queues what the driver will read from an endpoint.
void answer(uint8_t endpoint, const void *bytes, int length);
// What is answered next tells whose the finger was.
void verdict(void);
// Forgets what was queued.
void forget_answers(void);
// Waits for a finger from now on, or not any more; one that rests on the reader counts at once.
void await_finger(int awaits);
// The finger on the reader; empty for none.
const char *finger(void);
int count(void);
struct print *print_at(int index);
// The print of a finger, or with these bytes in its id; NULL for none.
struct print *print_of(const char *finger);
struct print *print_with(const uint8_t *id, int length, int offset);
// Both write the storage to disk.
void keep(const char *finger, const uint8_t *id, int length);
void drop(struct print *print);
int has_fault(const char *name);

// For the bus.

extern const struct model *model;
void lock(void);
void unlock(void);
// Wakes every thread that waits for a change.
void changed(void);
// Waits for that, at most until then (monotonic milliseconds, 0 for ever); false when it is then.
int wait_changed(int64_t until);
int64_t now(void);
void plug(int in);
int is_plugged(void);

#endif
