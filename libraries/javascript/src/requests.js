// SPDX-License-Identifier: Apache-2.0
// Request codes: the header `Authorization: Signet …` or `Authorization: SignetMAC …`.
//
// The checks and their order are those of docs/developer/SERVER-INTEGRATE.md, without what only the server
// knows: whether the registration is ACTIVE now, the account blocked, a token revoked, a counter too
// far behind.
import { Buffer } from 'node:buffer'
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { base64urlDecode, isHex, timeDecode, utf8Decode } from './encoding.js'
import { VerificationFailure } from './failures.js'
import { readRequest, writeLines } from './lines.js'
import { WINDOW_SECONDS } from './nonces.js'
import { fingerprint, isSignatureOf, readSignature } from './sshsig.js'

const LONGEST = { Signet: 4096, SignetMAC: 256 }

/** The ACTIVE ones of the server's `GET /v1/accounts/{name}/registrations`. */
export function activeDevices(registrations) {
  return registrations.filter((entry) => entry.status === 'ACTIVE')
    .map(({ account, device, credential, fingerprint, registration }) => {
      if (typeof credential !== 'string') {
        throw new TypeError('a registration without its credential, as older servers list them')
      }
      return { account, device, credential, fingerprint, registration }
    })
}

/** Verifies the codes of requests for one audience; index.d.ts describes the options. */
export class RequestVerifier {
  #audience
  #nonces
  #devices
  #macTokens
  #requireTPM
  #requireSecureBoot
  #clock

  constructor({
    audience, nonces, devices, macTokens, requireTPM = false, requireSecureBoot = false,
    clock = () => Date.now() / 1000,
  }) {
    if (typeof audience !== 'string' || typeof nonces?.add !== 'function') {
      throw new TypeError('an audience and a store of nonces are needed')
    }
    this.#audience = Buffer.from(audience)
    this.#nonces = nonces
    this.#devices = devices
    this.#macTokens = macTokens
    this.#requireTPM = requireTPM
    this.#requireSecureBoot = requireSecureBoot
    this.#clock = clock
  }

  /** Verifies the code of one request, and uses it up; throws `VerificationFailure`. */
  async verify({ authorization, method, resource, body = '', bodyDigest }) {
    const header = only(authorization)
    const request = {
      method: Buffer.from(method),
      resource: Buffer.from(resource),
      body: bodyDigest ? Buffer.from(bodyDigest) : createHash('sha256').update(body).digest(),
    }
    if (this.#devices && header.startsWith('Signet ')) {
      return this.#verifySigned(readSignedHeader(header), request)
    }
    if (this.#macTokens && header.startsWith('SignetMAC ')) {
      return this.#verifyMAC(readMACHeader(header), request)
    }
    throw new VerificationFailure('wrong-scheme', 'no code of a kind that is accepted here')
  }

  async #verifySigned(header, request) {
    const statement = readRequest(header.statement)
    if (!['method', 'resource', 'body'].every((name) => statement[name].equals(request[name]))) {
      throw new VerificationFailure('wrong-request', 'signed for another request')
    }
    if (!statement.audience.equals(this.#audience)) {
      throw new VerificationFailure('wrong-audience', 'signed for another audience')
    }
    const signature = readSignature(header.signature)
    const device = await this.#device(statement, signature)
    if (!isSignatureOf(signature, header.statement, 'request@signet')) {
      throw new VerificationFailure('bad-signature', "the signature is not by the device's key")
    }
    const { credential, nonce, issued } = statement
    const isNow = await this.#useUp(credential, nonce, issued)
    this.#checkPolicy(statement)
    if (!isNow) throw new VerificationFailure('clock', 'more than 30 s from the time here')
    const { factor, key, secureBoot, enrolment, counter } = statement
    return Object.freeze({
      account: device.account, device: device.device, registration: device.registration, factor,
      issued, credential, key, secureBoot, enrolment, counter,
    })
  }

  async #device(statement, signature) {
    const account = utf8Decode(statement.account)
    if (account === undefined) {
      throw new VerificationFailure('unknown-key', 'no account has such a name')
    }
    const said = fingerprint(signature.point)
    for (const device of await this.#devices(account, statement.device)) {
      const isIts = device.account === account && device.device === statement.device
        && device.credential === statement.credential
      if (isIts && device.fingerprint === said) return device
    }
    throw new VerificationFailure(
      'unknown-key', 'signed by a key that is not registered for this')
  }

  #checkPolicy({ factor, key, secureBoot }) {
    if (factor !== 'fingerprint') {
      throw new VerificationFailure('policy', 'not signed after a touch')
    }
    if (this.#requireTPM && key !== 'tpm') {
      throw new VerificationFailure('policy', 'the key is not in a TPM')
    }
    if (this.#requireSecureBoot && secureBoot !== 'on') {
      throw new VerificationFailure('policy', 'not started with secure boot')
    }
  }

  async #verifyMAC(header, request) {
    const token = await this.#macTokens(header.token)
    if (!token || token.token !== header.token) {
      throw new VerificationFailure('unknown-key', 'no such MAC token')
    }
    if (token.secret.length !== 32) {
      throw new TypeError('the secret of a MAC token has 32 bytes')
    }
    const text = writeLines('signet-mac', [
      ['audience', this.#audience], ['token', header.token], ['method', request.method],
      ['resource', request.resource], ['nonce', header.nonce.toString('base64url')],
      ['body', request.body.toString('base64url')], ['issued', header.issuedText],
    ])
    const mac = createHmac('sha256', token.secret).update(text).digest()
    if (!timingSafeEqual(mac, header.mac)) {
      throw new VerificationFailure('bad-mac', 'not the MAC of this request by this token')
    }
    const isNow = await this.#useUp(header.token, header.nonce, header.issued)
    if (!(token.expires > this.#clock())) {
      throw new VerificationFailure('expired', 'the MAC token has expired')
    }
    if (!isNow) throw new VerificationFailure('clock', 'more than 30 s from the time here')
    return Object.freeze({
      account: token.account, device: token.device, registration: token.registration,
      factor: 'possession', issued: header.issued, macToken: token.token,
    })
  }

  /**
   * Whether a code is of now; if so, its nonce is used up, even if a later check fails.
   *
   * A stale code cannot be used again, so its nonce need not be stored.
   */
  async #useUp(owner, nonce, issued) {
    if (!(Math.abs(Math.floor(this.#clock()) - issued) <= WINDOW_SECONDS)) return false
    const key = `${owner}:${nonce.toString('base64url')}:${issued}`
    if (await this.#nonces.add(key, issued) !== true) {
      throw new VerificationFailure('replayed', 'this code has been used before')
    }
    return true
  }
}

/** Reads `Scheme name="value", name="value"` in exactly this form. */
class HeaderReader {
  #scheme
  #rest
  #mark = ' '

  constructor(header, scheme) {
    this.#scheme = scheme
    if (header.length > LONGEST[scheme]) {
      throw new VerificationFailure('too-long', `a ${scheme} header of ${header.length} characters`)
    }
    this.#rest = header.slice(scheme.length)
  }

  value(name) {
    const start = `${this.#mark}${name}="`
    this.#mark = ', '
    const end = this.#rest.indexOf('"', start.length)
    if (!this.#rest.startsWith(start) || end < 0) throw this.malformed()
    const value = this.#rest.slice(start.length, end)
    this.#rest = this.#rest.slice(end + 1)
    return value
  }

  binary(name, count) {
    const data = base64urlDecode(this.value(name))
    if (data === undefined || (count !== undefined && data.length !== count)) {
      throw this.malformed()
    }
    return data
  }

  end() {
    if (this.#rest !== '') throw this.malformed()
  }

  malformed() {
    return new VerificationFailure('malformed', `not the form of a ${this.#scheme} header`)
  }
}

function readSignedHeader(header) {
  const reader = new HeaderReader(header, 'Signet')
  const statement = reader.binary('statement')
  const signature = reader.binary('signature')
  reader.end()
  return { statement, signature }
}

function readMACHeader(header) {
  const reader = new HeaderReader(header, 'SignetMAC')
  const token = reader.value('token')
  if (!isHex(token, 16)) throw reader.malformed()
  const nonce = reader.binary('nonce', 32)
  const issuedText = reader.value('issued')
  const issued = timeDecode(issuedText)
  if (issued === undefined) throw reader.malformed()
  const mac = reader.binary('mac', 32)
  reader.end()
  return { token, nonce, issuedText, issued, mac }
}

/** The one header as a string; throws if there are none or several. */
export function only(authorization) {
  let value = authorization
  if (Array.isArray(value)) {
    if (value.length > 1) {
      throw new VerificationFailure('repeated-header', 'more than one Authorization header')
    }
    value = value[0]
  }
  if (value === undefined || value === null) {
    throw new VerificationFailure('wrong-scheme', 'no Authorization header')
  }
  return typeof value === 'string' ? value : Buffer.from(value).toString('latin1')
}
