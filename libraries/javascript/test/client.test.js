// SPDX-License-Identifier: Apache-2.0
// What a client makes of answers, what it sends, and what it never shows.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createServer as createTLSServer } from 'node:tls'
import { inspect } from 'node:util'
import { CallFailure, SignetClient, VerificationFailure } from 'signet-verifier'

const { id: ID, key: KEY, longest, cases } = JSON.parse(
  readFileSync(new URL('../../vectors/calls/answers.json', import.meta.url), 'utf8'))
const SECRET = KEY.slice(4)

const raw = ({ answer }) => Buffer.from(answer
  .map((part) => (typeof part === 'string' ? part : part[0].repeat(part[1]))).join(''), 'latin1')
const named = (wanted) => raw(cases.find(({ name }) => name === wanted))

/** Has a peer answer each connection with the same parts while `use` runs. */
async function withPeer(parts, use, { hold = false, delay = 0, tls } = {}) {
  const peer = { requests: [], connections: 0 }
  const sockets = new Set()
  const serve = (socket) => {
    let data = ''
    let isAnswered = false
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', async (part) => {
      data += part.toString('latin1')
      const [head, body] = data.split('\r\n\r\n', 2)
      const length = Number(/content-length: ([0-9]+)/i.exec(head)?.[1] ?? 0)
      if (body === undefined || body.length < length || isAnswered) return
      isAnswered = true
      peer.requests.push({ head, body: Buffer.from(body, 'latin1').toString() })
      for (const answer of parts) {
        socket.write(answer)
        if (delay > 0) await pause(delay)
      }
      if (!hold) socket.end()
    })
  }
  const server = tls ? createTLSServer(tls, serve) : createServer(serve)
  server.on(tls ? 'secureConnection' : 'connection', () => { peer.connections += 1 })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  peer.port = server.address().port
  try {
    return await use(peer)
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}

const client = (port, more) =>
  new SignetClient({ url: `http://127.0.0.1:${port}`, apiKey: KEY, ...more })

async function failure(call) {
  try {
    await call()
  } catch (error) {
    assert.ok(error instanceof CallFailure, inspect(error))
    const shown = [String(error), inspect(error, { depth: 9, showHidden: true }), error.stack]
    for (const text of shown) assert.ok(!text.includes(SECRET), text)
    return error
  }
  return assert.fail('it succeeded')
}

const calls = {
  registration: (one) => one.registration(ID),
  registrations: (one) => one.registrations('alice'),
  introspect: (one) => one.introspect('token'),
}

describe('an answer', () => {
  for (const example of cases) {
    test(example.name, () => withPeer([raw(example)], async (peer) => {
      const call = () => calls[example.call ?? 'registration'](client(peer.port, { longestAnswer: longest }))
      if (example.expected === 'valid') {
        assert.deepEqual(await call() ?? null, example.result)
      } else {
        const found = await failure(call)
        const { code: expected, status = null, detail: message, retryAfter = null } = found
        const { details, mayHaveHappened } = found
        const all = { expected, status, message, retryAfter, details, mayHaveHappened }
        const judged = Object.keys(all).filter((name) => name in example)
        for (const name of judged) assert.deepEqual(all[name], example[name], name)
      }
      assert.equal(peer.connections, 1)
    }))
  }

  test('that is silent ends, and one that is slow does not', async () => {
    const text = named('a registration')
    for (const parts of [[], [text.subarray(0, 20)], [text.subarray(0, -5)]]) {
      await withPeer(parts, async ({ port }) => {
        const found = await failure(() => client(port, { timeout: 0.2 }).registration(ID))
        assert.ok(found.mayHaveHappened)
      }, { hold: true })
    }
    // Far longer than the limit altogether, never silent for so long.
    const slowly = [...text.toString().matchAll(/[^]{1,40}/g)].map(([part]) => part)
    await withPeer(slowly, async ({ port }) => {
      assert.equal((await client(port, { timeout: 0.4 }).registration(ID)).account, 'alice')
    }, { delay: 100 })
  })

  test('without end ends', async () => {
    for (const start of ['HTTP/1.1 200 OK\r\n', '']) {
      await withPeer([start, ...Array(400).fill('x')], async ({ port }) => {
        const begun = Date.now()
        await failure(() => client(port, { timeout: 0.1 }).registration(ID))
        assert.ok(Date.now() - begun < 5000)
      }, { delay: 20 })
    }
  })

  test('is awaited however long the limit is', () => withPeer([named('a registration')], async ({ port }) => {
    for (const timeout of [3e5, 3e6, Infinity]) {
      assert.ok(await client(port, { timeout }).registration(ID))
    }
  }))

  test('that refuses does not repeat the key', () => {
    const body = JSON.stringify({
      status: 403, title: 'no', code: 'refused', scope: `x ${KEY}`, requirement: KEY,
    }).replaceAll('sgk_', '\\u0073gk_')
    const head = 'HTTP/1.1 403 No\r\nContent-Type: application/problem+json\r\nContent-Length: '
    return withPeer([`${head}${body.length}\r\n\r\n${body}`], async ({ port }) => {
      const { details } = await failure(() => client(port).registration(ID))
      assert.deepEqual(details, { scope: 'x sgk_…', requirement: 'sgk_…' })
    })
  })

  test('is not awaited where nothing listens', async () => {
    const port = await withPeer([], async (peer) => peer.port)
    const found = await failure(() => client(port).registration(ID))
    assert.deepEqual([found.code, found.mayHaveHappened], ['not-sent', false])
  })
})

describe('a certificate', () => {
  const directory = mkdtempSync(`${tmpdir()}/signet-`)
  const authority = `${directory}/certificate.pem`
  let tls
  let sent

  before(() => {
    const key = `${directory}/key.pem`
    execFileSync('openssl', [
      'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key,
      '-out', authority, '-days', '2', '-subj', '/CN=x', '-addext', 'subjectAltName=DNS:localhost',
    ], { stdio: 'ignore' })
    tls = { cert: readFileSync(authority), key: readFileSync(key) }
  })
  after(() => rmSync(directory, { recursive: true }))

  const call = (host, more) => withPeer([named('a registration')], async (peer) => {
    const url = `https://${host}:${peer.port}`
    sent = peer.requests
    return (await new SignetClient({ url, apiKey: KEY, timeout: 5, ...more }).registration(ID)).account
  }, { tls })

  test('of the authority that is named is trusted, and no other', async () => {
    assert.equal(await call('localhost', { authority }), 'alice')
    assert.equal((await failure(() => call('localhost'))).code, 'not-sent')
    assert.deepEqual(sent, [])
  })

  test('is verified whatever the environment says', async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      assert.equal((await failure(() => call('localhost'))).code, 'not-sent')
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })

  test('for another name is refused', async () => {
    assert.equal((await failure(() => call('127.0.0.1', { authority }))).code, 'not-sent')
    assert.deepEqual(sent, [])
  })
})

describe('a request', () => {
  const sentBy = (call, path = '') => withPeer([named('a registration')], async (peer) => {
    const url = `http://127.0.0.1:${peer.port}${path}`
    await call(new SignetClient({ url, apiKey: KEY })).catch((error) => {
      if (!(error instanceof CallFailure)) throw error
    })
    const [{ head, body }] = peer.requests
    assert.equal(peer.requests.length, 1)
    const [line, ...headers] = head.split('\r\n')
    assert.equal(headers.filter((one) => one === `authorization: Bearer ${KEY}`).length, 1)
    return [line, body && JSON.parse(body)]
  })

  test('has a name as one segment of its path', async () => {
    for (const [name, segment] of Object.entries({
      alice: 'alice', '..': '%2E%2E', '../x': '%2E%2E%2Fx', 'a b': 'a%20b', 'a/b': 'a%2Fb',
      'a?b#c': 'a%3Fb%23c', '%2e': '%252e', 'é日': '%C3%A9%E6%97%A5', "~*'()!": '%7E%2A%27%28%29%21',
      'a\r\nX: y': 'a%0D%0AX%3A%20y', '\0': '%00',
    })) {
      const [line] = await sentBy((one) => one.registrations(name))
      assert.equal(line, `GET /v1/accounts/${segment}/registrations HTTP/1.1`)
    }
    for (const name of ['', null, undefined, 7, '\ud800']) {
      await assert.rejects(client(1).registrations(name), TypeError)
    }
  })

  test('goes below the path of the server', async () => {
    for (const path of ['/signet', '/signet/']) {
      const [line] = await sentBy((one) => one.registration(ID), path)
      assert.equal(line, `GET /signet/v1/registrations/${ID} HTTP/1.1`)
    }
  })

  test('has what is given, and no more', async () => {
    const question = { account: 'alice', template: 'sign-in', data: { code: 'X' } }
    assert.deepEqual(await sentBy((one) => one.beginLogin(question)),
      ['POST /v1/login/init HTTP/1.1', question])
    const more = { ...question, visitor: '192.0.2.1', additional: { agent: 'é' }, expiresIn: 60 }
    assert.deepEqual((await sentBy((one) => one.beginLogin(more)))[1], more)
  })

  test('of administration has the words of the command in its path', async () => {
    assert.deepEqual(
      await sentBy((one) => one.admin('application set', { name: 'shop', maxFailures: 3 })),
      ['POST /v1/admin/application/set HTTP/1.1', { name: 'shop', maxFailures: 3 }])
    assert.deepEqual(await sentBy((one) => one.admin('audit')), ['POST /v1/admin/audit HTTP/1.1', {}])
  })

  test('has the digest in place of a body', async () => {
    const request = { authorization: ['Signet x'], method: 'GET', resource: '/a?b', body: 'secret' }
    const [, body] = await sentBy((one) => one.verifyRequest(request))
    assert.equal(body.authorization, 'Signet x')
    assert.equal(Buffer.from(body.body, 'base64url').length, 32)
    const two = { ...request, authorization: ['Signet x', 'Signet y'] }
    await assert.rejects(client(1).verifyRequest(two), VerificationFailure)
  })

  test('has the verb', async () => {
    for (const verb of ['block', 'unblock', 'remove']) {
      assert.deepEqual(await sentBy((one) => one[verb](ID)),
        [`POST /v1/registrations/${ID}/${verb} HTTP/1.1`, {}])
    }
    assert.deepEqual(await sentBy((one) => one.commit(ID, 'SHA256:x')),
      [`POST /v1/registrations/${ID}/commit HTTP/1.1`, { fingerprint: 'SHA256:x' }])
    assert.deepEqual(await sentBy((one) => one.cancel(ID)),
      [`POST /v1/operations/${ID}/cancel HTTP/1.1`, {}])
  })
})

describe('a client', () => {
  test('calls by HTTPS, or on this machine', () => {
    for (const url of ['https://id.example.org', 'https://id.example.org:8443/signet/',
      'http://localhost:8443', 'http://127.0.0.1', 'http://[::1]:1']) {
      assert.ok(new SignetClient({ url, apiKey: KEY }))
    }
    for (const url of ['http://id.example.org', 'http://localhost.example.org', 'ftp://localhost', '',
      'https://', 'id.example.org', 'https://a@id.example.org', 'https://x/?a', 'https://x/#a', 'https://x/?',
      'https://x:y', 'http://127.0.0.1.example.org', 'https://a b']) {
      assert.throws(() => new SignetClient({ url, apiKey: KEY }), TypeError, url)
    }
  })

  test('shows no key, not even one that is none', () => {
    for (const apiKey of ['', null, undefined, `${KEY}\n`, KEY.slice(0, -1), `${KEY}k`, ` ${KEY}`]) {
      assert.throws(() => new SignetClient({ url: 'https://id.example.org', apiKey }),
        (error) => error instanceof TypeError && !inspect(error).includes(SECRET.slice(0, 20)))
    }
    const one = client(1)
    assert.ok(!inspect(one, { showHidden: true, depth: 9 }).includes(SECRET))
    assert.equal(JSON.stringify(one), '{}')
  })

  test('has limits that are positive', () => {
    for (const more of [{ timeout: 0 }, { timeout: -1 }, { timeout: NaN }, { longestAnswer: 0 }]) {
      assert.throws(() => client(1, more), TypeError)
    }
  })

  test('shows no secret of an answer in a log', () => withPeer([
    'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 69\r\n\r\n'
    + '{"account":"alice","application":"shop","code":"S3CRET","expires":1 }\n',
  ], async ({ port }) => {
    const activation = await client(port).activate('alice')
    assert.equal(activation.code, 'S3CRET')
    assert.ok(!inspect(activation).includes('S3CRET'))
    assert.ok(!inspect({ deep: [activation] }).includes('S3CRET'))
    // It can be stored.
    assert.equal(JSON.parse(JSON.stringify(activation)).code, 'S3CRET')
  }))

  test('gives the JSON of a command as plain objects', () => withPeer([
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 46\r\n\r\n'
    + '[{"__proto__":{"isAdmin":true},"n":1,"x":null}]',
  ].map((text) => text.replace('46', '47')), async ({ port }) => {
    const [one] = await client(port).admin('account list', { application: 'shop' })
    assert.deepEqual(Object.keys(one), ['__proto__', 'n', 'x'])
    assert.equal(one.isAdmin, undefined)
  }))
})
