// SPDX-License-Identifier: Apache-2.0
// GnuTLS, which libmicrohttpd speaks TLS by: certificates alone.
#ifndef SIGNET_CGNUTLS_H
#define SIGNET_CGNUTLS_H

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#endif
