// SPDX-License-Identifier: Apache-2.0
// A JSON reader that refuses whatever two programs could read differently: a name twice in one
// object, a name of more than 128 bytes, an unpaired surrogate, a byte order mark, bytes that are
// not UTF-8, and more than 512 levels. JSON.parse takes the last of two members. The time is
// linear, and nesting does not use the stack.
import { Buffer } from 'node:buffer'
import { utf8Decode } from './encoding.js'
import { VerificationFailure } from './failures.js'

const DEEPEST = 512
const LONGEST_NAME = 128
const LONGEST_NUMBER = 32

// Each alternative begins with another character, so nothing is tried twice.
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
const BLANKS = /[ \t\n\r]*/y
// eslint-disable-next-line no-control-regex
const PLAIN = /[^"\\\x00-\x1f]*/y
const UNIT = /[0-9a-fA-F]{4}/y
const WORDS = new Map([['t', ['true', true]], ['f', ['false', false]], ['n', ['null', null]]])
const ESCAPES = new Map([
  ['"', '"'], ['\\', '\\'], ['/', '/'], ['b', '\b'], ['f', '\f'], ['n', '\n'], ['r', '\r'],
  ['t', '\t'],
])

/** A number with a fraction or an exponent, which is never a time. */
class Fraction {
  constructor(text) {
    this.text = text
  }
}

/**
 * Returns the value of a document; throws `malformed`. The caller limits the length.
 *
 * Objects are Maps, so that no name means anything. An integer is a number, which is exact only if
 * it is safe; other numbers are objects.
 */
export function parse(data) {
  const text = utf8Decode(data)
  if (text === undefined) throw malformed('not UTF-8')
  return new Reader(text).document()
}

class Reader {
  #text
  #place = 0
  // Open containers, outermost first, each with the name that the next value belongs to.
  #open = []

  constructor(text) {
    this.#text = text
  }

  document() {
    for (;;) {
      let value = this.#value()
      if (value === undefined) continue
      while (this.#open.length > 0) {
        this.#put(value)
        if (!this.#isClosed()) break
        value = this.#open.pop().container
      }
      if (this.#open.length === 0) {
        this.#skipBlanks()
        if (this.#place !== this.#text.length) throw malformed('text after the document')
        return value
      }
    }
  }

  /** Reads a value; returns undefined if it opens a container that is not empty. */
  #value() {
    const first = this.#takeVisible()
    if (first === '{') {
      this.#begin(new Map())
      if (this.#skip('}')) return this.#open.pop().container
      this.#readName()
      return undefined
    }
    if (first === '[') {
      this.#begin([])
      return this.#skip(']') ? this.#open.pop().container : undefined
    }
    if (first === '"') return this.#string()
    if (WORDS.has(first)) {
      const [word, value] = WORDS.get(first)
      if (!this.#text.startsWith(word, this.#place - 1)) {
        throw malformed('a word that JSON does not have')
      }
      this.#place += word.length - 1
      return value
    }
    this.#place -= 1
    return this.#number()
  }

  #put(value) {
    const { container, name } = this.#open.at(-1)
    if (Array.isArray(container)) container.push(value)
    else container.set(name, value)
  }

  /** Reads what follows a value in a container: its end, or a comma and perhaps a name. */
  #isClosed() {
    const isArray = Array.isArray(this.#open.at(-1).container)
    const mark = this.#takeVisible()
    if (mark === ',') {
      if (!isArray) this.#readName()
      return false
    }
    if (mark !== (isArray ? ']' : '}')) {
      throw malformed('neither a comma nor the end after a value')
    }
    return true
  }

  #begin(container) {
    if (this.#open.length === DEEPEST) throw malformed('nested too deeply')
    this.#open.push({ container, name: undefined })
  }

  #readName() {
    if (this.#takeVisible() !== '"') throw malformed('a member without a name')
    const name = this.#string()
    const innermost = this.#open.at(-1)
    if (Buffer.byteLength(name) > LONGEST_NAME || innermost.container.has(name)) {
      throw malformed('a name that is too long, or twice in one object')
    }
    innermost.name = name
    if (this.#takeVisible() !== ':') throw malformed('a name without a value')
  }

  #number() {
    const match = this.#match(NUMBER)
    if (match === null || match[0].length > LONGEST_NUMBER) {
      throw malformed('neither a value nor a number of reasonable length')
    }
    const isInteger = match[1] === undefined && match[2] === undefined
    return isInteger ? Number(match[0]) : new Fraction(match[0])
  }

  /** Reads a string whose opening quote has been taken. */
  #string() {
    const parts = []
    for (;;) {
      parts.push(this.#match(PLAIN)[0])
      const mark = this.#take()
      if (mark === '"') return parts.join('')
      if (mark !== '\\') throw malformed('a control character in a string')
      parts.push(this.#escape())
    }
  }

  #escape() {
    const mark = this.#take()
    if (mark !== 'u') {
      if (!ESCAPES.has(mark)) throw malformed('an escape that JSON does not have')
      return ESCAPES.get(mark)
    }
    const code = this.#unit()
    if (code >= 0xd800 && code < 0xdc00) {
      const low = this.#take() + this.#take() === '\\u' ? this.#unit() : 0
      if (low < 0xdc00 || low >= 0xe000) throw malformed('an unpaired surrogate')
      return String.fromCharCode(code, low)
    }
    if (code >= 0xdc00 && code < 0xe000) throw malformed('an unpaired surrogate')
    return String.fromCharCode(code)
  }

  #unit() {
    const match = this.#match(UNIT)
    if (match === null) throw malformed('an escape without four digits')
    return parseInt(match[0], 16)
  }

  #match(pattern) {
    pattern.lastIndex = this.#place
    const match = pattern.exec(this.#text)
    if (match !== null) this.#place += match[0].length
    return match
  }

  #skipBlanks() {
    this.#match(BLANKS)
  }

  #skip(mark) {
    this.#skipBlanks()
    const isThere = this.#text.startsWith(mark, this.#place)
    if (isThere) this.#place += 1
    return isThere
  }

  #take() {
    if (this.#place >= this.#text.length) throw malformed('cut off')
    this.#place += 1
    return this.#text[this.#place - 1]
  }

  #takeVisible() {
    this.#skipBlanks()
    return this.#take()
  }
}

function malformed(why) {
  return new VerificationFailure('malformed', `not JSON as it is accepted here: ${why}`)
}
