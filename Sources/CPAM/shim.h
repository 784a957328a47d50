// libpam, as an application calls it.
#ifndef SIGNET_CPAM_H
#define SIGNET_CPAM_H

#include <security/pam_appl.h>

#endif
