// libcurl. curl_easy_setopt and curl_easy_getinfo are variadic, so each type has a line of its own.
#ifndef SIGNET_CCURL_H
#define SIGNET_CCURL_H

#include <curl/curl.h>

typedef size_t (*signet_curl_sink)(char *bytes, size_t size, size_t count, void *context);
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

static inline CURLcode signet_curl_copied(CURL *curl, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(curl, option, &blob);
}

static inline long signet_curl_status(CURL *curl) {
    long status = 0;
    return curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

// 0 for as long as nothing of the request has left.
static inline curl_off_t signet_curl_sent(CURL *curl) {
    curl_off_t time = 0;
    return curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &time) == CURLE_OK ? time : 1;
}

#endif
