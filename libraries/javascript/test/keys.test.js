// SPDX-License-Identifier: Apache-2.0
// How a server's keys are fetched, kept and fetched again.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  KeySource, TokenVerifier, VerificationFailure, bearerToken, httpsFetch,
} from 'signet-verifier'

const { cases } = JSON.parse(
  readFileSync(new URL('../../vectors/token.json', import.meta.url), 'utf8'))
const named = (wanted) => cases.find(({ name }) => name === wanted)
const TOKEN = named('a token')
const STRANGER = named('a token by a key that the server does not publish')
const UNSUPPORTED = named('ES384')
const { issuer, audience, jwks: JWKS } = TOKEN.keys
const [first, second] = JSON.parse(JWKS).keys
const FIRST_ALONE = JSON.stringify({ keys: [first] })

async function code(call) {
  try {
    await call()
    return 'valid'
  } catch (error) {
    if (!(error instanceof VerificationFailure)) throw error
    return error.code
  }
}

describe('a source of keys', () => {
  let now, document, fetches, keys, verifier

  beforeEach(() => {
    now = 1000
    document = JWKS
    fetches = 0
    const fetch = async () => {
      fetches += 1
      if (document instanceof Error) throw document
      return document
    }
    keys = new KeySource({ fetch, clock: () => now })
    verifier = new TokenVerifier({ issuer, audience, keys, clock: () => TOKEN.now })
  })

  const verify = ({ input } = TOKEN) => code(() => verifier.verify(input.token))

  test('fetches nothing before the first token', async () => {
    assert.equal(fetches, 0)
    assert.deepEqual([await verify(), await verify()], ['valid', 'valid'])
    assert.equal(fetches, 1)
  })

  test('fetches nothing for a header that no server writes', async () => {
    assert.equal(await verify(UNSUPPORTED), 'unsupported-header')
    assert.equal(fetches, 0)
  })

  test('fetches once for an unknown key, and not again for ten seconds', async () => {
    await verify()
    now += 10
    for (let count = 0; count < 100; count++) assert.equal(await verify(STRANGER), 'unknown-key')
    assert.equal(fetches, 2)
    now += 9.9
    await verify(STRANGER)
    assert.equal(fetches, 2)
    now += 0.2
    await verify(STRANGER)
    assert.equal(fetches, 3)
  })

  test('finds a new key', async () => {
    document = FIRST_ALONE
    assert.equal(await verify(), 'valid')
    assert.equal(await keys.point(second.kid), undefined)
    document = JWKS
    now += 10
    assert.ok(await keys.point(second.kid))
  })

  test('refuses a retired key once the keys were fetched again', async () => {
    assert.ok(await keys.point(second.kid))
    document = FIRST_ALONE
    now += 149
    assert.ok(await keys.point(second.kid))
    now += 1
    // This call does not wait for the new keys.
    await keys.point(second.kid)
    await keys.point('other')
    assert.equal(await keys.point(second.kid), undefined)
  })

  test('keeps keys through a failure until they are 300 s old', async () => {
    await verify()
    document = new Error('no route to the server')
    now += 299
    assert.equal(await verify(), 'valid')
    await keys.point('other')
    assert.equal(fetches, 2)
    now += 1
    assert.equal(await verify(), 'unavailable')
    document = JWKS
    now += 9
    assert.equal(await verify(), 'valid')
  })

  test('without keys, accepts no token', async () => {
    for (const bad of [new Error('away'), '<html>', '{"keys":', 'x'.repeat(70_000)]) {
      document = bad
      now += 1000
      assert.equal(await verify(), 'unavailable')
    }
  })

  test('keeps good keys when a bad document comes', async () => {
    await verify()
    document = JSON.stringify({ keys: [{ ...first, kid: 'other' }] })
    now += 200
    await verify()
    await keys.point('other')
    assert.equal(await verify(), 'valid')
  })

  test('fetches once for many calls at a time', async () => {
    const found = await Promise.all(Array.from({ length: 20 }, () => verify()))
    assert.ok(found.every((result) => result === 'valid'))
    assert.equal(fetches, 1)
  })
})

describe('a fetch', () => {
  const server = createServer((request, response) => {
    const body = { '/jwks.json': JWKS, '/long': ' '.repeat(70_000) }[request.url]
    if (request.url === '/moved') response.writeHead(302, { Location: '/jwks.json' })
    else if (request.url === '/silent') return
    else if (body === undefined) response.writeHead(404)
    response.end(body)
  })
  let base

  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    base = `http://127.0.0.1:${server.address().port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  test('gets the document', async () => {
    assert.equal(String(await httpsFetch(`${base}/jwks.json`)()), JWKS)
  })

  test('refuses redirections, faults, long answers and silence', async () => {
    for (const path of ['/moved', '/nothing', '/long']) {
      await assert.rejects(httpsFetch(base + path)(), path)
    }
    await assert.rejects(httpsFetch(`${base}/silent`, { timeout: 0.05 })(), /timeout/i)
  })

  test('uses plain HTTP for this machine alone', () => {
    for (const url of ['http://id.example.org/jwks.json', 'file:///etc/passwd', '']) {
      assert.throws(() => httpsFetch(url), TypeError)
    }
  })
})

test('the token of one header', async () => {
  for (const header of ['Bearer abc', 'bearer abc', ['Bearer abc']]) {
    assert.equal(bearerToken(header), 'abc')
  }
  for (const header of [undefined, null, [], '', 'Bearer', 'Basic abc', 'Signet statement']) {
    assert.equal(await code(() => bearerToken(header)), 'wrong-scheme')
  }
  assert.equal(await code(() => bearerToken(['Bearer a', 'Bearer b'])), 'repeated-header')
})
