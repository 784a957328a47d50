// SPDX-License-Identifier: Apache-2.0
// A small web application with a login form, into which docs/developer/WEB-LOGIN.md adds sign-in by approval.
//
//     SIGNET_URL=… SIGNET_KEY_FILE=… node app.js [PORT]
//
// It needs that page's approval.js beside it, and listens on 127.0.0.1. Its user is alice, with the
// password "correct horse". What was added has "approval" in its lines.
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import * as approval from './approval.js'
import { CallFailure } from 'signet-verifier'

const SALT = 'each user has an own one'
const digest = (password) => scryptSync(password, SALT, 64)
const users = new Map([['alice', digest('correct horse')]])
// What this application keeps for each browser, by its cookie.
const sessions = new Map()
const attempts = new Map()

const isSame = (one, other) => one.length === other.length && timingSafeEqual(one, other)
const hasPassword = (name, password) =>
  isSame(digest(password), users.get(name) ?? Buffer.alloc(64))
const escape = (text) =>
  text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)

/** Whether an address may try once more: ten times in a minute. */
function admits(address) {
  const recent = (attempts.get(address) ?? []).filter((each) => each > Date.now() - 60_000)
  attempts.set(address, [...recent, Date.now()])
  return recent.length < 10
}

const form = (session, action, button, fields = '') =>
  `<form method="post" action="${action}">${fields}<input type="hidden" name="token" `
  + `value="${session.token}"><button>${button}</button></form>`
const ACCOUNT = '<label>Account <input name="account" autocomplete="username"></label>'
const PASSWORD = '<label>Password <input type="password" name="password"></label>'
const forms = (session) => form(session, '/login', 'Sign in', ACCOUNT + PASSWORD)
  + form(session, '/approval', 'Sign in with my device', ACCOUNT)

class Call {
  constructor(request, response) {
    this.request = request
    this.response = response
    this.address = request.socket.remoteAddress
    this.cookie = /(?:^|; )session=([A-Za-z0-9_-]+)/.exec(request.headers.cookie ?? '')?.[1]
    this.session = sessions.get(this.cookie) ?? this.renew({})
  }

  /** A new cookie for a session. */
  renew(session) {
    this.fresh = randomBytes(32).toString('base64url')
    this.cookie = this.fresh
    this.session = session
    session.token = randomBytes(32).toString('base64url')
    sessions.set(this.fresh, session)
    return session
  }

  /** A new cookie, so that one that was planted earlier is worth nothing. */
  signIn(session, user) {
    sessions.delete(this.cookie)
    this.renew(session).user = user
    this.go('/')
  }

  signOut() {
    sessions.delete(this.cookie)
  }

  go(path) {
    this.answer(303, '', { Location: path })
  }

  page(status, title, content = '') {
    this.answer(status, `<!DOCTYPE html><title>${title}</title><h1>${title}</h1>${content}`, {
      'Content-Type': 'text/html; charset=utf-8', 'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'no-referrer',
    })
  }

  answer(status, body, headers) {
    if (this.fresh) { // With HTTPS, add Secure.
      this.response.setHeader('Set-Cookie', `session=${this.fresh}; HttpOnly; SameSite=Lax; Path=/`)
    }
    this.response.writeHead(status, { ...headers, 'Cache-Control': 'no-store' }).end(body)
  }

  async form() {
    let body = ''
    for await (const part of this.request) body = (body + part).slice(0, 4096)
    return Object.fromEntries(new URLSearchParams(body))
  }
}

const slowDown = (call) => call.page(429, 'Too many attempts. Please wait a minute.')

async function home(call) {
  const { session } = call
  if (session.user === undefined) return call.page(200, 'Sign in', forms(session))
  if (session.approved && !await approval.isCurrent(session)) {
    call.signOut()
    await approval.signOut(session)
    return call.go('/')
  }
  return call.page(200, `Signed in as ${escape(session.user)}`,
    form(session, '/device', 'Register a device', PASSWORD) + form(session, '/logout', 'Sign out'))
}

/** The page that shows the text of an approval. */
function waiting(call) {
  const { session } = call
  const text = escape(session.approval.text).replaceAll('\n', '<br>')
  call.page(200, 'Approve on your device',
    `<p>Run <code>signet operations</code> on your device. It shows:</p><p id="text">${text}</p>`
    + '<p>Approve it only if every character is the same.</p>'
    + form(session, '/approval/poll', 'I have approved it').replace('<form', '<form id="poll"')
    + form(session, '/approval/cancel', 'Cancel')
    + '<script>const poll = document.getElementById("poll")\n'
    + 'const timer = setTimeout(() => poll.requestSubmit(), 3000)\n'
    + 'poll.onsubmit = () => { clearTimeout(timer); poll.querySelector("button").disabled = true }</script>')
}

const steps = {
  async '/login'(call, { account = '', password = '' }) {
    if (!admits(call.address)) return slowDown(call)
    if (!hasPassword(account, password)) {
      return call.page(401, 'Wrong account or password', forms(call.session))
    }
    await approval.cancel(call.session)
    await approval.signOut(call.session)
    return call.signIn({}, account)
  },

  async '/logout'(call) {
    call.signOut()
    await approval.signOut(call.session)
    call.go('/')
  },

  // What was added. The password again: a device is a second way in.
  async '/device'(call, { password = '' }) {
    if (!admits(call.address)) return slowDown(call)
    if (!hasPassword(call.session.user, password)) return call.page(401, 'Wrong password')
    const { code } = await approval.signet.activate(call.session.user)
    return call.page(200, 'Register a device', '<p>On your device, run <code>signet enable --server '
      + `${escape(process.env.SIGNET_URL)}</code> and type <code id="code">${code}</code></p>`)
  },

  async '/approval'(call, { account = '' }) {
    if (!admits(call.address)) return slowDown(call)
    const name = account.trim()
    if (!/^\P{C}{1,128}$/u.test(name) || Buffer.byteLength(name) > 128) {
      return call.page(400, "Not an account's name", forms(call.session))
    }
    // In a new session: who planted the cookie of this one would poll with it.
    await approval.cancel(call.session)
    call.signOut()
    await approval.begin(call.renew({}), name, call.address)
    return call.go('/approval')
  },

  async '/approval/poll'(call) {
    const state = await approval.poll(call.session)
    if (state === 'waiting') return call.go('/approval')
    if (state === 'approved') {
      const { signet } = call.session
      if (users.has(signet.account)) return call.signIn({ signet, approved: true }, signet.account)
      await approval.signOut(call.session)
    }
    return call.page(200, 'This sign-in has ended',
      `<p>It was not approved in time.</p>${forms(call.session)}`)
  },

  async '/approval/cancel'(call) {
    await approval.cancel(call.session)
    call.go('/')
  },
}

async function answer(call) {
  const { session, request: { method, url } } = call
  if (method === 'GET') {
    if (url === '/') return home(call)
    if (url !== '/approval' || !session.approval) return call.go('/')
    return waiting(call)
  }
  const sent = await call.form()
  // Only a page that this browser was shown has its token.
  if (!isSame(Buffer.from(sent.token ?? ''), Buffer.from(session.token))) {
    return call.page(403, 'Not from a page of this application')
  }
  if (!Object.hasOwn(steps, url)) return call.page(404, 'There is no such page')
  if (session.user !== undefined && url.startsWith('/approval')) return call.go('/')
  return steps[url](call, sent)
}

const server = createServer((request, response) => {
  const call = new Call(request, response)
  answer(call).catch((error) => {
    console.error('approval:', error instanceof CallFailure ? error.message : error)
    call.page(503, 'Devices cannot be asked now. Please use your password.', forms(call.session))
  })
})
server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`)
})
