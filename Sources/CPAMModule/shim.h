// libpam, as a module sees it, and the libc that Embedded Swift has no module for.
#ifndef SIGNET_CPAMMODULE_H
#define SIGNET_CPAMMODULE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <security/pam_ext.h>
#include <security/pam_modules.h>

#endif
