// SPDX-License-Identifier: Apache-2.0
// The calls of the client in JavaScript, at a real server.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CallFailure, KeySource, SignetClient, TokenVerifier, activeDevices } from '../javascript/src/index.js'

const { SIGNET_URL: url } = process.env
const script = fileURLToPath(new URL('../../Examples/device.py', import.meta.url))
const ACCOUNT = 'Zoé/../ Ødegård?x=%2e'
const client = (name = 'SIGNET_KEY') => new SignetClient({ url, apiKey: process.env[name] })
const shop = client()
const other = client('SIGNET_OTHER_KEY')

/** A device that Examples/device.py plays, as a user at it sees it. */
class Device {
  #process
  #shown = ''
  #wake = () => {}

  constructor(code) {
    this.#process = spawn('python3', [script, url, 'shop', code, '--approve'])
    this.#process.stdout.setEncoding('utf8').on('data', (part) => {
      this.#shown += part
      this.#wake()
    })
  }

  /** What comes until this text does, without it. */
  async until(end) {
    while (!this.#shown.includes(end)) {
      await new Promise((resolve) => { this.#wake = resolve })
    }
    const [before, ...rest] = this.#shown.split(end)
    this.#shown = rest.join(end)
    return before
  }

  question() {
    return this.until('\napprove? [y/n] ')
  }

  answer(letter) {
    this.#process.stdin.write(`${letter}\n`)
    return this.until('\n')
  }

  async end() {
    this.#process.stdin.end()
    await once(this.#process, 'exit')
  }
}

let device
afterEach(async () => {
  await device?.end()
  device = undefined
})

async function register(account = ACCOUNT) {
  device = new Device((await shop.activate(account)).code)
  assert.equal(await device.until('\n'), account)
  return (await shop.registrations(account)).at(-1)
}

async function refused(code, call, details = {}) {
  await assert.rejects(call, (failure) => {
    assert.ok(failure instanceof CallFailure, failure)
    assert.deepEqual([failure.code, failure.details], [code, details])
    return true
  })
}

test('devices', async () => {
  assert.deepEqual(await shop.registrations('nobody'), [])
  const one = await register()
  assert.deepEqual([one.account, one.status, one.key], [ACCOUNT, 'ACTIVE', 'file'])
  const [found] = activeDevices(await shop.registrations(ACCOUNT))
    .filter(({ registration }) => registration === one.registration)
  assert.deepEqual([found.credential, found.fingerprint], [one.credential, one.fingerprint])
  assert.deepEqual(await shop.registration(one.registration), one)
  await refused('not-found', () => other.registration(one.registration))
  await refused('not-found', () => other.remove(one.registration))
  assert.equal((await shop.block(one.registration)).status, 'BLOCKED')
  await refused('conflict', () => shop.block(one.registration))
  assert.equal((await shop.unblock(one.registration)).status, 'ACTIVE')
  const removed = await shop.remove(one.registration)
  assert.deepEqual([removed.status, removed.reason], ['REMOVED', 'application'])
  await refused('conflict', () => shop.unblock(one.registration))
})

test('a fingerprint is compared', async () => {
  const server = client('SIGNET_SERVER_KEY')
  const application = `strict-js-${process.pid}`
  await server.admin('application add', { name: application, commit: 'yes' })
  const { key } = await server.admin('key add', { application, name: 'back-end' })
  const strict = new SignetClient({ url, apiKey: key })
  const { code } = await strict.activate('bob')
  const run = promisify(execFile)('python3', [script, url, application, code, '--approve'])
  await assert.rejects(run, ({ stderr }) => stderr.includes('PENDING_COMMIT'))
  const [one] = await strict.registrations('bob')
  await refused('conflict', () => strict.commit(one.registration, `SHA256:${'A'.repeat(43)}`))
  assert.equal((await strict.commit(one.registration, one.fingerprint)).status, 'ACTIVE')
  await server.admin('application remove', { name: application, devices: 'remove' })
  await refused('api-key-refused', () => strict.registrations('bob'))
})

test('logins and tokens', async () => {
  const one = await register('alex')
  const logins = client('SIGNET_LOGINS_KEY')
  const question = { account: 'alex', template: 'sign-in' }
  const pending = await logins.beginLogin({
    ...question, data: { code: 'ABC' }, visitor: '192.0.2.7', additional: { agent: 'test' },
  })
  const second = await logins.beginLogin({
    ...question, data: { code: 'DEF', address: 'here' }, expiresIn: 60,
  })
  assert.equal(pending.text, 'Sign in to the shop from 192.0.2.7?\nThe page shows ABC.')
  assert.equal((await logins.operation(pending.operation)).status, 'PENDING')
  await refused('conflict', () => logins.confirmLogin(pending.operation, pending.session))
  assert.equal(await device.question(), pending.text)
  assert.equal(await device.answer('y'), 'APPROVED')
  await device.question()
  assert.equal(await device.answer('n'), 'REJECTED')
  await refused('conflict', () => logins.confirmLogin(second.operation, second.session))
  // The session of another visitor, another application.
  await refused('refused', () => logins.confirmLogin(pending.operation, second.session))
  await refused('not-found', () => other.confirmLogin(pending.operation, pending.session))
  const login = await logins.confirmLogin(pending.operation, pending.session)
  assert.deepEqual([login.account, login.application, login.registration, login.factor],
    ['alex', 'shop', one.registration, 'fingerprint'])
  await refused('conflict', () => logins.confirmLogin(pending.operation, pending.session))

  const { accessToken, refreshToken } = login.tokens
  const state = await shop.introspect(accessToken)
  assert.deepEqual([state.account, state.methods], ['alex', ['fpt', 'swk']])
  const keys = new KeySource({ fetch: () => shop.jwks() })
  const verifier = new TokenVerifier({
    issuer: 'https://id.example.org', audience: state.audience, keys,
  })
  assert.equal((await verifier.verify(accessToken)).session, state.session)
  assert.equal(await other.introspect(accessToken), undefined)
  assert.equal(await shop.introspect('x.y.z'), undefined)
  await refused('scope-missing', () => logins.introspect(accessToken), { scope: 'verify' })
  const following = await shop.refresh(refreshToken)
  assert.ok(await shop.introspect(following.accessToken))
  await shop.revoke(following.accessToken)
  assert.equal(await shop.introspect(following.accessToken), undefined)
  await refused('token-refused', () => shop.refresh(following.refreshToken))
})

test('a visitor learns nothing', async () => {
  const question = { account: 'nobody', template: 'sign-in', data: { code: 'X', address: 'here' } }
  const pending = await shop.beginLogin({ ...question, visitor: '192.0.2.1' })
  await refused('not-found', () => shop.operation(pending.operation))
  await refused('not-found', () => shop.beginLogin(question))
})

test('operations', async () => {
  await register()
  const question = { account: ACCOUNT, template: 'pay', data: { amount: '12', payee: 'Bób' } }
  const one = await shop.createOperation(question)
  assert.deepEqual([one.text, one.status], ['Pay 12 EUR\nto Bób?', 'PENDING'])
  await refused('not-found', () => other.operation(one.operation))
  await refused('not-found', () => other.cancel(one.operation))
  assert.equal(await device.question(), one.text)
  assert.equal(await device.answer('y'), 'APPROVED')
  assert.equal((await shop.operation(one.operation)).factor, 'fingerprint')
  await refused('conflict', () => shop.cancel(one.operation))
  const two = await shop.createOperation({ ...question, expiresIn: 60 })
  assert.equal((await shop.cancel(two.operation)).status, 'CANCELED')
  const listed = (await shop.operations(ACCOUNT)).map(({ operation }) => operation)
  assert.ok([one, two].every(({ operation }) => listed.includes(operation)))
  await refused('malformed', () => shop.createOperation({ ...question, data: { amount: '1' } }))
})

test('what the server does not know is refused', async () => {
  const body = { account: 'alice', expires: 60 }
  await refused('malformed', () => shop.call('POST', ['activations'], { body, success: 201 }))
  await refused('not-found', () => shop.call('GET', ['nothing']))
  const apiKey = `sgk_${'A'.repeat(43)}`
  await refused('api-key-refused', () => new SignetClient({ url, apiKey }).registrations('alice'))
  const authorization = 'Signet x'
  await refused('malformed', () => shop.verifyRequest({ authorization, method: 'GET', resource: '/' }))
})

test('administration', async () => {
  const server = client('SIGNET_SERVER_KEY')
  const carl = { application: 'shop', account: 'carl' }
  await shop.activate('carl')
  await server.admin('account block', carl)
  await refused('conflict', () => shop.activate('carl'))
  const accounts = await server.admin('account list', { application: 'shop' })
  assert.ok(accounts.find(({ name }) => name === 'carl').blocked)
  await server.admin('account unblock', carl)
  await shop.activate('carl')
  await refused('scope-missing', () => shop.admin('account block', carl), { scope: 'admin' })
  await refused('malformed', () => server.admin('account block', { application: 'shop' }))
})
