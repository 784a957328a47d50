// SPDX-License-Identifier: Apache-2.0
// One call to signet-server: a request on a connection of its own, and its answer, read with limits.
//
// Nothing is ever sent twice. The certificate is always verified, whatever the environment says, no
// redirection is followed, and no failure, inspection or log has the API key.
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { parse } from './strict-json.js'

// How often the time without a byte may pass until a whole answer must be there.
const TIMES_SILENCE = 10
const LONGEST_MESSAGE = 500
// In milliseconds. What is longer would end at once.
const LONGEST_TIMER = 2 ** 31 - 1

// What a failure's code is if there is no answer by the server that says one.
export const CALL_CODES = Object.freeze(['not-sent', 'no-answer', 'unusable-answer'])

/** A call that did not succeed; index.d.ts describes it. The message is for the log of the back end. */
export class CallFailure extends Error {
  constructor(code, detail, { status, retryAfter, details = {} } = {}) {
    super(`${code}: ${detail}`)
    this.name = 'CallFailure'
    this.code = code
    this.detail = detail
    this.status = status
    this.retryAfter = retryAfter
    this.details = details
  }

  /** Whether the server may have done what was asked, although this failed. */
  get mayHaveHappened() {
    return ['no-answer', 'unusable-answer', 'unavailable'].includes(this.code)
  }
}

/** Makes calls to one server with one API key. */
export class Connector {
  #url
  #key
  #timeout
  #longest
  #authority

  constructor({ url, apiKey, authority, timeout, longestAnswer }) {
    const parsed = new URL(url)
    const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(parsed.hostname)
    if (parsed.protocol !== 'https:' && !(parsed.protocol === 'http:' && isLocal)) {
      throw new TypeError('the URL of a server begins with https://')
    }
    if (parsed.username || parsed.password || /[?#]/.test(url)) {
      throw new TypeError('the URL of a server has a host, perhaps a port and a path, and no more')
    }
    if (typeof apiKey !== 'string' || !/^sgk_[A-Za-z0-9_-]{43}$/.test(apiKey)) {
      throw new TypeError('not an API key: it begins with sgk_ and has 47 characters')
    }
    if (!(timeout > 0) || !(longestAnswer >= 1)) throw new TypeError('a limit is a positive number')
    this.#url = parsed
    this.#key = apiKey
    this.#timeout = Math.min(timeout * 1000, LONGEST_TIMER)
    this.#longest = longestAnswer
    this.#authority = authority === undefined ? undefined : readFileSync(authority)
  }

  /** The JSON of the answer, undefined if it has no content; rejects with `CallFailure`. */
  async call(method, path, body, success) {
    const data = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const { kind, answer } = await this.document(method, path, data, success)
    if (success === 204 && answer.length === 0) return undefined
    const value = kind === 'application/json' ? parsed(answer) : undefined
    if (value === undefined) {
      throw unusable(`no JSON as it is accepted here, with status ${success}`, success)
    }
    return value
  }

  /** The type and the bytes of an answer of this status; rejects with `CallFailure`. */
  async document(method, path, data, success = 200) {
    const { status, headers, answer } = await this.#exchange(method, path, data)
    const kind = (headers['content-type'] ?? '').split(';')[0].trim().toLowerCase()
    if (status !== success) throw this.#refusal(status, headers, kind, answer)
    return { kind, answer }
  }

  #refusal(status, headers, kind, answer) {
    const value = kind === 'application/problem+json' ? parsed(answer) : undefined
    const problem = value instanceof Map ? value : new Map()
    const [code, title] = [problem.get('code'), problem.get('title')]
    if (problem.get('status') !== status || status < 400 || typeof title !== 'string'
      || !isCode(code)) {
      return unusable(`status ${status}, and not as the server refuses a call`, status)
    }
    const message = masked(title).slice(0, LONGEST_MESSAGE)
      .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd')
    const after = headers['retry-after'] ?? ''
    const details = Object.fromEntries(['scope', 'requirement', 'remainingAttempts']
      .filter((name) => ['string', 'number'].includes(typeof problem.get(name)))
      .map((name) => [name, masked(problem.get(name))]))
    const retryAfter = /^[0-9]{1,6}$/.test(after) ? Number(after) : undefined
    return new CallFailure(code, message, { status, retryAfter, details })
  }

  /** Sends a request once, and reads its answer. */
  #exchange(method, path, body) {
    return new Promise((resolve, reject) => {
      const isSecure = this.#url.protocol === 'https:'
      let isConnected = false
      let end
      const fail = (code, why, status) => {
        clearTimeout(end)
        request.destroy()
        reject(new CallFailure(code, why, { status }))
      }
      const request = (isSecure ? https : http).request({
        method, path: this.#url.pathname.replace(/\/+$/, '') + path, agent: false,
        hostname: this.#url.hostname.replace(/^\[|\]$/g, ''), port: this.#url.port || undefined,
        timeout: this.#timeout, insecureHTTPParser: false, headers: {
          authorization: `Bearer ${this.#key}`, connection: 'close',
          accept: 'application/json, application/problem+json', 'user-agent': 'signet-verifier',
          ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
        },
        // NODE_TLS_REJECT_UNAUTHORIZED has no effect on what says so itself.
        ...(isSecure && { rejectUnauthorized: true, minVersion: 'TLSv1.2', ca: this.#authority }),
      })
      const silent = () => fail(isConnected ? 'no-answer' : 'not-sent', 'nothing came for too long')
      request.on('timeout', silent)
      end = setTimeout(silent, Math.min(TIMES_SILENCE * this.#timeout, LONGEST_TIMER))
      request.on('socket', (socket) => {
        socket.once(isSecure ? 'secureConnect' : 'connect', () => { isConnected = true })
      })
      request.on('error', (error) => {
        if (!isConnected) return fail('not-sent', `no connection: ${error.code ?? error.message}`)
        const isHTTP = String(error.code).startsWith('HPE_')
        return fail(isHTTP ? 'unusable-answer' : 'no-answer', String(error.code ?? error.message))
      })
      request.on('upgrade', ({ statusCode }, socket) => {
        socket.destroy()
        fail('unusable-answer', 'another protocol', statusCode)
      })
      request.on('response', (answer) => {
        const { statusCode: status, headers, headersDistinct } = answer
        const cutOff = () => fail('unusable-answer', 'an answer that is cut off', status)
        if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined
          && status !== 204) {
          return fail('unusable-answer', 'an answer without its length', status)
        }
        if ((headersDistinct?.['content-length']?.length ?? 1) > 1) {
          return fail('unusable-answer', 'an answer with two lengths', status)
        }
        const parts = []
        let length = 0
        answer.on('error', cutOff)
        answer.on('aborted', cutOff)
        answer.on('data', (part) => {
          length += part.length
          parts.push(part)
          if (length > this.#longest) {
            parts.length = 0
            fail('unusable-answer', `an answer of more than ${this.#longest} bytes`, status)
          }
        })
        answer.on('end', () => {
          if (!answer.complete) return cutOff()
          clearTimeout(end)
          return resolve({ status, headers, answer: Buffer.concat(parts) })
        })
        return undefined
      })
      request.end(body)
    })
  }
}

/** A segment of a path: all but letters, digits, `-` and `_` as `%XX`, so that none is `..`. */
export function escape(segment) {
  if (typeof segment !== 'string' || segment === '') {
    throw new TypeError('a name or id is a text that is not empty')
  }
  if (/\p{Cs}/u.test(segment)) throw new TypeError('a name or id has an unpaired surrogate')
  return encodeURIComponent(segment).replace(/[.!'()*~]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** A value of a refusal, without a key: a peer may repeat what it was sent. */
const masked = (value) =>
  (typeof value === 'string' ? value.replace(/sgk_[A-Za-z0-9_-]{43}/g, 'sgk_…') : value)

/** Whether a value is a code of the server's. */
export function isCode(value) {
  return typeof value === 'string' && /^[a-z][a-z-]{0,63}$/.test(value)
    && !CALL_CODES.includes(value)
}

/** The failure for an answer that is not as documented. */
export function unusable(why, status) {
  return new CallFailure('unusable-answer', why, { status })
}

function parsed(data) {
  try {
    return parse(data)
  } catch {
    return undefined
  }
}
