// SPDX-License-Identifier: Apache-2.0
// Verdicts: the server's signed yes to a login at a PAM module, for anyone who has its pinned key.
import { Buffer } from 'node:buffer'
import { base64urlDecode, utf8Decode } from './encoding.js'
import { VerificationFailure } from './failures.js'
import { readVerdict } from './lines.js'
import { isSignatureOf, readKeyLine, readSignature } from './sshsig.js'

const LONGEST_TEXT = 4096
const LONGEST_SIGNATURE = 512
// How far the server's clock may be ahead, in seconds.
const LEEWAY_SECONDS = 300

/** Verifies verdicts by one pinned key for one audience; index.d.ts describes the options. */
export class VerdictVerifier {
  #point
  #audience
  #clock

  constructor({ key, audience, clock = () => Date.now() / 1000 }) {
    if (typeof audience !== 'string') throw new TypeError('an audience is needed')
    this.#point = readKeyLine(key)
    this.#audience = audience
    this.#clock = clock
  }

  /** Returns a verdict that says yes; throws `VerificationFailure`. */
  verify(statement, signature, { account, local, device, challenge, module, maxAge } = {}) {
    if (module !== undefined && maxAge !== undefined) {
      throw new TypeError("either 'module' or 'maxAge' decides when a verdict is valid")
    }
    const text = bytes(statement, LONGEST_TEXT)
    const parsed = readSignature(bytes(signature, LONGEST_SIGNATURE))
    if (!parsed.point.equals(this.#point) || !isSignatureOf(parsed, text, 'verdict@signet')) {
      throw new VerificationFailure('bad-signature', 'the signature is not by the pinned key')
    }
    const verdict = readVerdict(text)
    if (!verdict.audience.equals(Buffer.from(this.#audience))) {
      throw new VerificationFailure('wrong-audience', 'about another application')
    }
    const names = readNames(verdict, account, local)
    if (device !== undefined && verdict.device !== device) {
      throw new VerificationFailure('wrong-device', 'about another device')
    }
    if (verdict.decision !== 'allow') {
      throw new VerificationFailure('denied', 'the server has denied this login')
    }
    if (challenge !== undefined && !verdict.challenge.equals(challenge)) {
      throw new VerificationFailure('wrong-challenge', 'about another challenge of the server')
    }
    this.#checkTime(verdict, module, maxAge)
    return Object.freeze({
      audience: this.#audience, ...names, device: verdict.device, challenge: verdict.challenge,
      module: verdict.module, issued: verdict.issued, expires: verdict.expires,
    })
  }

  #checkTime({ module: said, issued, expires }, module, maxAge) {
    if (module !== undefined) {
      if (!said.equals(module)) {
        throw new VerificationFailure('wrong-challenge', 'an answer to another challenge')
      }
      return
    }
    const now = Math.floor(this.#clock())
    if (!(issued <= now + LEEWAY_SECONDS)) {
      throw new VerificationFailure('not-yet-valid', 'issued in the future')
    }
    const isGood = maxAge === undefined ? expires > now : maxAge > 0 && now - issued <= maxAge
    if (!isGood) throw new VerificationFailure('expired', 'the verdict is too old')
  }
}

function readNames(verdict, account, local) {
  const names = { account: utf8Decode(verdict.account), local: utf8Decode(verdict.local) }
  if (names.account === undefined || names.local === undefined) {
    throw new VerificationFailure('wrong-account', 'a name that no account has')
  }
  const isOther = (account !== undefined && account !== names.account)
    || (local !== undefined && local !== names.local)
  if (isOther) throw new VerificationFailure('wrong-account', 'about another account')
  return names
}

/** Bytes, or their base64url as in the answers of the server's API. */
function bytes(data, longest) {
  let decoded = data
  // Four characters for three bytes.
  if (typeof data === 'string' && 3 * data.length <= 4 * longest + 4) {
    decoded = base64urlDecode(data)
    if (decoded === undefined) {
      throw new VerificationFailure('malformed', 'not base64url without padding')
    }
  }
  if (decoded.length > longest) {
    throw new VerificationFailure('too-long', `more than ${longest} bytes`)
  }
  return Buffer.from(decoded)
}
