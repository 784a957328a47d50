// libmicrohttpd: HTTP/1.1 with TLS by GnuTLS.
#ifndef SIGNET_CMICROHTTPD_H
#define SIGNET_CMICROHTTPD_H

#include <microhttpd.h>

#endif
