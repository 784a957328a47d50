// SPDX-License-Identifier: Apache-2.0
// What nobody can be faster than on a TPM: each command alone, by tpm2-tss's ESAPI, with all
// that can be made ready made ready. For each run and each kind of session one line:
//
//   tpm-floor TCTI RUNS     "password create NS", "password seal NS", … "hmac sign NS", …
//
// "password" proves the value in clear; "hmac" is one session for all, salted, with encrypted
// parameters as far as the command has any.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_tctildr.h>

static ESYS_CONTEXT *context;
static ESYS_TR root;
static const TPM2B_AUTH authorisation = { .size = 32, .buffer = "thirty-two bytes of a test value" };

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void check(const char *what, TSS2_RC code) {
    if (code == TSS2_RC_SUCCESS) return;
    fprintf(stderr, "tpm-floor: %s: 0x%x\n", what, code);
    exit(1);
}

static TPM2B_PUBLIC ecc_area(TPMA_OBJECT attributes) {
    TPM2B_PUBLIC area = { .publicArea = { .type = TPM2_ALG_ECC, .nameAlg = TPM2_ALG_SHA256 } };
    TPMS_ECC_PARMS *detail = &area.publicArea.parameters.eccDetail;
    area.publicArea.objectAttributes = attributes | TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT
        | TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA;
    detail->symmetric.algorithm = TPM2_ALG_NULL;
    detail->scheme.scheme = TPM2_ALG_NULL;
    detail->kdf.scheme = TPM2_ALG_NULL;
    detail->curveID = TPM2_ECC_NIST_P256;
    return area;
}

static void make_root(void) {
    TPM2B_PUBLIC area = ecc_area(TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT);
    TPMT_SYM_DEF_OBJECT *symmetric = &area.publicArea.parameters.eccDetail.symmetric;
    symmetric->algorithm = TPM2_ALG_AES;
    symmetric->keyBits.aes = 128;
    symmetric->mode.aes = TPM2_ALG_CFB;
    TPM2B_SENSITIVE_CREATE nothing = { 0 };
    TPM2B_DATA outside = { 0 };
    TPML_PCR_SELECTION registers = { 0 };
    check("CreatePrimary", Esys_CreatePrimary(context, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD,
        ESYS_TR_NONE, ESYS_TR_NONE, &nothing, &area, &outside, &registers, &root, NULL, NULL,
        NULL, NULL));
}

static ESYS_TR hmac_session(void) {
    ESYS_TR session;
    TPMT_SYM_DEF symmetric = { .algorithm = TPM2_ALG_AES, .keyBits.aes = 128,
                               .mode.aes = TPM2_ALG_CFB };
    check("StartAuthSession", Esys_StartAuthSession(context, root, ESYS_TR_NONE, ESYS_TR_NONE,
        ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_HMAC, &symmetric, TPM2_ALG_SHA256, &session));
    return session;
}

// The session's encryption for the next command, which may have no parameters to encrypt.
static void encrypt(ESYS_TR session, TPMA_SESSION ways) {
    if (session == ESYS_TR_PASSWORD) return;
    check("session", Esys_TRSess_SetAttributes(context, session,
        ways | TPMA_SESSION_CONTINUESESSION, 0xff));
}

static void tell(ESYS_TR session, const char *what, long long start) {
    const char *kind = session == ESYS_TR_PASSWORD ? "password" : "hmac";
    printf("%s %s %lld\n", kind, what, now() - start);
}

static ESYS_TR make(ESYS_TR session, const char *what, const TPM2B_PUBLIC *area, size_t count) {
    TPM2B_SENSITIVE_CREATE sensitive = { 0 };
    sensitive.sensitive.userAuth = authorisation;
    sensitive.sensitive.data.size = count;
    TPM2B_DATA outside = { 0 };
    TPML_PCR_SELECTION registers = { 0 };
    TPM2B_PRIVATE *sealed;
    TPM2B_PUBLIC *made;
    encrypt(session, TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT);
    long long start = now();
    check("Create", Esys_Create(context, root, session, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive,
        area, &outside, &registers, &sealed, &made, NULL, NULL, NULL));
    tell(session, what, start);
    ESYS_TR object;
    start = now();
    check("Load", Esys_Load(context, root, session, ESYS_TR_NONE, ESYS_TR_NONE, sealed, made,
        &object));
    tell(session, "load", start);
    check("auth", Esys_TR_SetAuth(context, object, &authorisation));
    free(sealed);
    free(made);
    return object;
}

static void measure_key(ESYS_TR session) {
    TPM2B_PUBLIC area = ecc_area(TPMA_OBJECT_SIGN_ENCRYPT);
    ESYS_TR key = make(session, "create", &area, 0);
    TPM2B_DIGEST digest = { .size = 32 };
    TPMT_SIG_SCHEME scheme = { .scheme = TPM2_ALG_ECDSA,
                               .details.ecdsa.hashAlg = TPM2_ALG_SHA256 };
    TPMT_TK_HASHCHECK ticket = { .tag = TPM2_ST_HASHCHECK, .hierarchy = TPM2_RH_NULL };
    TPMT_SIGNATURE *signature;
    encrypt(session, TPMA_SESSION_DECRYPT);
    long long start = now();
    check("Sign", Esys_Sign(context, key, session, ESYS_TR_NONE, ESYS_TR_NONE, &digest, &scheme,
        &ticket, &signature));
    tell(session, "sign", start);
    free(signature);
    check("FlushContext", Esys_FlushContext(context, key));
}

static void measure_data(ESYS_TR session) {
    TPM2B_PUBLIC area = { .publicArea = { .type = TPM2_ALG_KEYEDHASH,
                                          .nameAlg = TPM2_ALG_SHA256 } };
    area.publicArea.objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT
        | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA;
    area.publicArea.parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL;
    ESYS_TR object = make(session, "seal", &area, 32);
    TPM2B_SENSITIVE_DATA *data;
    encrypt(session, TPMA_SESSION_ENCRYPT);
    long long start = now();
    check("Unseal", Esys_Unseal(context, object, session, ESYS_TR_NONE, ESYS_TR_NONE, &data));
    tell(session, "unseal", start);
    free(data);
    check("FlushContext", Esys_FlushContext(context, object));
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    TSS2_TCTI_CONTEXT *transport;
    check("TCTI", Tss2_TctiLdr_Initialize(arguments[1], &transport));
    check("ESYS", Esys_Initialize(&context, transport, NULL));
    make_root();
    ESYS_TR session = hmac_session();
    for (int run = 0; run < atoi(arguments[2]); run++) {
        measure_key(ESYS_TR_PASSWORD);
        measure_key(session);
        measure_data(ESYS_TR_PASSWORD);
        measure_data(session);
    }
    check("FlushContext", Esys_FlushContext(context, session));
    check("FlushContext", Esys_FlushContext(context, root));
    Esys_Finalize(&context);
    Tss2_TctiLdr_Finalize(&transport);
    return 0;
}
