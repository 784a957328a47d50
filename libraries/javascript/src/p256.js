// SPDX-License-Identifier: Apache-2.0
// ECDSA on P-256 with SHA-256 by node:crypto, with what it must refuse checked here as well.
import { Buffer } from 'node:buffer'
import { createPublicKey, verify as verifySignature } from 'node:crypto'

// The curve y² = x³ - 3x + B over the integers modulo P, with N points; SEC 2, section 2.4.2.
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

/** Whether 65 bytes are an uncompressed point of the curve; cofactor 1, so its order is right. */
export function isPoint(point) {
  if (point.length !== 65 || point[0] !== 4) return false
  const x = number(point.subarray(1, 33))
  const y = number(point.subarray(33))
  return x < P && y < P && (y * y - (x * x - 3n) * x - B) % P === 0n
}

/**
 * Whether a signature (r and s, 32 bytes each) is a key's for a message.
 *
 * `point` is the uncompressed public key. Signatures with a low and with a high s are both
 * accepted, as the server does.
 */
export function verify(point, signature, message) {
  if (signature.length !== 64 || !isPoint(point)) return false
  const inRange = [signature.subarray(0, 32), signature.subarray(32)].every((half) => {
    const value = number(half)
    return value > 0n && value < N
  })
  if (!inRange) return false
  const key = createPublicKey({
    format: 'jwk',
    key: {
      kty: 'EC', crv: 'P-256',
      x: Buffer.from(point.subarray(1, 33)).toString('base64url'),
      y: Buffer.from(point.subarray(33)).toString('base64url'),
    },
  })
  return verifySignature('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, signature)
}

function number(bytes) {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}
