#define _GNU_SOURCE
#include "CTestSupport.h"

#include <dlfcn.h>
#include <stddef.h>

// libfprint's virtual readers wait so long for a command before each list and each deletion.
enum { VIRTUAL_PAUSE_MS = 500 };

typedef unsigned int (*add_timeout)(unsigned int, int (*)(void *), void *);

static int without_pause;

void hurry_virtual_readers(int hurry) {
    without_pause = hurry;
}

// Takes the place of GLib's function of this name in programs of the tests. A real reader lists in
// some milliseconds; the half second would be the tests' and the bench's alone.
__attribute__((visibility("default")))
unsigned int g_timeout_add(unsigned int interval, int (*function)(void *), void *data) {
    add_timeout next = (add_timeout)dlsym(RTLD_NEXT, "g_timeout_add");
    if (next == NULL) return 0;
    return next(without_pause && interval == VIRTUAL_PAUSE_MS ? 0 : interval, function, data);
}
