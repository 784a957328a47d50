// SPDX-License-Identifier: Apache-2.0
// Encodings of which each value has exactly one text: base64, hexadecimal, percent, decimal, times.
//
// Texts are strings with one character per byte (latin1), values are Buffers. Every reader returns
// undefined for a text that the matching writer would not write. The caller limits the length
// beforehand. docs/developer/PROTOCOL.md, "The statement", defines the forms.
import { Buffer } from 'node:buffer'

/** RFC 4648, section 5, without padding and with all unused bits zero. */
export function base64urlDecode(text) {
  const data = Buffer.from(text, 'base64url')
  return data.toString('base64url') === text ? data : undefined
}

/** RFC 4648, section 4, padded: the form of OpenSSH's keys. */
export function base64Decode(text) {
  const data = Buffer.from(text, 'base64')
  return data.toString('base64') === text ? data : undefined
}

/** Whether a text is `count` bytes in lower-case hexadecimal. */
export function isHex(text, count) {
  return text.length === 2 * count && /^[0-9a-f]*$/.test(text)
}

/** A number of 64 bits without sign, spaces or leading zeros, as a bigint. */
export function decimalDecode(text) {
  if (text.length > 20 || !/^(0|[1-9][0-9]*)$/.test(text)) return undefined
  const number = BigInt(text)
  return number < 1n << 64n ? number : undefined
}

/** `2026-11-20T17:24:00Z` in seconds since 1970; only dates that exist. */
export function timeDecode(text) {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$/.test(text)) return undefined
  if (text < '1970') return undefined
  const milliseconds = Date.parse(text)
  if (Number.isNaN(milliseconds)) return undefined
  // Date.parse takes 31 April for 1 May, and 24:00:00 for the next day.
  const again = new Date(milliseconds).toISOString().slice(0, 19) + 'Z'
  return again === text ? milliseconds / 1000 : undefined
}

/** Writes a value for a line: `%`, control characters and bytes that are not UTF-8 as `%XX`. */
export function percentEncode(value) {
  let text = ''
  for (let index = 0; index < value.length;) {
    const length = characterLength(value, index)
    const stands = length > 0 && value[index] !== 0x25 && !isHidden(value, index, length)
    for (const byte of value.subarray(index, index + Math.max(length, 1))) {
      text += stands ? String.fromCharCode(byte)
        : '%' + byte.toString(16).toUpperCase().padStart(2, '0')
    }
    index += Math.max(length, 1)
  }
  return text
}

/** Decodes a line's value; only what `percentEncode` writes for the result. */
export function percentDecode(text) {
  const [first, ...rest] = text.split('%')
  const value = [Buffer.from(first, 'latin1')]
  for (const part of rest) {
    if (!/^[0-9A-F]{2}/.test(part)) return undefined
    value.push(Buffer.of(parseInt(part.slice(0, 2), 16)), Buffer.from(part.slice(2), 'latin1'))
  }
  const decoded = Buffer.concat(value)
  return percentEncode(decoded) === text ? decoded : undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The string that bytes are in UTF-8. */
export function utf8Decode(data) {
  try {
    return utf8.decode(data)
  } catch {
    return undefined
  }
}

/** The length of the well-formed character at an index (Unicode, table 3-7); 0 if there is none. */
function characterLength(data, index) {
  const lead = data[index]
  if (lead < 0x80) return 1
  let length = 0
  let [low, high] = [0x80, 0xbf]
  if (lead >= 0xc2 && lead <= 0xdf) length = 2
  else if (lead >= 0xe0 && lead <= 0xef) length = 3
  else if (lead >= 0xf0 && lead <= 0xf4) length = 4
  if (length === 0 || data.length - index < length) return 0
  if (lead === 0xe0) low = 0xa0
  if (lead === 0xed) high = 0x9f
  if (lead === 0xf0) low = 0x90
  if (lead === 0xf4) high = 0x8f
  if (data[index + 1] < low || data[index + 1] > high) return 0
  for (let offset = 2; offset < length; offset++) {
    if ((data[index + offset] & 0xc0) !== 0x80) return 0
  }
  return length
}

/** Whether a well-formed character could make a line show something other than what it says. */
function isHidden(data, index, length) {
  if (length === 1) return data[index] < 0x20 || data[index] === 0x7f
  const code = utf8.decode(data.subarray(index, index + length)).codePointAt(0)
  return code <= 0x9f || code === 0x061c || (code >= 0x200e && code <= 0x200f)
    || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
}
