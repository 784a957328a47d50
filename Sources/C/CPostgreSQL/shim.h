// SPDX-License-Identifier: Apache-2.0
// libpq: PostgreSQL as a client.
#ifndef SIGNET_CPOSTGRESQL_H
#define SIGNET_CPOSTGRESQL_H

#include <libpq-fe.h>

#endif
