// SPDX-License-Identifier: Apache-2.0
// fpcmoc: commands are control requests; what takes the reader a while it tells on one endpoint. It
// compares with all that it stores, and checks for duplicates when all stages are done.
#include "reader.h"

#include <stdio.h>
#include <string.h>

enum { EVENTS = 0x81, STAGES = 12, CAPACITY = 10, IDENTITY = 68, PRINT = 9 + IDENTITY };
enum { IN = 0x80, OURS = 0xF5, IDENTITY_TYPE = 3 };
enum { READY = 0x02, FINGER_DOWN = 0x06, IMAGE = 0x08, PRINTS_STORED = 0x31 };
enum { PROGRESS = 1, NOT_FOUND = -4999, FULL = -1 };

static char captured[NAME];
static int stage;
// What the next print is stored with: the finger's number, a type, the length of the user's id,
// and that.
static uint8_t bound[PRINT];

static int put(uint8_t *into, uint32_t number) {
    for (int i = 0; i < 4; i++) into[i] = (uint8_t)(number >> 8 * i);
    return 4;
}

static uint32_t number_at(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void event(uint32_t kind, const void *body, int length) {
    uint8_t bytes[1024] = {0};
    put(bytes, kind);
    put(bytes + 4, (uint32_t)(12 + length));
    if (length > 0) memcpy(bytes + 12, body, (size_t)length);
    answer(EVENTS, bytes, 12 + length);
}

static void start(void) {
    stage = 0;
    await_finger(0);
}

// Reads what the driver says of a print; gives its length as it is stored, 0 for none.
static int read_identity(const uint8_t *data, int length, uint8_t *into) {
    if (length < 16 + IDENTITY || number_at(data + 8) > IDENTITY) return 0;
    uint32_t size = number_at(data + 8);
    into[0] = data[12];
    put(into + 1, number_at(data));
    put(into + 5, size);
    memcpy(into + 9, data + 16, size);
    return 9 + (int)size;
}

static void delete(const uint8_t *data, int length) {
    uint8_t id[PRINT];
    int size = read_identity(data, length, id);
    struct print *print = size > 0 ? print_with(id, size, 0) : NULL;
    if (print != NULL) drop(print);
}

static void list(void) {
    uint8_t body[8 + CAPACITY * PRINT] = {0};
    put(body + 4, (uint32_t)count());
    for (int i = 0; i < count() && i < CAPACITY; i++)
        memcpy(body + 8 + i * PRINT, print_at(i)->id, (size_t)print_at(i)->length);
    event(PRINTS_STORED, body, sizeof body);
}

static int identify(uint8_t *data) {
    struct print *print = print_of(captured);
    if (print == NULL) {
        put(data, (uint32_t)NOT_FOUND);
        return 20;
    }
    uint32_t size = number_at(print->id + 5);
    put(data + 4, number_at(print->id + 1));
    put(data + 8, 20);
    put(data + 12, size);
    put(data + 16, print->id[0]);
    memcpy(data + 20, print->id + 9, size);
    return 20 + (int)size;
}

// Fills in what the driver reads; gives its length.
static int reply(uint8_t request, uint8_t *data) {
    switch (request) {
    case 0x60:
        put(data + 8, 16);
        memset(data + 12, 0xDB, 16);
        return 28;
    case 0x67:
        stage = 0;
        return 12;
    case 0x68:
        stage++;
        put(data, stage < STAGES ? PROGRESS : 0);
        put(data + 4, (uint32_t)(STAGES - stage));
        return 8;
    case 0x69: return 8;
    case 0x6B:
        verdict();
        return identify(data);
    case 0x61:
        if (count() >= CAPACITY) put(data, (uint32_t)FULL);
        else keep(captured, bound, 9 + (int)number_at(bound + 5));
        return 4;
    default: return -1;
    }
}

static void command(uint8_t request, const uint8_t *data, int length) {
    switch (request) {
    case 0x01: return event(READY, (uint8_t[26]){0, 0, 0xF3, 0x05}, 26);
    case 0x02: return await_finger(1);
    case 0x03: return await_finger(0);
    case 0x09: return event(IMAGE, (uint8_t[12]){0x0F, 0x10, 0x01, 0x07}, 12);
    case 0x62:
        while (count() > 0) drop(print_at(0));
        return;
    case 0x63: return delete(data, length);
    case 0x6A:
        read_identity(data, length, bound);
        return;
    case 0x70: return list();
    }
}

static int control(uint8_t type, uint8_t request, uint16_t value, uint8_t *data, int length) {
    (void)value;
    if (!(type & IN)) {
        command(request, data, length);
        return length;
    }
    uint8_t replied[128] = {0};
    int count = reply(request, replied);
    if (count > length) count = length;
    if (count > 0) memcpy(data, replied, (size_t)count);
    return count;
}

static void take(uint8_t endpoint, const uint8_t *bytes, int length) {
    (void)endpoint, (void)bytes, (void)length;
}

static void touched(const char *name) {
    snprintf(captured, sizeof captured, "%s", name);
    event(FINGER_DOWN, NULL, 0);
}

static void lifted(void) {}

static int foreign(uint8_t *id, int number) {
    char user[IDENTITY];
    int length = snprintf(user, sizeof user, "FP1-20200101-7-%08X-elsewhere", number);
    id[0] = OURS;
    put(id + 1, IDENTITY_TYPE);
    put(id + 5, (uint32_t)length);
    memcpy(id + 9, user, (size_t)length);
    return 9 + length;
}

const struct model fpcmoc = {
    .name = "fpcmoc", .vendor = 0x10A5, .product = 0xFFE0, .capacity = CAPACITY, .start = start,
    .take = take, .control = control, .touched = touched, .lifted = lifted, .foreign = foreign};
