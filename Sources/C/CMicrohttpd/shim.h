// SPDX-License-Identifier: Apache-2.0
// libmicrohttpd: HTTP/1.1 with TLS by GnuTLS. MHD_get_connection_info is variadic, so each answer
// has its own line; a va_list is taken by C alone, so the logger fills its line here.
#ifndef SIGNET_CMICROHTTPD_H
#define SIGNET_CMICROHTTPD_H

#include <malloc.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>

static inline int signet_mhd_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *signet_mhd_address(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : 0;
}

static inline void *signet_mhd_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : 0;
}

// The gnutls_session_t of a connection, 0 without TLS.
static inline void *signet_mhd_session(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? info->tls_session : 0;
}

// How many bytes the head of the request has, from its method to its empty line.
static inline size_t signet_mhd_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

// Written in Swift: what the library reports, its form and its text.
void signet_mhd_report(void *context, const char *format, const char *line);

static inline void signet_mhd_log(void *context, const char *format, va_list arguments) {
    char line[512];
    vsnprintf(line, sizeof line, format, arguments);
    signet_mhd_report(context, format, line);
}

static inline intptr_t signet_mhd_logger(void) { return (intptr_t)&signet_mhd_log; }

#endif
