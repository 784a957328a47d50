// SPDX-License-Identifier: Apache-2.0
// The calls that a back end makes to signet-server with its API key; index.d.ts describes them.
//
// docs/developer/SERVER-INTEGRATE.md says what each does, and libraries/README.md which can be repeated.
import { createHash } from 'node:crypto'
import {
  plain, readActivation, readAuthentication, readList, readLogin, readOperation, readPendingLogin,
  readRegistration, readTokenState, readTokens,
} from './answers.js'
import { CallFailure, Connector, escape, isCode, unusable } from './calls.js'
import { only } from './requests.js'

/** Calls one server for one application. */
export class SignetClient {
  #connector

  constructor({ url, apiKey, authority, timeout = 60, longestAnswer = 4_194_304 }) {
    this.#connector = new Connector({ url, apiKey, authority, timeout, longestAnswer })
  }

  // Devices.

  async activate(account, { expiresIn } = {}) {
    const answer = await this.#call('POST', ['activations'], { account, expiresIn }, 201)
    return about({ account }, readActivation(answer))
  }

  async registrations(account) {
    const answer = await this.#call('GET', ['accounts', account, 'registrations'])
    return readList(readRegistration, answer, 'registrations').map((one) => about({ account }, one))
  }

  registration(registration) {
    return this.#registration(registration)
  }

  commit(registration, fingerprint) {
    return this.#registration(registration, 'commit', { fingerprint })
  }

  block(registration) {
    return this.#registration(registration, 'block', {})
  }

  unblock(registration) {
    return this.#registration(registration, 'unblock', {})
  }

  remove(registration) {
    return this.#registration(registration, 'remove', {})
  }

  // Logins that are approved on a device.

  async beginLogin({ account, template, data, visitor, device, expiresIn, additional }) {
    const body = { account, template, data, visitor, device, expiresIn, additional }
    return readPendingLogin(await this.#call('POST', ['login', 'init'], body, 201))
  }

  async confirmLogin(operation, session) {
    return readLogin(await this.#call('POST', ['login', 'confirm'], { operation, session }))
  }

  // Operations. A login is one as well.

  async createOperation({ account, template, data, device, expiresIn, additional }) {
    const body = { account, template, data, device, expiresIn, additional }
    return about({ account }, readOperation(await this.#call('POST', ['operations'], body, 201)))
  }

  async operation(operation) {
    const answer = await this.#call('GET', ['operations', operation])
    return about({ operation }, readOperation(answer))
  }

  async cancel(operation) {
    const answer = await this.#call('POST', ['operations', operation, 'cancel'], {})
    return about({ operation }, readOperation(answer))
  }

  async operations(account) {
    const answer = await this.#call('GET', ['accounts', account, 'operations'])
    return readList(readOperation, answer, 'operations').map((one) => about({ account }, one))
  }

  // Tokens and requests.

  async introspect(accessToken) {
    const answer = await this.#call('POST', ['token', 'introspect'], { token: accessToken })
    const isActive = answer instanceof Map ? answer.get('active') : undefined
    if (typeof isActive !== 'boolean') {
      throw unusable("'active' is missing or neither true nor false")
    }
    return isActive ? readTokenState(answer) : undefined
  }

  async refresh(refreshToken) {
    return readTokens(await this.#call('POST', ['token', 'refresh'], { refreshToken }))
  }

  async revoke(token) {
    await this.#call('POST', ['token', 'revoke'], { token })
  }

  async verifyRequest({ authorization, method, resource, body = '' }) {
    const answer = await this.#call('POST', ['authentication', 'verify'], {
      authorization: only(authorization), method, resource: Buffer.from(resource).toString(),
      body: createHash('sha256').update(body).digest('base64url'),
    })
    const isValid = answer instanceof Map ? answer.get('valid') : undefined
    if (isValid === true) return readAuthentication(answer)
    const code = isValid === false ? answer.get('code') : undefined
    if (!isCode(code)) throw unusable("'valid' is missing, or a refusal has no code")
    throw new CallFailure(code, 'the server does not accept this request code', { status: 200 })
  }

  async jwks() {
    return (await this.#connector.document('GET', '/.well-known/jwks.json')).answer
  }

  // Administration, and all else.

  admin(command, members = {}) {
    return this.call('POST', ['admin', ...command.split(' ')], { body: members })
  }

  async call(method, segments, { body, success = 200 } = {}) {
    return plain(await this.#call(method, segments, body, success))
  }

  async #registration(registration, verb, body) {
    const answer = verb === undefined
      ? await this.#call('GET', ['registrations', registration])
      : await this.#call('POST', ['registrations', registration, verb], body)
    return about({ registration }, readRegistration(answer))
  }

  #call(method, segments, body, success = 200) {
    return this.#connector.call(method, `/v1/${segments.map(escape).join('/')}`, body, success)
  }
}

/** An answer, if it is about what was asked. */
function about(asked, answer) {
  const [[name, value]] = Object.entries(asked)
  if (answer[name] !== value) throw unusable(`the answer is about another ${name}`)
  return answer
}
