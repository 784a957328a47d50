// SPDX-License-Identifier: Apache-2.0
// synaptics: messages in an envelope, of which the first answer can be read at once, and each later
// one when it was announced on the interrupt endpoint. It cannot list; a print that it does not have
// ends the comparison of all.
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLIES = 0x81, INTERRUPTS = 0x83, STAGES = 8, CAPACITY = 10, EVENTS = 64, LENGTH = 128 };
enum { NO_MATCH = 404, FULL = 501, NO_RECORD = 504 };
enum action { RESTS, IDENTIFIES, VERIFIES, ENROLS };

struct message {
    uint8_t bytes[LENGTH];
    int length;
};

static struct message events[EVENTS];
static int event_count, stage, total;
static uint8_t sequence;
static enum action action;
// The ids that a finger is compared with.
static struct message gallery[PRINTS];
static int gallery_count;
static char scanned[NAME];

static struct message message(uint8_t number, uint8_t kind, const void *payload, int length) {
    struct message made = {{0, 0, 0xFE, number, kind, (uint8_t)length}, 6 + length};
    if (length > 0) memcpy(made.bytes + 6, payload, (size_t)length);
    return made;
}

static void reply(uint8_t kind, const void *payload, int length) {
    struct message made = message(sequence, kind, payload, length);
    answer(REPLIES, made.bytes, made.length);
}

static void fail(uint8_t kind, int code) {
    reply(kind, (uint8_t[]){(uint8_t)(code >> 8), (uint8_t)code}, 2);
}

static void event(uint8_t number, uint8_t kind, const void *payload, int length) {
    // A test may touch for a whole enrolment before the driver has read any of it.
    if (event_count == EVENTS) abort();
    events[event_count++] = message(number, kind, payload, length);
    answer(INTERRUPTS, (uint8_t[7]){0x04}, 7);
}

static void start(void) {
    event_count = gallery_count = 0;
    action = RESTS;
    await_finger(0);
}

static void compare(enum action wanted, uint8_t ready, uint8_t failure) {
    for (int i = 0; i < gallery_count; i++)
        if (print_with(gallery[i].bytes, gallery[i].length, 1) == NULL)
            return fail(failure, NO_RECORD);
    action = wanted;
    reply(ready, NULL, 0);
    await_finger(1);
}

static void add(const uint8_t *id, int length) {
    if (gallery_count == PRINTS || length > LENGTH) return;
    gallery[gallery_count].length = length;
    memcpy(gallery[gallery_count++].bytes, id, (size_t)length);
}

static void identify(void) {
    if (gallery_count < total) return reply(0xE2, NULL, 0);
    compare(IDENTIFIES, 0x62, 0x63);
}

static struct message enrolled;

static void command(uint8_t kind, const uint8_t *payload, int length) {
    struct print *print;
    switch (kind) {
    case 0x11: return reply(0x13, (uint8_t[]){0}, 1);
    case 0xA1: return reply(0xA2, NULL, 0);
    case 0x41:
        if (has_fault("stubborn")) return;
        start();
        return reply(0x42, NULL, 0);
    case 0xE1:
        if (length < 3) return;
        gallery_count = 0;
        total = payload[0];
        add(payload + 3, payload[2]);
        return identify();
    case 0xE3:
        if (length < 2) return;
        add(payload + 2, payload[1]);
        return identify();
    case 0x65:
        gallery_count = 0;
        add(payload, length);
        return compare(VERIFIES, 0x66, 0x67);
    case 0x51:
        if (count() >= CAPACITY) return fail(0x58, FULL);
        // The finger's number, and the user's id.
        enrolled.length = length - 1;
        memcpy(enrolled.bytes, payload + 1, (size_t)enrolled.length);
        action = ENROLS;
        stage = 0;
        reply(0x54, NULL, 0);
        return await_finger(1);
    case 0x81:
        print = print_with(payload, length, 0);
        if (print == NULL) return fail(0x82, NO_RECORD);
        drop(print);
        return reply(0x83, NULL, 0);
    case 0x84:
        while (count() > 0) drop(print_at(0));
        return reply(0x86, NULL, 0);
    }
}

// Whether a message is the failure or the success of identifying, or of verifying.
static int tells_whose(uint8_t kind) {
    return kind == 0x63 || kind == 0x64 || kind == 0x67 || kind == 0x68;
}

static void take(uint8_t endpoint, const uint8_t *bytes, int length) {
    (void)endpoint;
    if (length < 1) return;
    if (bytes[0] == 1) return answer(REPLIES, (uint8_t[40]){0}, 40);
    if (bytes[0] == 168 && event_count > 0) {
        if (tells_whose(events[0].bytes[4])) verdict();
        answer(REPLIES, events[0].bytes, events[0].length);
        memmove(events, events + 1, sizeof events[0] * (size_t)--event_count);
        return;
    }
    if (bytes[0] != 167 || length < 5 || length < 5 + bytes[4]) return;
    // One that is taken back is not answered any more.
    sequence = bytes[2];
    command(bytes[3], bytes + 5, bytes[4]);
}

static void judge(const char *name) {
    uint8_t success = action == IDENTIFIES ? 0x64 : 0x68;
    for (int i = 0; i < gallery_count; i++) {
        struct print *print = print_with(gallery[i].bytes, gallery[i].length, 1);
        if (print == NULL || strcmp(print->finger, name) != 0) continue;
        uint8_t payload[LENGTH] = {99, 0};
        memcpy(payload + 2, print->id, (size_t)print->length);
        return event(sequence, success, payload, 2 + print->length);
    }
    event(sequence, success - 1, (uint8_t[]){NO_MATCH >> 8, NO_MATCH & 0xFF}, 2);
}

static void touched(const char *name) {
    snprintf(scanned, sizeof scanned, "%s", name);
    event(0, 0x91, (uint8_t[]){1}, 1);
    event(sequence, 0x60, NULL, 0);
    if (action == ENROLS) {
        uint8_t progress = (uint8_t)(++stage * 100 / STAGES);
        event(sequence, 0x55, &progress, 1);
    } else {
        judge(name);
    }
}

static void lifted(void) {
    if (action == RESTS) return;
    event(0, 0x91, (uint8_t[]){0}, 1);
    if (action != ENROLS) {
        action = RESTS;
    } else if (stage < STAGES) {
        await_finger(1);
    } else {
        action = RESTS;
        keep(scanned, enrolled.bytes, enrolled.length);
        event(sequence, 0x59, enrolled.bytes, enrolled.length);
    }
}

static int foreign(uint8_t *id, int number) {
    id[0] = 1;
    return 1 + snprintf((char *)id + 1, ID - 1, "FP1-20200101-7-%08X-elsewhere", number);
}

const struct model synaptics = {
    .name = "synaptics", .vendor = 0x06CB, .product = 0x00BD, .capacity = CAPACITY, .start = start,
    .take = take, .touched = touched, .lifted = lifted, .foreign = foreign};
