// SPDX-License-Identifier: Apache-2.0
// elanmoc: commands of two or three bytes; answers come on one endpoint, fingers on another. The
// first slot whose print matches counts, whichever account enrolled it. It says nothing of fingers before.
#include "reader.h"

#include <stdio.h>
#include <string.h>

enum { ANSWERS = 0x83, FINGERS = 0x84, SLOTS = 9, USER = 92 };
enum { OK = 0x00, NO_MATCH = 0xFD, EMPTY = 0xFE };

static int enrols;

static void say(uint8_t status) { answer(ANSWERS, (uint8_t[]){0x40, status}, 2); }

static void start(void) {
    enrols = 0;
    await_finger(0);
}

// What is stored with a print: two bytes, the length of the user's id, and that.
static struct print *stored(const uint8_t *user) {
    return user[2] <= USER ? print_with(user, 3 + user[2], 0) : NULL;
}

static char enrolled[NAME];

static void describe(int slot) {
    uint8_t bytes[97] = {0x43, EMPTY};
    struct print *print = print_at(slot);
    if (print != NULL) {
        bytes[1] = OK;
        memcpy(bytes + 2, print->id, (size_t)print->length);
    }
    answer(ANSWERS, bytes, sizeof bytes);
}

static void command(uint8_t code, const uint8_t *bytes, int length) {
    struct print *print;
    switch (code) {
    case 0x00: return say(0x03);
    case 0x04: return say((uint8_t)count());
    case 0x14: return say(OK);
    case 0x02: return start();
    case 0x73:
        enrols = 0;
        return await_finger(1);
    case 0x01:
        enrols = 1;
        return await_finger(1);
    case 0x22: return say(length >= 6 && stored(bytes + 3) != NULL ? 0x01 : 0x00);
    case 0x11:
        if (length >= 8 && bytes[7] <= USER) keep(enrolled, bytes + 5, 3 + bytes[7]);
        return say(OK);
    case 0x13:
        print = length >= 6 ? stored(bytes + 3) : NULL;
        if (print != NULL) drop(print);
        return say(OK);
    }
}

static void take(uint8_t endpoint, const uint8_t *bytes, int length) {
    (void)endpoint;
    if (length < 2) return;
    if (bytes[0] == 0x40 && bytes[1] == 0x19) return answer(ANSWERS, (uint8_t[]){0x10, 0x04}, 2);
    if (bytes[0] == 0x00 && bytes[1] == 0x0C)
        return answer(ANSWERS, (uint8_t[]){0x50, 0, 0x50, 0}, 4);
    if (length < 3) return;
    if (bytes[0] == 0x43 && bytes[1] == 0x21) return describe(bytes[2]);
    if (bytes[0] == 0x40 && bytes[1] == 0xFF) command(bytes[2], bytes, length);
}

static void touched(const char *name) {
    uint8_t status = OK;
    if (enrols) {
        snprintf(enrolled, sizeof enrolled, "%s", name);
    } else {
        struct print *print = print_of(name);
        status = print == NULL ? NO_MATCH : (uint8_t)(print - print_at(0));
    }
    if (!enrols) verdict();
    answer(FINGERS, (uint8_t[]){0x40, status}, 2);
}

static void lifted(void) {}

static int foreign(uint8_t *id, int number) {
    char user[USER];
    int length = snprintf(user, sizeof user, "FP1-20200101-7-%08X-elsewhere", number);
    id[0] = id[1] = 0;
    id[2] = (uint8_t)length;
    memcpy(id + 3, user, (size_t)length);
    return 3 + length;
}

const struct model elanmoc = {
    .name = "elanmoc", .vendor = 0x04F3, .product = 0x0C7E, .capacity = SLOTS + 1, .start = start,
    .take = take, .touched = touched, .lifted = lifted, .foreign = foreign};
