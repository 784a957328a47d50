// SPDX-License-Identifier: Apache-2.0
// goodixmoc: packets with a header and a CRC, each command acknowledged before it is answered. It
// checks for duplicates when all stages are done, and knows each print by an id of its own making.
#include "reader.h"

#include <stdio.h>
#include <string.h>

enum { REPLIES = 0x83, STAGES = 12, CAPACITY = 20, HEADER = 8, CRC = 4, LENGTH = 4096 };
enum { TAG = 32, TAG_AT = 36, USER_AT = 68 };
enum { OK = 0x00, FAILED = 0x80, FULL = 0x8F, NO_SUCH_PRINT = 0x9C };

static char captured[NAME];
static uint8_t tag[TAG];
static uint8_t waiting;

static uint32_t crc(const uint8_t *bytes, int length) {
    uint32_t value = 0xFFFFFFFF;
    for (int i = 0; i < length; i++) {
        value ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0xEDB88320 : 0);
    }
    return ~value;
}

static void packet(uint8_t command, uint8_t detail, const uint8_t *body, int length) {
    uint8_t bytes[LENGTH] = {command, detail};
    int whole = length + CRC;
    bytes[4] = (uint8_t)whole;
    bytes[5] = (uint8_t)(whole >> 8);
    memcpy(bytes + HEADER, body, (size_t)length);
    uint32_t sum = crc(bytes, HEADER + length);
    for (int i = 0; i < CRC; i++) bytes[HEADER + length + i] = (uint8_t)(sum >> 8 * i);
    answer(REPLIES, bytes, HEADER + whole);
}

static void start(void) {
    waiting = 0;
    await_finger(0);
}

static int append(uint8_t *bytes, const struct print *print) {
    bytes[0] = (uint8_t)print->length;
    bytes[1] = (uint8_t)(print->length >> 8);
    memcpy(bytes + 2, print->id, (size_t)print->length);
    return 2 + print->length;
}

// By the tag and the user's id: libfprint's driver does not always ask for a tag before it stores one.
static struct print *known(const uint8_t *body, int length) {
    int rest = length - 2 - TAG_AT;
    return rest >= TAG ? print_with(body + 2 + TAG_AT, rest, TAG_AT) : NULL;
}

static int list(uint8_t *body) {
    int length = 2;
    body[1] = (uint8_t)count();
    for (int i = 0; i < count(); i++) length += append(body + length, print_at(i));
    return length;
}

static int delete(uint8_t *reply, uint8_t detail, const uint8_t *body, int length) {
    if (detail == 1) {
        while (count() > 0) drop(print_at(0));
    } else {
        struct print *print = known(body, length);
        if (print == NULL) reply[0] = NO_SUCH_PRINT;
        else drop(print);
    }
    return 1;
}

// Fills in the answer and gives its length; 0 where it comes later.
static int respond(
    uint8_t command, uint8_t detail, const uint8_t *body, int length, uint8_t *reply) {
    struct print *print = print_of(captured);
    switch (command) {
    case 0xD0: return memcpy(reply + 3, "APP", 4) == NULL ? 0 : 113;
    case 0xC0:
        reply[2] = CAPACITY;
        return 3;
    case 0xE0: return 2;
    case 0xA6: return list(reply);
    case 0xA7: return delete(reply, detail, body, length);
    case 0xA1:
        for (int i = 0; i < TAG; i++) tag[i] = (uint8_t)(tag[i] + i + 1 + count());
        memcpy(reply + 1, tag, TAG);
        return 1 + TAG;
    case 0xA0: return 3;
    case 0xA2: return 0;
    case 0xB0: return finger()[0] == '\0' ? 1 : 0;
    case 0xA3:
        if (print == NULL) return 3;
        reply[0] = FAILED;
        return 1 + append(reply + 1, print);
    case 0xA4:
        if (count() >= CAPACITY) reply[0] = FULL;
        else if (length > 2) keep(captured, body + 2, length - 2);
        return 1;
    case 0xA5:
        if (print == NULL) {
            reply[0] = FAILED;
            return 1;
        }
        return 8 + append(reply + 8, print);
    default: return 1;
    }
}

static void take(uint8_t endpoint, const uint8_t *bytes, int length) {
    (void)endpoint;
    if (length < HEADER + CRC) return;
    uint8_t reply[LENGTH - HEADER - CRC] = {OK};
    uint8_t command = bytes[0], detail = bytes[1];
    waiting = 0;
    forget_answers();
    packet(0xAA, 0, (uint8_t[]){0, command, 0}, 3);
    int answered = respond(command, detail, bytes + HEADER, length - HEADER - CRC, reply);
    if (command == 0xA5) verdict();
    if (answered > 0) return packet(command, detail, reply, answered);
    waiting = command;
    await_finger(command == 0xA2);
}

static void touched(const char *name) {
    snprintf(captured, sizeof captured, "%s", name);
    packet(0xA2, 0, (uint8_t[]){OK, 80, 90}, 3);
    waiting = 0;
}

static void lifted(void) {
    if (waiting != 0xB0) return;
    waiting = 0;
    packet(0xB0, 2, (uint8_t[]){OK, 0}, 2);
}

static int foreign(uint8_t *id, int number) {
    memset(id, 0, USER_AT + 1);
    id[0] = 67;
    id[1] = id[2] = 1;
    id[TAG_AT] = 0xEE;
    id[TAG_AT + 1] = (uint8_t)number;
    // Short: a whole storage has to fit into one answer.
    int length = snprintf((char *)id + USER_AT + 1, ID - USER_AT - 1, "other-%d", number);
    id[USER_AT] = (uint8_t)length;
    id[USER_AT + 1 + length] = 0;
    return USER_AT + 1 + length + 1;
}

const struct model goodixmoc = {
    .name = "goodixmoc", .vendor = 0x27C6, .product = 0x6496, .capacity = CAPACITY,
    .start = start, .take = take, .touched = touched, .lifted = lifted, .foreign = foreign};
