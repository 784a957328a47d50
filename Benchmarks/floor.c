// SPDX-License-Identifier: Apache-2.0
// What nobody can be faster than: libfprint's own latency from a touch to the match, and one
// P-256 signature and verification. Asks for touches by lines on standard output:
// "enrolling", then RUNS times "waiting RUN", when the reader needs the finger, and
// "matched NANOSECONDS" (CLOCK_MONOTONIC), then "crypto NANOSECONDS" (median of a signature with its verification).
//
//   floor RUNS      with the reader that FP_VIRTUAL_DEVICE_STORAGE names
#include <libfprint-2/fprint.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void tell(const char *what, long long number) {
    printf("%s %lld\n", what, number);
    fflush(stdout);
}

static int order(const void *left, const void *right) {
    long long a = *(const long long *)left, b = *(const long long *)right;
    return (a > b) - (a < b);
}

static int sign_and_verify(EVP_PKEY *key) {
    static const unsigned char text[600] = "as long as a statement";
    unsigned char signature[256];
    size_t length = sizeof signature;
    EVP_MD_CTX *signer = EVP_MD_CTX_new(), *verifier = EVP_MD_CTX_new();
    int good = EVP_DigestSignInit(signer, NULL, EVP_sha256(), NULL, key) == 1
        && EVP_DigestSign(signer, signature, &length, text, sizeof text) == 1
        && EVP_DigestVerifyInit(verifier, NULL, EVP_sha256(), NULL, key) == 1
        && EVP_DigestVerify(verifier, signature, length, text, sizeof text) == 1;
    EVP_MD_CTX_free(signer);
    EVP_MD_CTX_free(verifier);
    return good;
}

static int measure_crypto(void) {
    enum { count = 101 };
    static long long times[count];
    EVP_PKEY *key = EVP_EC_gen("P-256");
    if (key == NULL) return 1;
    for (int i = 0; i < count; i++) {
        long long start = now();
        if (!sign_and_verify(key)) return 1;
        times[i] = now() - start;
    }
    qsort(times, count, sizeof times[0], order);
    tell("crypto", times[count / 2]);
    EVP_PKEY_free(key);
    return 0;
}

// The match that is under way, from 1, until it was told that it waits.
static int beginning;

static void status_changed(FpDevice *device, GParamSpec *property, gpointer data) {
    (void)property, (void)data;
    if (beginning == 0 || !(fp_device_get_finger_status(device) & FP_FINGER_STATUS_NEEDED)) return;
    tell("waiting", beginning);
    beginning = 0;
}

static int measure_matches(FpDevice *device, int runs) {
    GError *error = NULL;
    tell("enrolling", 0);
    FpPrint *print = fp_device_enroll_sync(device, fp_print_new(device), NULL, NULL, NULL, &error);
    if (print == NULL) {
        fprintf(stderr, "floor: %s\n", error->message);
        return 1;
    }
    g_signal_connect(device, "notify::finger-status", G_CALLBACK(status_changed), NULL);
    for (int run = 1; run <= runs; run++) {
        gboolean matches = FALSE;
        beginning = run;
        if (!fp_device_verify_sync(device, print, NULL, NULL, NULL, &matches, NULL, &error)) {
            fprintf(stderr, "floor: %s\n", error->message);
            return 1;
        }
        long long end = now();
        if (!matches) return 1;
        tell("matched", end);
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count != 2) return 64;
    FpContext *context = fp_context_new();
    GPtrArray *devices = fp_context_get_devices(context);
    if (devices->len == 0) return 2;
    FpDevice *device = g_ptr_array_index(devices, 0);
    if (!fp_device_open_sync(device, NULL, NULL)) return 3;
    int failed = measure_matches(device, atoi(arguments[1]));
    fp_device_close_sync(device, NULL, NULL);
    g_object_unref(context);
    return failed || measure_crypto();
}
