// SPDX-License-Identifier: Apache-2.0
// The interface between OpenSSH and a security key provider, version 10 (PROTOCOL.u2f, "OpenSSH
// middleware"), and the libc that Embedded Swift has no module for.
#ifndef SIGNET_CSSHPROVIDER_H
#define SIGNET_CSSHPROVIDER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    SIGNET_SK_VERSION = 0x000a0000,
    SIGNET_SK_ECDSA = 0,
    SIGNET_SK_USER_PRESENCE = 0x01,
    SIGNET_SK_USER_VERIFICATION = 0x04,
    SIGNET_SK_RESIDENT = 0x20,
    SIGNET_SK_GENERAL = -1,
    SIGNET_SK_UNSUPPORTED = -2,
    SIGNET_SK_NOT_FOUND = -4,
    SIGNET_SK_EXISTS = -5,
};

// OpenSSH frees each answer, and each pointer in it, with free(3).
struct sk_enroll_response {
    uint8_t flags;
    uint8_t *public_key;
    size_t public_key_len;
    uint8_t *key_handle;
    size_t key_handle_len;
    uint8_t *signature;
    size_t signature_len;
    uint8_t *attestation_cert;
    size_t attestation_cert_len;
    uint8_t *authdata;
    size_t authdata_len;
};

struct sk_sign_response {
    uint8_t flags;
    uint32_t counter;
    uint8_t *sig_r;
    size_t sig_r_len;
    uint8_t *sig_s;
    size_t sig_s_len;
};

struct sk_resident_key {
    uint32_t alg;
    size_t slot;
    char *application;
    struct sk_enroll_response key;
    uint8_t flags;
    uint8_t *user_id;
    size_t user_id_len;
};

struct sk_option {
    char *name;
    char *value;
    uint8_t required;
};

uint32_t sk_api_version(void);
int sk_enroll(
    uint32_t alg, const uint8_t *challenge, size_t challenge_len, const char *application,
    uint8_t flags, const char *pin, struct sk_option **options,
    struct sk_enroll_response **enroll_response);
int sk_sign(
    uint32_t alg, const uint8_t *data, size_t data_len, const char *application,
    const uint8_t *key_handle, size_t key_handle_len, uint8_t flags, const char *pin,
    struct sk_option **options, struct sk_sign_response **sign_response);
int sk_load_resident_keys(
    const char *pin, struct sk_option **options, struct sk_resident_key ***rks, size_t *nrks);

// Swift imports no macros that are expressions.
static inline int provider_errno(void) { return errno; }
static inline int connect_provider(
    int socket, const struct sockaddr_un *address, socklen_t length) {
    return connect(socket, (const struct sockaddr *)address, length);
}

#endif
