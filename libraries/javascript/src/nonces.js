// SPDX-License-Identifier: Apache-2.0
// Stores that make a request code valid once; `NonceStore` in index.d.ts is what a verifier needs.
import { VerificationFailure } from './failures.js'

/** How far a code's time may be from the clock, before and after it, in seconds. */
export const WINDOW_SECONDS = 30
/** How long a nonce is stored after its code was issued, in seconds. */
export const NONCE_SECONDS = 300

/**
 * A store in the memory of one process.
 *
 * It never drops a nonce that could still be used: when it holds `limit` of them, it refuses
 * further codes as `unavailable`. It records up to which time it has deleted nonces, and refuses
 * older codes as `clock`, so no change of the clock makes a code valid twice.
 */
export class MemoryNonces {
  #limit
  #clock
  #keys = new Set()
  // The keys that expire in each second.
  #bySecond = new Map()
  #forgottenBefore = 0
  #cleared = -Infinity

  constructor({ limit = 100_000, clock = () => Date.now() / 1000 } = {}) {
    if (!(limit >= 1)) throw new TypeError('limit must be at least 1')
    this.#limit = limit
    this.#clock = clock
  }

  /** Stores a key; false if it is there already. */
  add(key, issued) {
    const expires = issued + NONCE_SECONDS
    this.#forget(Math.floor(this.#clock()))
    if (this.#keys.has(key)) return false
    if (expires < this.#forgottenBefore) {
      throw new VerificationFailure('clock', 'the nonces of that time have been deleted')
    }
    if (this.#keys.size >= this.#limit) {
      throw new VerificationFailure('unavailable', 'the store of nonces is full')
    }
    this.#keys.add(key)
    if (!this.#bySecond.has(expires)) this.#bySecond.set(expires, [])
    this.#bySecond.get(expires).push(key)
    return true
  }

  #forget(now) {
    // Once a second is enough; the map has at most a few hundred entries.
    if (now === this.#cleared) return
    this.#cleared = now
    for (const [expires, keys] of this.#bySecond) {
      if (expires >= now) continue
      for (const key of keys) this.#keys.delete(key)
      this.#bySecond.delete(expires)
      this.#forgottenBefore = Math.max(this.#forgottenBefore, expires + 1)
    }
  }
}
