// SPDX-License-Identifier: Apache-2.0
// The reader itself: fingers, faults, storage, and the socket by which tests play it.
#define _GNU_SOURCE
#include "reader.h"

#include "PlayedUSB.h"
#include "answers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { FAULTS = 16, LINE = 512, PATIENCE_MS = 10000, GLANCE_MS = 500 };

const struct model *model;

static const struct model *const models[] = {&elanmoc, &synaptics, &goodixmoc, &fpcmoc};
static const char *place;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition;
static struct print prints[PRINTS];
static int print_count, awaits, lifting;
static char present[NAME];
static char faults[FAULTS][NAME];

int plays_reader(void) { return model != NULL; }

void lock(void) { pthread_mutex_lock(&mutex); }
void unlock(void) { pthread_mutex_unlock(&mutex); }
void changed(void) { pthread_cond_broadcast(&condition); }

int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int wait_changed(int64_t until) {
    if (until == 0) return pthread_cond_wait(&condition, &mutex) == 0;
    struct timespec time = {.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000};
    return pthread_cond_timedwait(&condition, &mutex, &time) == 0;
}

void await_finger(int now_awaits) {
    awaits = now_awaits;
    if (awaits && present[0] != '\0' && !lifting) {
        awaits = 0;
        model->touched(present);
    }
    changed();
}

const char *finger(void) { return present; }
int count(void) { return print_count; }
struct print *print_at(int index) { return index < print_count ? &prints[index] : NULL; }

struct print *print_of(const char *name) {
    for (int i = 0; i < print_count; i++)
        if (strcmp(prints[i].finger, name) == 0) return &prints[i];
    return NULL;
}

struct print *print_with(const uint8_t *id, int length, int offset) {
    for (int i = 0; i < print_count; i++)
        if (prints[i].length >= offset + length
            && memcmp(prints[i].id + offset, id, (size_t)length) == 0)
            return &prints[i];
    return NULL;
}

int has_fault(const char *name) {
    for (int i = 0; i < FAULTS; i++)
        if (strcmp(faults[i], name) == 0) return 1;
    return 0;
}

static void set_fault(const char *name, int is_set) {
    for (int i = 0; i < FAULTS; i++)
        if (strcmp(faults[i], name) == 0) faults[i][0] = '\0';
    for (int i = 0; is_set && i < FAULTS; i++) {
        if (faults[i][0] != '\0') continue;
        snprintf(faults[i], NAME, "%s", name);
        return;
    }
}

static void save(void) {
    char path[LINE], temporary[LINE + 8];
    snprintf(path, sizeof path, "%s/prints", place);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "we");
    if (file == NULL) abort();
    for (int i = 0; i < print_count; i++) {
        fprintf(file, "%s ", prints[i].finger);
        for (int k = 0; k < prints[i].length; k++) fprintf(file, "%02x", prints[i].id[k]);
        fputc('\n', file);
    }
    if (fclose(file) != 0 || rename(temporary, path) != 0) abort();
}

static void load(void) {
    char path[LINE], line[LINE], id[2 * ID + 1];
    snprintf(path, sizeof path, "%s/prints", place);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    while (print_count < PRINTS && fgets(line, sizeof line, file) != NULL) {
        struct print *print = &prints[print_count];
        if (sscanf(line, "%31s %320s", print->finger, id) != 2) continue;
        print->length = (int)strlen(id) / 2;
        for (int i = 0; i < print->length; i++) sscanf(id + 2 * i, "%2hhx", &print->id[i]);
        print_count++;
    }
    fclose(file);
}

void keep(const char *name, const uint8_t *id, int length) {
    if (print_count == PRINTS || length > ID) return;
    struct print *print = &prints[print_count++];
    *print = (struct print){.length = length};
    snprintf(print->finger, NAME, "%s", name);
    memcpy(print->id, id, (size_t)length);
    save();
}

void drop(struct print *print) {
    for (struct print *at = print; at + 1 < prints + print_count; at++) *at = at[1];
    print_count--;
    save();
}

static void keep_foreign(const char *name) {
    uint8_t id[ID];
    keep(name, id, model->foreign(id, print_count));
}

static void touch(const char *name, int patience) {
    int64_t until = now() + patience;
    while (!awaits && wait_changed(until)) {}
    if (!awaits) return;
    if (has_fault("crash")) abort();
    awaits = 0;
    snprintf(present, NAME, "%s", name);
    model->touched(name);
    changed();
}

static void lift(void) {
    present[0] = '\0';
    model->lifted();
    changed();
}

// What happens to the reader, in the words of a test.
static void perform(const char *verb, const char *name) {
    int is_brief = strcmp(verb, "BRUSH") == 0;
    if (is_brief || strcmp(verb, "TOUCH") == 0) {
        lifting = 1;
        touch(name, is_brief ? GLANCE_MS : PATIENCE_MS);
        lifting = 0;
        lift();
    } else if (strcmp(verb, "HOLD") == 0) {
        touch(name, PATIENCE_MS);
    } else if (strcmp(verb, "LIFT") == 0) {
        lift();
    } else if (strcmp(verb, "UNPLUG") == 0) {
        plug(0);
    } else if (strcmp(verb, "PLUG") == 0) {
        plug(1);
    } else if (strcmp(verb, "FAULT") == 0) {
        set_fault(name, 1);
    } else if (strcmp(verb, "MEND") == 0) {
        set_fault(name, 0);
    } else if (strcmp(verb, "DISTORT") == 0) {
        distort_at_random(strtoull(name, NULL, 10));
    } else if (strcmp(verb, "LOSE") == 0) {
        struct print *print = print_of(name);
        if (print != NULL) drop(print);
    } else if (strcmp(verb, "FOREIGN") == 0) {
        keep_foreign(name);
    } else if (strcmp(verb, "FILL") == 0) {
        while (print_count < model->capacity) keep_foreign("nobody");
    }
}

// One command a connection, read to its end; the connection is closed when it is done.
static void *serve(void *argument) {
    int listener = *(int *)argument;
    while (1) {
        int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0) continue;
        char line[LINE], verb[NAME] = "", name[NAME] = "";
        size_t length = 0;
        long got;
        while (length < sizeof line - 1
               && (got = read(connection, line + length, sizeof line - 1 - length)) > 0)
            length += (size_t)got;
        line[length] = '\0';
        if (sscanf(line, "%31s %31s", verb, name) >= 1) {
            lock();
            perform(verb, name);
            unlock();
        }
        close(connection);
    }
    return NULL;
}

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("PLAYED_READER");
    place = getenv("PLAYED_PLACE");
    if (name == NULL || place == NULL) return;
    for (unsigned i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strcmp(models[i]->name, name) == 0) model = models[i];
    if (model == NULL) return;
    // Nobody that this process starts has one.
    unsetenv("LD_PRELOAD");
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &attributes);
    load();
    model->start();
    static int listener;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/control", place);
    unlink(address.sun_path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pthread_t thread;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0
        || listen(listener, 8) != 0 || pthread_create(&thread, NULL, serve, &listener) != 0)
        abort();
}
