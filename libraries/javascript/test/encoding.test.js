// SPDX-License-Identifier: Apache-2.0
// The encodings against themselves, and the JSON reader.
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  base64urlDecode, percentDecode, percentEncode, timeDecode,
} from '../src/encoding.js'
import * as signet from 'signet-verifier'
import { verify } from '../src/p256.js'
import { parse } from '../src/strict-json.js'

test('what is written is read, and only that', () => {
  for (let count = 0; count < 2000; count++) {
    const data = randomBytes(count % 12)
    assert.deepEqual(percentDecode(percentEncode(data)), data)
    assert.deepEqual(base64urlDecode(data.toString('base64url')), data)
    const text = data.toString('latin1')
    const decoded = percentDecode(text)
    if (decoded !== undefined) assert.equal(percentEncode(decoded), text)
  }
})

test('times are read in one form', () => {
  assert.equal(timeDecode('1970-01-01T00:00:00Z'), 0)
  assert.equal(timeDecode('2028-02-29T23:59:59Z'), 1_835_481_599)
  assert.equal(timeDecode('9999-12-31T23:59:59Z'), 253_402_300_799)
  for (const text of [
    '2027-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '2026-11-20 17:24:00Z',
    '2026-11-20T17:24:00z', '2026-11-20T24:00:00Z', '2026-11-20T17:24:00Z\n',
    '+026-11-20T17:24:00Z', '1969-12-31T23:59:59Z', '',
  ]) assert.equal(timeDecode(text), undefined, text)
})

test('signatures by fresh keys are accepted, and altered ones refused', () => {
  for (let count = 0; count < 20; count++) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-65)
    const message = randomBytes(50)
    const signature = sign('sha256', message, { key: privateKey, dsaEncoding: 'ieee-p1363' })
    assert.ok(verify(point, signature, message))
    signature[count] ^= 1
    assert.ok(!verify(point, signature, message))
  }
})

test('JSON is read', () => {
  const text = ' {"a": [1, -2, true, false, null, "x\\u00e9\\ud83d\\ude00\\n"], "b": {}, "c": []} '
  const document = parse(Buffer.from(text))
  assert.deepEqual(document, new Map([
    ['a', [1, -2, true, false, null, 'x\u00e9\u{1f600}\n']], ['b', new Map()], ['c', []],
  ]))
})

test('a document that is cut or wrong anywhere is refused', () => {
  const refused = (text) => assert.throws(
    () => parse(Buffer.from(text, 'latin1')), signet.VerificationFailure, text)
  const document = '{"a":[1,{"b":"c\\n"}],"d":null}'
  parse(Buffer.from(document))
  for (let length = 0; length < document.length; length++) refused(document.slice(0, length))
  for (const text of [
    '', '[1,]', '{,}', '{1:2}', '[1 2]', 'tru', 'nul', '+1', '.5', '1.', '1e', '--1', "'a'",
    '"\\x"', '"\\u12"', '"\\ud800"', '"\\udc00"', '"\\ud800\\u0041"', '[}', ']', '{"a" 1}',
    '[1]]', '\xef\xbb\xbf1', '\x0b1', '"\xff"', '{"__proto__":1,"__proto__":2}',
  ]) refused(text)
})

test('nesting does not use the stack', () => {
  assert.ok(Array.isArray(parse(Buffer.from('['.repeat(512) + ']'.repeat(512)))))
  assert.throws(() => parse(Buffer.from('['.repeat(100_000))), signet.VerificationFailure)
})

test('the types declare what the module exports, and all failure codes', () => {
  const types = readFileSync(new URL('../src/index.d.ts', import.meta.url), 'utf8')
  const declared = [...types.matchAll(/^export (?:class|function|const) (\w+)/gm)]
  assert.deepEqual(declared.map(([, name]) => name).sort(), Object.keys(signet).sort())
  const codes = types.match(/FailureCode =\n([^]*?)\n\n/)[1].match(/[a-z-]+/g)
  assert.deepEqual(codes, [...signet.CODES])
})

test('a program in TypeScript uses all that the package exports', () => {
  const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')
  const exported = [...read('../src/index.d.ts').matchAll(
    /^export (?:class|function|const|interface|type) (\w+)/gm)].map(([, name]) => name)
  // The compiler refuses an import that is not used: checks/libraries.
  const imported = [...read('types.ts').matchAll(/^import (?:type )?\{([^}]*)\}/gm)]
    .flatMap(([, names]) => names.match(/\w+/g))
  assert.deepEqual(imported.sort(), exported.sort())
})
