// SPDX-License-Identifier: Apache-2.0
// OpenSSH signatures (PROTOCOL.sshsig) by P-256 keys, in the one form that Signet writes.
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { base64Decode } from './encoding.js'
import { VerificationFailure } from './failures.js'
import { isPoint, verify } from './p256.js'

const ALGORITHM = 'ecdsa-sha2-nistp256'
const CURVE = 'nistp256'
const LONGEST_BLOB = 512
const LONGEST_KEY_LINE = 2048

/** Reads RFC 4251's types; each length is checked before anything is copied. */
class Reader {
  #data
  #position = 0

  constructor(data) {
    this.#data = data
  }

  raw(count) {
    const start = this.#position
    this.#position += count
    if (this.#position > this.#data.length) throw malformed('a signature or key that is cut off')
    return this.#data.subarray(start, this.#position)
  }

  string(longest) {
    const count = this.raw(4).readUInt32BE()
    if (count > longest) throw malformed('a part of a signature or key is too long')
    return this.raw(count)
  }

  expect(expected, found) {
    if (found.toString('latin1') !== expected) {
      throw malformed('not an SSHSIG signature by a P-256 key')
    }
  }

  /** A positive `mpint` in its shortest form, as exactly 32 bytes. */
  unsigned() {
    let digits = this.string(33)
    if (digits.length === 0 || digits[0] >= 0x80) {
      throw malformed('a number of a signature is not positive')
    }
    if (digits[0] === 0) {
      digits = digits.subarray(1)
      if (digits.length === 0 || digits[0] < 0x80) {
        throw malformed('a number of a signature is padded')
      }
    }
    if (digits.length > 32) throw malformed('a number of a signature is too long')
    return Buffer.concat([Buffer.alloc(32 - digits.length), digits])
  }

  end() {
    if (this.#position !== this.#data.length) throw malformed('bytes follow a signature or key')
  }
}

/** Parses a signature's blob; throws `too-long` or `malformed`. Nothing in it is verified. */
export function readSignature(blob) {
  if (blob.length > LONGEST_BLOB) {
    throw new VerificationFailure('too-long', `a signature of more than ${LONGEST_BLOB} bytes`)
  }
  const reader = new Reader(blob)
  reader.expect('SSHSIG\0\0\0\x01', reader.raw(10))
  const point = readKey(reader.string(256))
  const namespace = reader.string(64).toString('latin1')
  reader.expect('', reader.string(0))
  reader.expect('sha256', reader.string(16))
  const signature = new Reader(reader.string(256))
  reader.end()
  signature.expect(ALGORITHM, signature.string(32))
  const numbers = new Reader(signature.string(80))
  signature.end()
  const rAndS = Buffer.concat([numbers.unsigned(), numbers.unsigned()])
  numbers.end()
  return { point, namespace, numbers: rAndS }
}

/** Whether the key that a parsed signature names has signed this text in this namespace. */
export function isSignatureOf(signature, text, namespace) {
  if (signature.namespace !== namespace) return false
  const digest = createHash('sha256').update(text).digest()
  const signed = Buffer.concat([
    Buffer.from('SSHSIG'), string(namespace), string(''), string('sha256'), string(digest),
  ])
  return verify(signature.point, signature.numbers, signed)
}

/** The point of `ecdsa-sha2-nistp256 AAAA…`; throws `invalid-key` for any other text. */
export function readKeyLine(line) {
  const words = line.length <= LONGEST_KEY_LINE ? line.split(' ') : []
  const blob = words.length === 2 && words[0] === ALGORITHM ? base64Decode(words[1]) : undefined
  let point
  try {
    point = blob && readKey(blob)
  } catch {
    // Refused below.
  }
  if (!point || !isPoint(point)) {
    throw new VerificationFailure('invalid-key', 'not the line of a P-256 key')
  }
  return point
}

/** The fingerprint of a key as registrations and `ssh-keygen -l` show it: `SHA256:…`. */
export function fingerprint(point) {
  const blob = Buffer.concat([string(ALGORITHM), string(CURVE), string(point)])
  const digest = createHash('sha256').update(blob).digest('base64')
  return `SHA256:${digest.replace('=', '')}`
}

function readKey(blob) {
  const reader = new Reader(blob)
  reader.expect(ALGORITHM, reader.string(32))
  reader.expect(CURVE, reader.string(16))
  const point = reader.string(65)
  reader.end()
  if (point.length !== 65 || point[0] !== 4) throw malformed('not an uncompressed point')
  return point
}

function string(data) {
  const bytes = Buffer.from(data)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function malformed(why) {
  return new VerificationFailure('malformed', why)
}
