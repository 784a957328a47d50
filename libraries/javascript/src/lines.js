// SPDX-License-Identifier: Apache-2.0
// Signed texts of lines `name: value`, each of which has exactly one encoding.
// docs/developer/PROTOCOL.md, "Texts for a server", describes every line.
import { Buffer } from 'node:buffer'
import {
  base64urlDecode, decimalDecode, isHex, percentDecode, percentEncode, timeDecode,
} from './encoding.js'
import { VerificationFailure } from './failures.js'

/**
 * Reads a text line by line; the caller names the line that must come next.
 *
 * Everything throws `malformed` for a text that deviates in any byte. The caller limits the length
 * beforehand and calls `end` afterwards.
 */
class LineReader {
  #text
  #position = 0
  #kind

  constructor(data, kind) {
    this.#text = data.toString('latin1')
    this.#kind = kind
    if (this.number(kind) !== 1n) throw this.#malformed(kind)
  }

  value(name, longest) {
    const start = `${name}: `
    if (!this.#text.startsWith(start, this.#position)) throw this.#malformed(name)
    const begin = this.#position + start.length
    const end = this.#text.indexOf('\n', begin)
    if (end < 0 || end - begin > 3 * longest) throw this.#malformed(name)
    const value = this.#found(percentDecode(this.#text.slice(begin, end)), name)
    if (value.length > longest) throw this.#malformed(name)
    this.#position = end + 1
    return value
  }

  /** The value of a line whose form has no character beyond ASCII. */
  #ascii(name, longest) {
    return this.value(name, longest).toString('latin1')
  }

  number(name) {
    return this.#found(decimalDecode(this.#ascii(name, 20)), name)
  }

  identifier(name) {
    const text = this.#ascii(name, 32)
    if (!isHex(text, 16)) throw this.#malformed(name)
    return text
  }

  binary(name) {
    const data = this.#found(base64urlDecode(this.#ascii(name, 64)), name)
    if (data.length !== 32) throw this.#malformed(name)
    return data
  }

  word(name, ...words) {
    const text = this.#ascii(name, 32)
    if (!words.includes(text)) throw this.#malformed(name)
    return text
  }

  time(name) {
    return this.#found(timeDecode(this.#ascii(name, 20)), name)
  }

  method() {
    const value = this.value('method', 16)
    if (!/^[A-Z0-9-]{1,16}$/.test(value.toString('latin1'))) throw this.#malformed('method')
    return value
  }

  end() {
    if (this.#position !== this.#text.length) throw this.#malformed('end')
  }

  #found(value, name) {
    if (value === undefined) throw this.#malformed(name)
    return value
  }

  #malformed(name) {
    return new VerificationFailure('malformed', `line '${name}' of a ${this.#kind} text`)
  }
}

/** Parses a `signet-request` text; throws `malformed` unless it is canonical. */
export function readRequest(text) {
  const lines = new LineReader(text, 'signet-request')
  const statement = {
    audience: lines.value('audience', 256),
    account: lines.value('account', 256),
    device: lines.identifier('device'),
    credential: lines.identifier('credential'),
    method: lines.method(),
    resource: lines.value('resource', 1024),
    nonce: lines.binary('nonce'),
    body: lines.binary('body'),
    factor: lines.value('factor', 32).toString('latin1'),
    key: lines.word('key', 'tpm', 'file'),
    secureBoot: lines.word('secure-boot', 'on', 'off', 'unknown'),
    enrolment: lines.number('enrolment'),
    counter: lines.number('counter'),
    issued: lines.time('issued'),
  }
  lines.end()
  return statement
}

/** Parses a `signet-verdict` text; throws `malformed` unless it is canonical. */
export function readVerdict(text) {
  const lines = new LineReader(text, 'signet-verdict')
  const verdict = {
    audience: lines.value('audience', 256),
    account: lines.value('account', 256),
    local: lines.value('local', 256),
    device: lines.identifier('device'),
    challenge: lines.binary('challenge'),
    module: lines.binary('module'),
    decision: lines.word('decision', 'allow', 'deny'),
    issued: lines.time('issued'),
    expires: lines.time('expires'),
  }
  lines.end()
  if (verdict.expires < verdict.issued) {
    throw new VerificationFailure('malformed', 'a verdict that expires before it was issued')
  }
  return verdict
}

/** Writes a text of version 1 with these lines, pairs of a name and bytes, after the first. */
export function writeLines(kind, lines) {
  const text = lines.map(([name, value]) => `${name}: ${percentEncode(Buffer.from(value))}\n`)
  return Buffer.from(`${kind}: 1\n${text.join('')}`, 'latin1')
}
