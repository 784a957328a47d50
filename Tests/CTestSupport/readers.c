// SPDX-License-Identifier: Apache-2.0
// Takes the place of a few functions of GLib's in programs of the tests, for the sake of libfprint's
// virtual readers: real ones list in some milliseconds, and keep their prints when no program runs.
#define _GNU_SOURCE
#include "CTestSupport.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The virtual readers wait so long for a command before each list and each deletion.
enum { PAUSE_MS = 500, LINE = 1024 };

typedef void (*destroy)(void *);

static int without_pause, replugging;
static const char *storage_path;
// The storage of the virtual reader that has one, and who in libfprint makes it.
static void *storage, *storage_maker;

static void *original(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) abort();
    return found;
}

#define ORIGINAL(name) ((__typeof__(&name))original(#name))

unsigned int g_timeout_add(unsigned int interval, int (*function)(void *), void *data);
void *g_hash_table_new_full(
    unsigned int (*hash)(const void *), int (*equal)(const void *, const void *),
    destroy destroy_key, destroy destroy_value);
const char *g_getenv(const char *name);
void g_hash_table_destroy(void *table);
int g_hash_table_add(void *table, void *key);
int g_hash_table_remove(void *table, const void *key);

void hurry_virtual_readers(int hurry) {
    without_pause = hurry;
}

void keep_virtual_storage(const char *path) {
    storage_path = strdup(path);
}

// Whether a command is to be heard in the pause: PATH.prints.pause lies beside what the reader keeps.
static int is_spoken_to(void) {
    char path[LINE];
    if (storage_path == NULL) return 0;
    snprintf(path, sizeof path, "%s.pause", storage_path);
    return access(path, F_OK) == 0;
}

unsigned int g_timeout_add(unsigned int interval, int (*function)(void *), void *data) {
    if (without_pause && interval == PAUSE_MS && !is_spoken_to()) interval = 0;
    return ORIGINAL(g_timeout_add)(interval, function, data);
}

void replug_virtual_readers(void) {
    replugging = 1;
}

// Which virtual readers there are is asked anew each time that readers are looked for: one beside
// whose socket lies PATH.unplugged is not there, and beside PATH.other another one is in its place.
const char *g_getenv(const char *name) {
    const char *value = ORIGINAL(g_getenv)(name);
    if (!replugging || value == NULL || strncmp(name, "FP_VIRTUAL_", 11) != 0) return value;
    static char path[LINE];
    snprintf(path, sizeof path, "%s.unplugged", value);
    if (access(path, F_OK) == 0) return NULL;
    snprintf(path, sizeof path, "%s.other", value);
    if (access(path, F_OK) != 0) return value;
    // Each call's answer has to outlive it.
    return strdup(path);
}

// Whether code at an address is libfprint's.
static int is_libfprint(const void *address) {
    Dl_info info;
    return dladdr(address, &info) != 0 && info.dli_fname != NULL
        && strstr(info.dli_fname, "libfprint") != NULL;
}

static void fill(void) {
    FILE *file = fopen(storage_path, "re");
    if (file == NULL) return;
    char line[LINE];
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        ORIGINAL(g_hash_table_add)(storage, strdup(line));
    }
    fclose(file);
}

static void write_key(void *key, void *value, void *file) {
    (void)value;
    fprintf(file, "%s\n", (const char *)key);
}

static void save(void) {
    char temporary[LINE];
    snprintf(temporary, sizeof temporary, "%s.new", storage_path);
    FILE *file = fopen(temporary, "we");
    if (file == NULL) abort();
    void (*each)(void *, void (*)(void *, void *, void *), void *) =
        original("g_hash_table_foreach");
    each(storage, write_key, file);
    if (fclose(file) != 0 || rename(temporary, storage_path) != 0) abort();
}

// The first that libfprint makes is that storage. Where the reader is found anew, the next one may be
// made before the last one is destroyed.
void *g_hash_table_new_full(
    unsigned int (*hash)(const void *), int (*equal)(const void *, const void *),
    destroy destroy_key, destroy destroy_value) {
    void *table = ORIGINAL(g_hash_table_new_full)(hash, equal, destroy_key, destroy_value);
    void *maker = __builtin_return_address(0);
    if (storage_path == NULL || !is_libfprint(maker)) return table;
    if (storage_maker == NULL) storage_maker = maker;
    if (maker != storage_maker) return table;
    storage = table;
    fill();
    return table;
}

// A reader that is found anew has a table of its own, with what it kept before.
void g_hash_table_destroy(void *table) {
    if (table == storage) storage = NULL;
    ORIGINAL(g_hash_table_destroy)(table);
}

int g_hash_table_add(void *table, void *key) {
    int result = ORIGINAL(g_hash_table_add)(table, key);
    if (storage != NULL && table == storage) save();
    return result;
}

int g_hash_table_remove(void *table, const void *key) {
    int result = ORIGINAL(g_hash_table_remove)(table, key);
    if (storage != NULL && table == storage) save();
    return result;
}
