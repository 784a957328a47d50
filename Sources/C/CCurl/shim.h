// SPDX-License-Identifier: Apache-2.0
// libcurl. curl_easy_setopt and curl_easy_getinfo are variadic, so each type has its own line.
#ifndef SIGNET_CCURL_H
#define SIGNET_CCURL_H

#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

typedef size_t (*signet_curl_sink)(char *bytes, size_t size, size_t count, void *context);
typedef curl_socket_t (*signet_curl_opener)(void *context, curlsocktype, struct curl_sockaddr *);
typedef int (*signet_curl_progress)(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

static inline CURLcode signet_curl_long(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode signet_curl_offset(CURL *curl, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode signet_curl_text(CURL *curl, CURLoption option, const char *value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode signet_curl_pointer(CURL *curl, CURLoption option, const void *value) {
    return curl_easy_setopt(curl, option, (void *)value);
}

static inline CURLcode signet_curl_call(CURL *curl, CURLoption option, signet_curl_sink value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode signet_curl_watch(CURL *curl, signet_curl_progress value) {
    return curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, value);
}

static inline CURLcode signet_curl_open(CURL *curl, signet_curl_opener value) {
    return curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, value);
}

// The bytes of the address that a connection is about to be made to: 4, or 16, or 0 for other families.
static inline size_t signet_curl_address(const struct curl_sockaddr *to, unsigned char bytes[16]) {
    if (to->family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *)&to->addr)->sin_addr, 4);
        return 4;
    }
    if (to->family == AF_INET6) {
        memcpy(bytes, (const char *)&to->addr + offsetof(struct sockaddr_in6, sin6_addr), 16);
        return 16;
    }
    return 0;
}

static inline CURLcode signet_curl_copied(CURL *curl, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(curl, option, &blob);
}

static inline long signet_curl_status(CURL *curl) {
    long status = 0;
    return curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

// What OpenSSL found wrong with the certificate, X509_V_ERR_…; 0 for nothing.
static inline long signet_curl_verification(CURL *curl) {
    long code = 0;
    return curl_easy_getinfo(curl, CURLINFO_SSL_VERIFYRESULT, &code) == CURLE_OK ? code : 0;
}

// 0 for as long as nothing of the request has left.
static inline curl_off_t signet_curl_sent(CURL *curl) {
    curl_off_t time = 0;
    return curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &time) == CURLE_OK ? time : 1;
}

// Whether the last attempt to connect failed since this machine has no file, port or memory left.
static inline int signet_curl_exhausted(CURL *curl) {
    long code = 0;
    if (curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &code) != CURLE_OK) return 0;
    return code == EMFILE || code == ENFILE || code == EADDRNOTAVAIL || code == ENOBUFS ||
           code == ENOMEM || code == EAGAIN;
}

#endif
