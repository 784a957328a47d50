// SPDX-License-Identifier: Apache-2.0
// A back end in TypeScript that uses all that the package exports. It is compiled and not run.
// A line under @ts-expect-error must not compile.
import {
  CALL_CODES, CODES, CallFailure, CallbackVerifier, KeySet, KeySource, MemoryNonces, NONCE_SECONDS,
  RequestVerifier, SignetClient, TokenVerifier, VerdictVerifier, VerificationFailure, WINDOW_SECONDS, activeDevices, bearerToken,
  fingerprint, httpsFetch,
} from 'signet-verifier'
import type {
  AccessToken, Activation, Authentication, CallbackEvent, Clock, Device, FailureCode, Keys, Login,
  MACToken, NonceStore, Operation, PendingLogin, Question, ReceivedRequest, Registration,
  RequestVerifierOptions, SignetClientOptions, TokenState, Tokens, Verdict, VerdictExpectation,
  VerifiedRequest,
} from 'signet-verifier'

const clock: Clock = () => 1_800_000_000
const issuer = 'https://id.example.org'
const audience = 'https://id.example.org/shop'

// Requests.
class SharedNonces implements NonceStore {
  private readonly known = new Map<string, number>()

  async add(key: string, issued: number): Promise<boolean> {
    const isNew = !this.known.has(key)
    this.known.set(key, issued + NONCE_SECONDS)
    return isNew
  }
}

const point = new Uint8Array(65)
const registered: Device[] = activeDevices([
  {
    account: 'alice', device: 'd1'.repeat(16), credential: 'c1'.repeat(16),
    fingerprint: fingerprint(point), status: 'ACTIVE',
  },
])
const macToken: MACToken = {
  token: 'a1'.repeat(16), secret: new Uint8Array(32), account: 'alice', device: 'd1'.repeat(16),
  expires: clock() + WINDOW_SECONDS,
}
const options: RequestVerifierOptions = {
  audience, nonces: new SharedNonces(), clock, requireTPM: true, requireSecureBoot: false,
  devices: async (account, device) =>
    registered.filter((one) => one.account === account && one.device === device),
  macTokens: (token) => (token === macToken.token ? macToken : undefined),
}
const request: ReceivedRequest = {
  authorization: ['Signet …'], method: 'POST', resource: '/orders?page=1', body: '{}',
}

export async function sender(): Promise<string> {
  const verified: VerifiedRequest = await new RequestVerifier(options).verify(request)
  const counter: bigint | undefined = verified.counter
  return `${verified.account} ${verified.factor === 'fingerprint'} ${counter ?? 0n}`
}

export const local: boolean = new MemoryNonces({ limit: 10, clock }).add('key', clock())

// Tokens and callbacks.
const jwks: string = '{"keys": []}'
const source: Keys = new KeySource({
  fetch: httpsFetch(`${issuer}/.well-known/jwks.json`, { timeout: 2 }), maxAge: 60, interval: 5,
})
const fixed = new KeySet(jwks)

export async function user(authorization: string | undefined): Promise<readonly string[]> {
  const verifier = new TokenVerifier({ issuer, audience, keys: source, clock })
  const token: AccessToken = await verifier.verify(bearerToken(authorization))
  return token.expires > clock() ? token.methods : token.roles
}

export async function received(body: Uint8Array): Promise<string> {
  const url = 'https://shop.example/signet'
  const event: CallbackEvent = await new CallbackVerifier({ issuer, url, keys: fixed }).verify(body)
  return event.operation ?? event.registration ?? `${event.type} ${fixed.size}`
}

// Verdicts.
export function verdict(statement: string, signature: string): string {
  const expected: VerdictExpectation = { account: 'alice', module: new Uint8Array(32), maxAge: 60 }
  const verifier = new VerdictVerifier({ key: 'ecdsa-sha2-nistp256 AAAA', audience, clock })
  const found: Verdict = verifier.verify(statement, signature, expected)
  return found.local
}

// Calls.
const server: SignetClientOptions = { url: issuer, apiKey: 'sgk_…', timeout: 20 }
const client = new SignetClient(server)
const question: Question = { account: 'alice', template: 'pay', data: { amount: '12' } }

export async function calls(): Promise<string | undefined> {
  const activation: Activation = await client.activate('alice', { expiresIn: 60 })
  const devices: Device[] = activeDevices(await client.registrations(activation.account))
  const one: Registration = await client.commit('a1'.repeat(16), 'SHA256:…')
  for (const change of [client.block, client.unblock, client.remove, client.registration]) {
    await change.call(client, one.registration)
  }
  const pending: PendingLogin = await client.beginLogin({ ...question, visitor: '192.0.2.1' })
  const login: Login = await client.confirmLogin(pending.operation, pending.session)
  const tokens: Tokens = await client.refresh(login.tokens.refreshToken)
  const state: TokenState | undefined = await client.introspect(tokens.accessToken)
  await client.revoke(tokens.accessToken)
  const operation: Operation = await client.createOperation({ ...question, expiresIn: 60 })
  await client.cancel((await client.operation(operation.operation)).operation)
  const sender: Authentication = await client.verifyRequest({ ...request, authorization: 'Signet …' })
  new KeySource({ fetch: () => client.jwks() })
  await client.admin('account block', { application: 'shop', account: sender.account })
  await client.call('POST', ['mac-tokens', 'a1', 'revoke'], { body: {}, success: 204 })
  return state?.account ?? (await client.operations('alice'))[0]?.text ?? devices[0]?.credential
}

export function explain(error: unknown): string {
  if (!(error instanceof CallFailure)) return 'fault'
  const isOurs = (CALL_CODES as readonly string[]).includes(error.code)
  return `${isOurs} ${error.mayHaveHappened} ${error.retryAfter ?? 0} ${error.details.scope ?? ''}`
}

// Failures.
export function log(error: unknown): FailureCode | 'fault' {
  if (!(error instanceof VerificationFailure)) return 'fault'
  return CODES.includes(error.code) ? error.code : 'fault'
}

export const made = new VerificationFailure('replayed', 'twice')

// What must not compile.
// @ts-expect-error: not a code
new VerificationFailure('stolen', '')
// @ts-expect-error: CODES is for reading alone
CODES.push('replayed')
// @ts-expect-error: the nonces are missing
new RequestVerifier({ audience })
// @ts-expect-error: an option that does not exist
new RequestVerifier({ audience, nonces: new MemoryNonces(), requireTouch: true })
// @ts-expect-error: keys are not a JWKS
new TokenVerifier({ issuer, audience, keys: jwks })
// @ts-expect-error: the issuer is missing
new CallbackVerifier({ url: issuer, keys: fixed })
// @ts-expect-error: there is no client without an API key
new SignetClient({ url: issuer })
// @ts-expect-error: a certificate is always verified
new SignetClient({ ...server, rejectUnauthorized: false })
// @ts-expect-error: a value is a text
client.beginLogin({ ...question, data: { amount: 12 } })
// @ts-expect-error: an operation has no visitor
client.createOperation({ ...question, visitor: '192.0.2.1' })
// @ts-expect-error: a token may not be valid
client.introspect('').then((state) => state.account)
// @ts-expect-error: a challenge is bytes
new VerdictVerifier({ key: '', audience }).verify('', '', { challenge: 'text' })
// @ts-expect-error: a result is for reading alone
export const change = (event: CallbackEvent) => { event.account = 'mallory' }
// @ts-expect-error: a store says whether the key was new
export class Forgetful implements NonceStore { add(): void {} }
// @ts-expect-error: it is a promise
export const unawaited = new RequestVerifier(options).verify(request).account
