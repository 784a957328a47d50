// SPDX-License-Identifier: Apache-2.0
// Why something was refused: one closed list of codes, the same in every language.
// libraries/README.md says what each code means and which the caller may want to tell apart.

export const CODES = Object.freeze([
  'too-long', 'malformed', 'wrong-scheme', 'repeated-header', 'unsupported-header', 'invalid-key',
  'unknown-key', 'bad-signature', 'bad-mac', 'wrong-request', 'wrong-audience', 'wrong-issuer',
  'wrong-account', 'wrong-device', 'wrong-challenge', 'denied', 'policy', 'expired',
  'not-yet-valid', 'clock', 'replayed', 'unavailable',
])

/**
 * What was to be verified is refused; `code` is one of `CODES`.
 *
 * The message is for the log of the back end. Do not send it to the client, which learns only that
 * its request was refused.
 */
export class VerificationFailure extends Error {
  constructor(code, detail) {
    if (!CODES.includes(code)) throw new TypeError(`'${code}' is not a failure code`)
    super(`${code}: ${detail}`)
    this.name = 'VerificationFailure'
    this.code = code
    this.detail = detail
  }
}
