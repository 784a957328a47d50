// SPDX-License-Identifier: Apache-2.0
// The server's public keys for access tokens: its JWKS (RFC 7517), and how it is kept up to date.
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { base64urlDecode } from './encoding.js'
import { VerificationFailure } from './failures.js'
import { isPoint } from './p256.js'
import { parse } from './strict-json.js'

const LONGEST_JWKS = 65_536
const MOST_KEYS = 100

/** The keys of a JWKS, by their thumbprint. */
export class KeySet {
  #points = new Map()

  /**
   * Reads a JWKS document; throws `too-long`, `malformed` or `invalid-key`.
   *
   * Keys for other purposes or algorithms are passed over (RFC 7517, section 5). A key for ES256
   * that is not valid, or whose `kid` is not its thumbprint, makes the whole set invalid.
   */
  constructor(jwks) {
    const data = Buffer.from(jwks)
    if (data.length > LONGEST_JWKS) {
      throw new VerificationFailure('too-long', `a JWKS of more than ${LONGEST_JWKS} bytes`)
    }
    const document = parse(data)
    const keys = document instanceof Map ? document.get('keys') : undefined
    const isList = Array.isArray(keys) && keys.length <= MOST_KEYS
    if (!isList || !keys.every((key) => key instanceof Map)) {
      throw new VerificationFailure('malformed', 'not a JWKS')
    }
    for (const key of keys.filter(isForTokens)) {
      const { kid, point } = readKey(key)
      if (this.#points.has(kid)) {
        throw new VerificationFailure('invalid-key', 'a key that is there twice')
      }
      this.#points.set(kid, point)
    }
  }

  get size() {
    return this.#points.size
  }

  /** The uncompressed point of the key with this id, or undefined. */
  point(kid) {
    return this.#points.get(kid)
  }
}

/** A server's keys, fetched again as they age; index.d.ts describes the options. */
export class KeySource {
  #fetch
  #maxAge
  #interval
  #clock
  #keys
  #fetched = 0
  #tried = -Infinity
  #pending
  #why = 'not fetched yet'

  constructor({
    fetch, maxAge = 300, interval = 10, clock = () => performance.now() / 1000,
  }) {
    this.#fetch = fetch
    this.#maxAge = maxAge
    this.#interval = interval
    this.#clock = clock
  }

  /** The point of a key, or undefined; throws `unavailable` if no keys can be fetched. */
  async point(kid) {
    const point = this.#current()?.point(kid)
    if (point !== undefined) {
      // Calls that have the key do not wait for new ones.
      if (this.#age() >= this.#maxAge / 2) this.#refresh()
      return point
    }
    await this.#refresh()
    const keys = this.#current()
    if (keys === undefined) {
      throw new VerificationFailure('unavailable', `no current keys of the server: ${this.#why}`)
    }
    return keys.point(kid)
  }

  #current() {
    return this.#age() < this.#maxAge ? this.#keys : undefined
  }

  #age() {
    return this.#clock() - this.#fetched
  }

  /** Fetches the keys, unless that was tried less than `interval` ago; never rejects. */
  #refresh() {
    const now = this.#clock()
    if (this.#pending === undefined && now - this.#tried >= this.#interval) {
      this.#tried = now
      this.#pending = this.#load(now).finally(() => {
        this.#pending = undefined
      })
    }
    return this.#pending ?? Promise.resolve()
  }

  async #load(now) {
    try {
      const keys = new KeySet(await this.#fetch())
      // The age counts from before the request: the answer may have been under way for long.
      this.#keys = keys
      this.#fetched = now
    } catch (error) {
      this.#why = String(error)
    }
  }
}

/**
 * A function for `KeySource` that fetches a JWKS by HTTPS, e.g. `…/.well-known/jwks.json`.
 *
 * It follows no redirection, reads at most 64 KiB, and gives up after `timeout` seconds. Plain HTTP
 * is accepted only for an address of this machine.
 */
export function httpsFetch(url, { timeout = 5 } = {}) {
  const { protocol, hostname } = new URL(url)
  const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) {
    throw new TypeError('the URL of a JWKS begins with https://')
  }
  return async () => {
    const answer = await fetch(url, {
      redirect: 'error', signal: AbortSignal.timeout(timeout * 1000),
    })
    if (answer.status !== 200) throw new Error(`the server answered ${answer.status}`)
    const parts = []
    let length = 0
    for await (const part of answer.body) {
      length += part.length
      if (length > LONGEST_JWKS) throw new Error('the answer is too long')
      parts.push(part)
    }
    return Buffer.concat(parts)
  }
}

function isForTokens(key) {
  return key.get('kty') === 'EC' && key.get('use') === 'sig' && key.get('alg') === 'ES256'
}

function readKey(key) {
  const [x, y, kid] = ['x', 'y', 'kid'].map((name) => key.get(name))
  if (key.get('crv') !== 'P-256' || ![x, y, kid].every((text) => typeof text === 'string')) {
    throw new VerificationFailure('invalid-key', 'not a P-256 key with x, y and kid')
  }
  const point = Buffer.concat([Buffer.of(4), coordinate(x), coordinate(y)])
  if (!isPoint(point)) throw new VerificationFailure('invalid-key', 'not a point of P-256')
  // RFC 7638: the required members in lexicographic order, without spaces.
  const members = `{"crv":"P-256","kty":"EC","x":"${x}","y":"${y}"}`
  if (kid !== createHash('sha256').update(members).digest('base64url')) {
    throw new VerificationFailure('invalid-key', "the kid is not the key's thumbprint")
  }
  return { kid, point }
}

function coordinate(text) {
  const data = text.length === 43 ? base64urlDecode(text) : undefined
  if (data === undefined) {
    throw new VerificationFailure('invalid-key', 'a coordinate is not 32 bytes in base64url')
  }
  return data
}
