// SPDX-License-Identifier: Apache-2.0
// tpm2-tss: the enhanced system API, marshalling, transports by name, texts of return codes.
#ifndef SIGNET_CTSS_H
#define SIGNET_CTSS_H

#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_sys.h>
#include <tss2/tss2_tctildr.h>

#endif
