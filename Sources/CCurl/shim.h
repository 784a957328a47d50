// libcurl. curl_easy_setopt and curl_easy_getinfo are variadic, so each type has a line of its own.
#ifndef SIGNET_CCURL_H
#define SIGNET_CCURL_H

#include <curl/curl.h>

#endif
