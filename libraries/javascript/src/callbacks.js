// SPDX-License-Identifier: Apache-2.0
// Callbacks: what the server sends to an application's URL, signed by the key of access tokens.
//
// The header's type tells them from access tokens, so that neither is accepted in place of the other.
import { Buffer } from 'node:buffer'
import { isHex } from './encoding.js'
import { VerificationFailure } from './failures.js'
import { WINDOW_SECONDS } from './nonces.js'
import { parse } from './strict-json.js'
import { signedPayload, text, time } from './tokens.js'

const TYPE = 'signet-callback+jwt'

/** Verifies callbacks of one server to one URL; index.d.ts describes the options. */
export class CallbackVerifier {
  #issuer
  #url
  #keys
  #clock

  constructor({ issuer, url, keys, clock = () => Date.now() / 1000 }) {
    if (typeof issuer !== 'string' || typeof url !== 'string') {
      throw new TypeError('an issuer and a URL are needed')
    }
    this.#issuer = issuer
    this.#url = url
    this.#keys = keys
    this.#clock = clock
  }

  /** Returns the event of a request's body; throws `VerificationFailure`. */
  async verify(body) {
    const token = typeof body === 'string' ? body : Buffer.from(body).toString('latin1')
    const claims = parse(await signedPayload(token, TYPE, this.#keys))
    if (!(claims instanceof Map)) {
      throw new VerificationFailure('malformed', 'the payload is not an object')
    }
    const event = readEvent(claims)
    const [issuer, url] = [text(claims, 'iss'), text(claims, 'aud')]
    const now = Math.floor(this.#clock())
    if (issuer !== this.#issuer) throw new VerificationFailure('wrong-issuer', 'by another server')
    if (url !== this.#url) throw new VerificationFailure('wrong-audience', 'for another URL')
    if (!(event.expires > now)) {
      throw new VerificationFailure('expired', `expired ${now - event.expires} s ago`)
    }
    if (!(event.issued <= now + WINDOW_SECONDS)) {
      throw new VerificationFailure('not-yet-valid', 'issued in the future')
    }
    return event
  }
}

function readEvent(claims) {
  return Object.freeze({
    id: id(text(claims, 'jti')), type: text(claims, 'type'), time: time(claims, 'time'),
    application: text(claims, 'application'), account: text(claims, 'account'),
    registration: optionalID(claims, 'registration'), operation: optionalID(claims, 'operation'),
    purpose: optionalText(claims, 'purpose'), reason: optionalText(claims, 'reason'),
    issued: time(claims, 'iat'), expires: time(claims, 'exp'),
  })
}

const optionalText = (claims, name) => (claims.has(name) ? text(claims, name) : undefined)
const optionalID = (claims, name) => (claims.has(name) ? id(text(claims, name)) : undefined)

function id(value) {
  if (!isHex(value, 16)) {
    throw new VerificationFailure('malformed', 'an id is not 32 hexadecimal digits')
  }
  return value
}
