// SPDX-License-Identifier: Apache-2.0
// SQLite 3.
#ifndef SIGNET_CSQLITE_H
#define SIGNET_CSQLITE_H

#include <sqlite3.h>

#endif
