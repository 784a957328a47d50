// SPDX-License-Identifier: Apache-2.0
// What the reader has answered and the driver has not read yet, in order, and what becomes of it on
// the way where a test wants that.
#include "answers.h"

#include "reader.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 4096, LATE_MS = 300, ONE_IN = 4 };

struct packet {
    struct packet *next;
    int64_t due;
    uint8_t endpoint;
    int length;
    uint8_t bytes[];
};

// A message on its way.
struct message {
    uint8_t bytes[MESSAGE];
    int length, copies, overtakes;
    int64_t due;
};

static struct packet *packets;
static uint64_t random_state;
static int tells_whose;

void verdict(void) { tells_whose = 1; }

void distort_at_random(uint64_t seed) { random_state = seed; }

static uint32_t any_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16);
}

// MARK: - What becomes of a message

static void fill(struct message *message) { memset(message->bytes, 0x5A, (size_t)message->length); }

static void empty(struct message *message) { message->length = 0; }

static void truncate_half(struct message *message) { message->length /= 2; }

static void extend(struct message *message) {
    memset(message->bytes + message->length, 0xA5, (size_t)(MESSAGE - message->length));
    message->length = 2 * message->length + 1536 < MESSAGE ? 2 * message->length + 1536 : MESSAGE;
}

static void flip(struct message *message) {
    static uint32_t turn;
    uint32_t bit = random_state != 0 ? any_number() : (turn += 5);
    if (message->length > 0)
        message->bytes[bit / 8 % (uint32_t)message->length] ^= (uint8_t)(1 << bit % 8);
}

static void repeat(struct message *message) { message->copies = 2; }
static void omit(struct message *message) { message->copies = 0; }
static void overtake(struct message *message) { message->overtakes = 1; }
static void delay(struct message *message) { message->due = now() + LATE_MS; }

// A reader that compares itself is believed: what it says of a finger is not changed by chance into
// something else that it might have said (elanmoc takes half of a verdict for a match), nor said
// twice.
static const struct {
    const char *name;
    void (*perform)(struct message *);
    int makes_up;
} distortions[] = {
    {"garbage", fill, 0}, {"empty", empty, 0}, {"truncated", truncate_half, 1},
    {"oversized", extend, 0}, {"flipped", flip, 1}, {"repeated", repeat, 1},
    {"reordered", overtake, 0}, {"dropped", omit, 0}, {"late", delay, 0}};

enum { KINDS = sizeof distortions / sizeof distortions[0] };

static void distort(struct message *message) {
    int is_verdict = tells_whose;
    tells_whose = 0;
    int chosen = -1;
    if (random_state != 0 && any_number() % ONE_IN == 0) chosen = (int)(any_number() % KINDS);
    for (int i = 0; i < KINDS; i++)
        if (has_fault(distortions[i].name)
            || (i == chosen && !(is_verdict && distortions[i].makes_up)))
            distortions[i].perform(message);
}

static struct message message(const void *bytes, int length) {
    struct message made = {.length = length < MESSAGE ? length : MESSAGE, .copies = 1};
    memcpy(made.bytes, bytes, (size_t)made.length);
    return made;
}

int distort_reply(uint8_t *bytes, int length, int capacity, int64_t *due) {
    struct message made = message(bytes, length);
    distort(&made);
    *due = made.due;
    if (made.copies == 0) return NEVER;
    if (made.length > capacity) return TOO_LONG;
    memcpy(bytes, made.bytes, (size_t)made.length);
    return made.length;
}

// MARK: - The queue

static void enqueue(uint8_t endpoint, const struct message *message) {
    struct packet *packet = malloc(sizeof *packet + (size_t)message->length);
    if (packet == NULL) abort();
    *packet = (struct packet){
        .due = message->due, .endpoint = endpoint, .length = message->length};
    memcpy(packet->bytes, message->bytes, (size_t)message->length);
    struct packet **last = &packets;
    while (*last != NULL && !(message->overtakes && (*last)->next == NULL)) last = &(*last)->next;
    packet->next = *last;
    *last = packet;
}

void answer(uint8_t endpoint, const void *bytes, int length) {
    struct message made = message(bytes, length);
    distort(&made);
    for (int i = 0; i < made.copies; i++) enqueue(endpoint, &made);
    changed();
}

int next_answer(uint8_t endpoint, uint8_t *into, int capacity) {
    for (struct packet **at = &packets; *at != NULL; at = &(*at)->next) {
        struct packet *packet = *at;
        if (packet->endpoint != endpoint) continue;
        if (packet->due > now()) return NOTHING_YET;
        int length = packet->length <= capacity ? packet->length : TOO_LONG;
        memcpy(into, packet->bytes, (size_t)(length < 0 ? capacity : length));
        *at = packet->next;
        free(packet);
        return length;
    }
    return NOTHING_YET;
}

int64_t next_due(int64_t until) {
    for (struct packet *at = packets; at != NULL; at = at->next)
        if (at->due > now() && (until == 0 || at->due < until)) until = at->due;
    return until;
}

void forget_answers(void) {
    while (packets != NULL) {
        struct packet *packet = packets;
        packets = packet->next;
        free(packet);
    }
}
