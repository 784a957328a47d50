// SPDX-License-Identifier: Apache-2.0
// Every case of libraries/vectors has the result that it states, and no other.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import {
  CODES, CallbackVerifier, KeySet, MemoryNonces, RequestVerifier, TokenVerifier, VerdictVerifier, VerificationFailure,
} from 'signet-verifier'
import { verify } from '../src/p256.js'

const directory = new URL('../../vectors/', import.meta.url)
const files = readdirSync(directory).filter((name) => name.endsWith('.json')).sort()
  .map((name) => [name, JSON.parse(readFileSync(new URL(name, directory), 'utf8')).cases])
// So that a file that is missing, or cut, is noticed.
const LEAST_CASES = 400

const unb64 = (text) => Buffer.from(text, 'base64url')

/** A result in the form that the vectors have it in. */
function plain(claims) {
  return Object.fromEntries(Object.entries(claims)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      if (typeof value === 'bigint') return [name, value.toString()]
      if (value instanceof Uint8Array) return [name, value.toString('base64url')]
      return [name, Array.isArray(value) ? [...value] : value]
    }))
}

const judges = {
  async request({ keys, input, policy = {}, seen = [] }, clock) {
    const nonces = new MemoryNonces({ clock })
    for (const { key, issued } of seen) nonces.add(key, issued)
    const tokens = keys.macTokens?.map((token) => ({ ...token, secret: unb64(token.secret) }))
    const verifier = new RequestVerifier({
      audience: keys.audience, nonces, ...policy, clock,
      // As careless as is allowed: all devices, whatever is asked for.
      devices: keys.devices && (() => keys.devices),
      macTokens: tokens && (async (id) => tokens.find(({ token }) => token === id)),
    })
    return plain(await verifier.verify({ ...input, body: unb64(input.body) }))
  },
  async token({ keys, input }, clock) {
    const { issuer, audience, jwks } = keys
    const verifier = new TokenVerifier({ issuer, audience, keys: new KeySet(jwks), clock })
    return plain(await verifier.verify(input.token))
  },
  verdict({ keys, input, expect }, clock) {
    const expected = { ...expect }
    for (const name of ['challenge', 'module']) {
      if (name in expected) expected[name] = unb64(expected[name])
    }
    const verifier = new VerdictVerifier({ ...keys, clock })
    return plain(verifier.verify(input.statement, input.signature, expected))
  },
  async callback({ keys, input }, clock) {
    const { issuer, url, jwks } = keys
    const verifier = new CallbackVerifier({ issuer, url, keys: new KeySet(jwks), clock })
    return plain(await verifier.verify(Buffer.from(input.body)))
  },
  keys({ input }) {
    return { count: new KeySet(input.jwks).size }
  },
  signature({ keys, input }) {
    if (!verify(unb64(keys.publicKey), unb64(input.signature), unb64(input.message))) {
      throw new VerificationFailure('bad-signature', '')
    }
    return {}
  },
}

async function outcome(example) {
  try {
    return ['valid', await judges[example.kind](example, () => example.now)]
  } catch (error) {
    if (!(error instanceof VerificationFailure)) throw error
    return [error.code, undefined]
  }
}

for (const [name, cases] of files) {
  test(`every case of ${name} has the stated result`, async () => {
    for (const example of cases) {
      const found = await outcome(example)
      assert.deepEqual(found, [example.expected, example.claims], example.name)
    }
  })
}

test('there are enough cases, and every code is stated by one', () => {
  const cases = files.flatMap(([, list]) => list)
  assert.ok(cases.length > LEAST_CASES)
  const stated = new Set(cases.map(({ expected }) => expected))
  // What cannot be got cannot be a vector; see keys.test.js and nonces.test.js.
  const expected = ['valid', ...CODES.filter((code) => code !== 'unavailable')]
  assert.deepEqual([...stated].sort(), expected.sort())
})
