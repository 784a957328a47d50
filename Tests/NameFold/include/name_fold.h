// SPDX-License-Identifier: Apache-2.0
// A name service of the tests, libnss_fold.so.2: it takes the names of /etc/passwd and /etc/shadow in
// capital letters, too, as directories do, and answers with the name that is written there. With
// `liar-` in front, it gives that name another uid.
#ifndef SIGNET_NAME_FOLD_H
#define SIGNET_NAME_FOLD_H

#include <nss.h>
#include <pwd.h>
#include <shadow.h>
#include <stddef.h>

enum nss_status _nss_fold_getpwnam_r(
    const char *name, struct passwd *entry, char *buffer, size_t size, int *error);
enum nss_status _nss_fold_getspnam_r(
    const char *name, struct spwd *entry, char *buffer, size_t size, int *error);

#endif
