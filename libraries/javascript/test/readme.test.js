// SPDX-License-Identifier: Apache-2.0
// The JavaScript in libraries/README.md does what the text says.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const libraries = new URL('../../', import.meta.url)
const readme = readFileSync(new URL('README.md', libraries), 'utf8')
const blocks = [...readme.matchAll(/^```js\n([^]*?)^```/gm)].map(([, block]) => block)
const recorded = JSON.parse(readFileSync(new URL('vectors/recorded.json', libraries), 'utf8'))
const named = (wanted) => recorded.cases.find(({ name }) => name === wanted)

/** The module that a block of the README is. */
function run(block) {
  const address = new URL('javascript/src/index.js', libraries)
  const source = block.replace("'signet-verifier'", `'${address}'`)
  assert.notEqual(source, block)
  return import(`data:text/javascript,${encodeURIComponent(source)}`)
}

test('a request is verified in ten lines', async (t) => {
  const { input, now } = named('a POST with a body')
  globalThis.registrationsOf = async () => recorded.registrations
  assert.ok(blocks[0].split('\n').filter((line) => line !== '').length <= 10)
  const { sender } = await run(blocks[0])
  const request = {
    headersDistinct: { authorization: [input.authorization] }, method: input.method,
    url: input.resource,
  }
  const body = Buffer.from(input.body, 'base64url')
  let seconds = now + 31
  t.mock.method(Date, 'now', () => seconds * 1000)
  await assert.rejects(sender(request, body), { code: 'clock' })
  seconds = now
  assert.equal((await sender(request, body)).account, 'alice')
})

test('a call that cannot be made says so', async (t) => {
  globalThis.apiKey = `sgk_${'k'.repeat(43)}`
  const said = t.mock.method(console, 'error', () => {})
  // Nothing listens there.
  const block = blocks[2].replace('https://id.example.org', 'http://127.0.0.1:1')
  assert.notEqual(block, blocks[2])
  await run(block)
  assert.deepEqual(said.mock.calls[0].arguments, ['not-sent', false])
})

test('a token is verified', async (t) => {
  const { input, keys, now } = named('a login of alice')
  const { user } = await run(blocks[1])
  t.mock.method(globalThis, 'fetch', async () => new Response(keys.jwks))
  t.mock.method(Date, 'now', () => now * 1000)
  const request = { headersDistinct: { authorization: [`Bearer ${input.token}`] } }
  assert.equal(await user(request), 'alice')
})
