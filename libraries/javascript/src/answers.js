// SPDX-License-Identifier: Apache-2.0
// What the server answers, read strictly: each member has its type, and is there unless it is optional.
//
// Members that are not named here are passed over, since later releases may add some. console.log shows
// no secret. Times are in seconds since 1970. index.d.ts describes the results.
import { inspect } from 'node:util'
import { unusable } from './calls.js'
import { isHex } from './encoding.js'

const text = (value) => typeof value === 'string'
const id = (value) => text(value) && isHex(value, 16)
const integer = (value) => Number.isSafeInteger(value) && value >= 0
const texts = (value) => Array.isArray(value) && value.every(text)

const optional = (check) => ({ check, isOptional: true })
const secret = (check) => ({ check, isSecret: true })
const named = (member, check) => ({ check, member })

/** A function that reads an object of the server's. */
function reader(members) {
  const rules = Object.entries(members)
    .map(([name, rule]) => [name, typeof rule === 'function' ? { check: rule } : rule])
  return (json) => {
    if (!(json instanceof Map)) throw unusable('not an object')
    const result = {}
    const shown = {}
    for (const [name, { check, read, member = name, isOptional, isSecret }] of rules) {
      if (isOptional && !json.has(member)) continue
      const found = json.get(member)
      if (check && !check(found)) throw unusable(`'${member}' is missing or not as it must be`)
      result[name] = read ? read(found) : found
      if (Array.isArray(result[name])) Object.freeze(result[name])
      shown[name] = isSecret ? '…' : result[name]
    }
    Object.defineProperty(result, inspect.custom, { value: () => shown })
    return Object.freeze(result)
  }
}

export const readActivation = reader({
  account: text, application: text, code: secret(text), expires: integer,
})

export const readRegistration = reader({
  registration: id, account: text, device: id, status: text, flags: texts, failures: integer,
  created: integer, reason: optional(text), credential: optional(id), fingerprint: optional(text),
  deviceName: optional(text), key: optional(text), secureBoot: optional(text),
  attested: optional(texts), factors: optional(texts), lastUsed: optional(integer),
})

export const readOperation = reader({
  operation: id, account: text, template: text, purpose: text, text: named('data', text),
  status: text, created: integer, expires: integer, decided: optional(integer),
  confirmed: optional(integer), device: optional(id), registration: optional(id),
  deviceName: optional(text), factor: optional(text),
})

export const readPendingLogin = reader({
  operation: id, session: secret(text), text: named('data', text), expires: integer,
})

export const readTokens = reader({
  accessToken: secret(text), refreshToken: secret(text), expiresIn: integer,
})

export const readLogin = reader({
  account: text, application: text, registration: id, factor: text, roles: texts, flags: texts,
  tokens: { read: readTokens },
})

export const readTokenState = reader({
  account: named('sub', text), application: text, audience: named('aud', text),
  registration: named('reg', id), session: named('sid', id), methods: named('amr', texts),
  roles: texts, flags: texts, issued: named('iat', integer), expires: named('exp', integer),
})

export const readAuthentication = reader({
  account: text, application: text, registration: id, device: id, factor: text, roles: texts,
  flags: texts,
})

/** The answers in the member of this name. */
export function readList(read, json, name) {
  const entries = json instanceof Map ? json.get(name) : undefined
  if (!Array.isArray(entries)) throw unusable(`'${name}' is missing or not a list`)
  return entries.map(read)
}

/** Any JSON as plain objects, arrays and values; the prototype of objects is null. */
export function plain(json) {
  if (Array.isArray(json)) return json.map(plain)
  if (!(json instanceof Map)) return json !== null && typeof json === 'object' ? Number(json.text) : json
  const result = Object.create(null)
  for (const [name, value] of json) result[name] = plain(value)
  return result
}
