// SPDX-License-Identifier: Apache-2.0
// Access tokens: JSON Web Tokens by the server, ES256 only (RFC 7519, RFC 7515).
//
// A token's header is not parsed but compared byte for byte with the one that the server writes, so
// no token can choose an algorithm, say where a key is, or demand an extension.
import { Buffer } from 'node:buffer'
import { base64urlDecode, isHex } from './encoding.js'
import { VerificationFailure } from './failures.js'
import { WINDOW_SECONDS } from './nonces.js'
import { verify } from './p256.js'
import { parse } from './strict-json.js'

const LONGEST = 8192
const HEADER_START = '{"alg":"ES256","typ":"'
const HEADER_MIDDLE = '","kid":"'
const HEADER_END = '"}'
// A SHA-256 digest in base64url.
const KID_LENGTH = 43

/** Verifies access tokens of one server for one audience; index.d.ts describes the options. */
export class TokenVerifier {
  #issuer
  #audience
  #keys
  #clock

  constructor({ issuer, audience, keys, clock = () => Date.now() / 1000 }) {
    if (typeof issuer !== 'string' || typeof audience !== 'string') {
      throw new TypeError('an issuer and an audience are needed')
    }
    this.#issuer = issuer
    this.#audience = audience
    this.#keys = keys
    this.#clock = clock
  }

  /** Returns the claims of a token that is valid now; throws `VerificationFailure`. */
  async verify(token) {
    return this.#judge(readClaims(await signedPayload(token, 'JWT', this.#keys)))
  }

  #judge({ token, notBefore }) {
    const now = Math.floor(this.#clock())
    if (token.issuer !== this.#issuer) {
      throw new VerificationFailure('wrong-issuer', 'issued by another server')
    }
    if (token.audience !== this.#audience) {
      throw new VerificationFailure('wrong-audience', 'issued for another application')
    }
    if (!(token.expires > now)) {
      throw new VerificationFailure('expired', `expired ${now - token.expires} s ago`)
    }
    if (!(Math.max(token.issued, notBefore) <= now + WINDOW_SECONDS)) {
      throw new VerificationFailure('not-yet-valid', 'issued in the future')
    }
    return token
  }
}

/**
 * The token of `Authorization: Bearer …`; throws `wrong-scheme` or `repeated-header`.
 *
 * `authorization` is the header's value, or all values of that name in an array.
 */
export function bearerToken(authorization) {
  let value = authorization
  if (Array.isArray(value)) {
    if (value.length > 1) {
      throw new VerificationFailure('repeated-header', 'more than one Authorization header')
    }
    value = value[0]
  }
  if (typeof value !== 'string' || value.slice(0, 7).toLowerCase() !== 'bearer ') {
    throw new VerificationFailure('wrong-scheme', 'no bearer token')
  }
  return value.slice(7)
}

/** The payload of a token of type `typ` that one of the keys has signed; its claims are not read. */
export async function signedPayload(token, typ, keys) {
  if (token.length > LONGEST) {
    throw new VerificationFailure('too-long', `a token of more than ${LONGEST} bytes`)
  }
  const parts = token.split('.')
  const payload = parts.length === 3 ? base64urlDecode(parts[1]) : undefined
  const signature = parts.length === 3 ? base64urlDecode(parts[2]) : undefined
  if (payload === undefined || signature === undefined) {
    throw new VerificationFailure('malformed', 'not three parts in base64url')
  }
  const point = await keys.point(keyID(parts[0], typ))
  if (point === undefined) {
    throw new VerificationFailure('unknown-key', 'signed by a key that the server does not publish')
  }
  if (!verify(point, signature, Buffer.from(`${parts[0]}.${parts[1]}`))) {
    throw new VerificationFailure('bad-signature', "the signature is not by the server's key")
  }
  return payload
}

/** The id of the key that a header names; throws unless it is written as the server writes it. */
function keyID(header, typ) {
  const text = base64urlDecode(header)?.toString('latin1') ?? ''
  const start = `${HEADER_START}${typ}${HEADER_MIDDLE}`
  if (text.startsWith(start) && text.endsWith(HEADER_END)) {
    const kid = text.slice(start.length, -HEADER_END.length)
    if (kid.length === KID_LENGTH && base64urlDecode(kid) !== undefined) return kid
  }
  throw new VerificationFailure('unsupported-header', 'not the header of a token by this server')
}

/** The claims, and `nbf` if there is one; the server writes none so far. */
function readClaims(payload) {
  const claims = parse(payload)
  if (!(claims instanceof Map)) {
    throw new VerificationFailure('malformed', 'the payload is not an object')
  }
  const session = text(claims, 'sid')
  if (!isHex(session, 16)) {
    throw new VerificationFailure('malformed', "'sid' is not a session's id")
  }
  const token = Object.freeze({
    account: text(claims, 'sub'), issuer: text(claims, 'iss'), audience: text(claims, 'aud'),
    issued: time(claims, 'iat'), expires: time(claims, 'exp'), id: text(claims, 'jti'), session,
    registration: text(claims, 'reg'), methods: texts(claims, 'amr'),
    roles: texts(claims, 'roles'), flags: texts(claims, 'flags'),
  })
  return { token, notBefore: claims.has('nbf') ? time(claims, 'nbf') : 0 }
}

/** A claim that is a string; throws `malformed` if it is missing or anything else. */
export function text(claims, name) {
  const value = claims.get(name)
  if (typeof value !== 'string') {
    throw new VerificationFailure('malformed', `'${name}' is missing or not a string`)
  }
  return value
}

/** A claim that is a time; throws `malformed` if it is missing or anything else. */
export function time(claims, name) {
  const value = claims.get(name)
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new VerificationFailure('malformed', `'${name}' is missing or not a time`)
  }
  return value
}

function texts(claims, name) {
  const value = claims.get(name)
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string')) {
    throw new VerificationFailure('malformed', `'${name}' is missing or not a list of strings`)
  }
  return Object.freeze(value)
}
