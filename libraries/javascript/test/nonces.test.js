// SPDX-License-Identifier: Apache-2.0
// The store of nonces, and how a verifier uses one.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { MemoryNonces, RequestVerifier, VerificationFailure, activeDevices } from 'signet-verifier'

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), 'utf8'))
const NOW = 1_795_195_440

/** The code of a refusal, or `valid`. */
async function code(call) {
  try {
    await call()
    return 'valid'
  } catch (error) {
    if (!(error instanceof VerificationFailure)) throw error
    return error.code
  }
}

describe('nonces in memory', () => {
  test('a nonce is new once', () => {
    const nonces = new MemoryNonces({ clock: () => NOW })
    assert.deepEqual(['a', 'a', 'b'].map((key) => nonces.add(key, NOW)), [true, false, true])
  })

  test('a nonce is stored for five minutes, and its time is then refused', async () => {
    let now = NOW
    const nonces = new MemoryNonces({ clock: () => now })
    nonces.add('a', NOW)
    now = NOW + 300
    assert.equal(nonces.add('a', NOW), false)
    now = NOW + 301
    assert.equal(await code(() => nonces.add('a', NOW)), 'clock')
  })

  test('no step of the clock makes a code valid twice', async () => {
    let now = NOW
    const nonces = new MemoryNonces({ clock: () => now })
    nonces.add('a', NOW)
    now = NOW + 10_000
    nonces.add('b', NOW + 10_000)
    now = NOW
    assert.equal(await code(() => nonces.add('a', NOW)), 'clock')
    assert.equal(nonces.add('c', NOW + 1), true)
    assert.equal(nonces.add('b', NOW + 10_000), false)
  })

  test('a full store refuses, and forgets nothing', async () => {
    let now = NOW
    const nonces = new MemoryNonces({ limit: 2, clock: () => now })
    nonces.add('a', NOW)
    nonces.add('b', NOW + 1)
    assert.equal(await code(() => nonces.add('c', NOW)), 'unavailable')
    assert.equal(nonces.add('a', NOW), false)
    now = NOW + 301
    assert.equal(nonces.add('c', NOW + 301), true)
    assert.equal(nonces.add('b', NOW + 1), false)
  })

  test('a limit below one is a mistake', () => {
    assert.throws(() => new MemoryNonces({ limit: 0 }), TypeError)
    assert.throws(() => new MemoryNonces({ limit: NaN }), TypeError)
  })
})

describe('a verifier of requests', () => {
  const example = read('request').cases.find(({ name }) => name === 'a POST with a body')
  const request = { ...example.input, body: Buffer.from(example.input.body, 'base64url') }
  const clock = () => example.now
  const make = (nonces) => new RequestVerifier({
    audience: example.keys.audience, nonces, devices: async () => example.keys.devices, clock,
  })

  test('accepts a code once, also of many calls at a time', async () => {
    const verifier = make(new MemoryNonces({ clock }))
    const calls = Array.from({ length: 20 }, () => code(() => verifier.verify(request)))
    const codes = await Promise.all(calls)
    assert.equal(codes.filter((found) => found === 'valid').length, 1)
    assert.equal(codes.filter((found) => found === 'replayed').length, 19)
  })

  test('does not use a code up for a request that is refused', async () => {
    const verifier = make(new MemoryNonces({ clock }))
    const other = { ...request, method: 'PUT' }
    assert.equal(await code(() => verifier.verify(other)), 'wrong-request')
    assert.equal(await code(() => verifier.verify(request)), 'valid')
  })

  test('refuses every code if the store is full or gone', async () => {
    const nonces = new MemoryNonces({ limit: 1, clock })
    nonces.add('x', example.now)
    assert.equal(await code(() => make(nonces).verify(request)), 'unavailable')
    const away = { add: async () => { throw new Error('no route to the store') } }
    await assert.rejects(make(away).verify(request), /no route/)
  })

  test('takes only true of a store for new', async () => {
    for (const answer of [undefined, null, false, 0, 1, 'OK']) {
      const verifier = make({ add: async () => answer })
      assert.equal(await code(() => verifier.verify(request)), 'replayed')
    }
  })

  test('takes a header as text, bytes or an array of one', async () => {
    const right = request.authorization
    for (const authorization of [right, Buffer.from(right), [right]]) {
      const verifier = make(new MemoryNonces({ clock }))
      assert.equal(await code(() => verifier.verify({ ...request, authorization })), 'valid')
    }
    for (const authorization of [undefined, [], '', '\ud800', 'Signet \udc80']) {
      const found = await code(() =>
        make(new MemoryNonces({ clock })).verify({ ...request, authorization }))
      assert.ok(['wrong-scheme', 'malformed'].includes(found))
    }
  })

  test('takes a digest in the place of the body', async () => {
    const bodyDigest = createHash('sha256').update(request.body).digest()
    const verifier = make(new MemoryNonces({ clock }))
    const found = await verifier.verify({ ...request, body: undefined, bodyDigest })
    assert.equal(found.counter, 42n)
  })

  test('refuses every shortened or altered header', async () => {
    const verifier = make(new MemoryNonces({ clock }))
    const right = request.authorization
    for (let place = 0; place < right.length; place++) {
      const flipped = String.fromCharCode(right.charCodeAt(place) ^ 1)
      const altered = right.slice(0, place) + flipped + right.slice(place + 1)
      for (const authorization of [right.slice(0, place), altered]) {
        const found = await code(() => verifier.verify({ ...request, authorization }))
        assert.notEqual(found, 'valid')
      }
    }
  })

  test('needs an audience and a store', () => {
    assert.throws(() => new RequestVerifier({ audience: 'x' }), TypeError)
    assert.throws(() => new RequestVerifier({ nonces: new MemoryNonces() }), TypeError)
  })
})

test('a registration without its credential is no device', () => {
  const entry = {
    account: 'alice', device: 'd1'.repeat(16), fingerprint: 'SHA256:x', status: 'ACTIVE',
  }
  assert.throws(() => activeDevices([entry]), TypeError)
  // It has none before its key is proven.
  assert.deepEqual(activeDevices([{ ...entry, status: 'CREATED' }]), [])
})

test('only active registrations are devices', () => {
  const { registrations } = read('recorded')
  assert.deepEqual(
    activeDevices(registrations).map(({ account }) => account), ['alice', 'Zoë Ødegård'])
  for (const status of ['CREATED', 'PENDING_COMMIT', 'BLOCKED', 'REMOVED']) {
    assert.deepEqual(activeDevices(registrations.map((entry) => ({ ...entry, status }))), [])
  }
})
