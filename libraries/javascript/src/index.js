// SPDX-License-Identifier: Apache-2.0
// For back ends: verifies what Signet signs, offline, and calls signet-server.
// libraries/README.md in Signet's repository says how to use this, and what only the server can tell.
export { CallbackVerifier } from './callbacks.js'
export { CALL_CODES, CallFailure } from './calls.js'
export { SignetClient } from './client.js'
export { CODES, VerificationFailure } from './failures.js'
export { KeySet, KeySource, httpsFetch } from './keys.js'
export { MemoryNonces, NONCE_SECONDS, WINDOW_SECONDS } from './nonces.js'
export { RequestVerifier, activeDevices } from './requests.js'
export { fingerprint } from './sshsig.js'
export { TokenVerifier, bearerToken } from './tokens.js'
export { VerdictVerifier } from './verdicts.js'
