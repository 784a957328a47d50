// SPDX-License-Identifier: Apache-2.0
/**
 * For back ends: verifies what Signet signs, offline, and calls signet-server; libraries/README.md
 * says what only the server can tell.
 */

/** Why something was refused; libraries/README.md describes each code. */
export type FailureCode =
  | 'too-long' | 'malformed' | 'wrong-scheme' | 'repeated-header' | 'unsupported-header'
  | 'invalid-key' | 'unknown-key' | 'bad-signature' | 'bad-mac' | 'wrong-request'
  | 'wrong-audience' | 'wrong-issuer' | 'wrong-account' | 'wrong-device' | 'wrong-challenge'
  | 'denied' | 'policy' | 'expired' | 'not-yet-valid' | 'clock' | 'replayed' | 'unavailable'

/** All failure codes. */
export const CODES: readonly FailureCode[]

/** What was to be verified is refused. The message is for the log; do not send it to the client. */
export class VerificationFailure extends Error {
  constructor(code: FailureCode, detail: string)
  readonly code: FailureCode
  readonly detail: string
}

/** The time in seconds since 1970. */
export type Clock = () => number

type MaybePromise<Value> = Value | Promise<Value>

/** How far a request code's time may be from the clock, before and after it, in seconds. */
export const WINDOW_SECONDS: 30
/** How long a nonce is stored after its code was issued, in seconds. */
export const NONCE_SECONDS: 300

/** What makes a request code valid once; several processes of a back end must share one. */
export interface NonceStore {
  /**
   * Stores a key at least until `NONCE_SECONDS` after `issued`; false if it is there already.
   *
   * Looking and storing must be one step: of any number of concurrent calls with one key, one gets
   * true. A store that cannot tell throws `new VerificationFailure('unavailable', …)`.
   */
  add(key: string, issued: number): MaybePromise<boolean>
}

/** A store in the memory of one process; refuses codes as `unavailable` when it is full. */
export class MemoryNonces implements NonceStore {
  constructor(options?: { limit?: number, clock?: Clock })
  add(key: string, issued: number): boolean
}

/** A registered device, as the server's answers about a registration describe it. */
export interface Device {
  account: string
  /** 32 hexadecimal digits. */
  device: string
  /** The id under which the key is registered, 32 hexadecimal digits. */
  credential: string
  /** `SHA256:…`; it identifies the key, which comes with each signature. */
  fingerprint: string
  registration?: string
}

/** A MAC token whose secret this program holds. */
export interface MACToken {
  token: string
  /** 32 bytes. */
  secret: Uint8Array
  account: string
  device: string
  /** Seconds since 1970. */
  expires: number
  registration?: string
}

/** The ACTIVE ones of `registrations` in the server's `GET /v1/accounts/{name}/registrations`. */
export function activeDevices(
  registrations: ReadonlyArray<Partial<Device> & { status: string }>,
): Device[]

/** The fingerprint of a key's uncompressed point (65 bytes): `SHA256:…`. */
export function fingerprint(point: Uint8Array): string

export interface RequestVerifierOptions {
  audience: string
  nonces: NonceStore
  /**
   * The devices that are registered for an account under a device's id. Both are claims of the
   * request; the function needs no check of its own. Without it, `Signet` headers are refused.
   */
  devices?: (account: string, device: string) => MaybePromise<Iterable<Device>>
  /** The MAC token with an id. Without this function, `SignetMAC` headers are refused. */
  macTokens?: (token: string) => MaybePromise<MACToken | undefined>
  /** Whether the device must say that its key is in a TPM. */
  requireTPM?: boolean
  /** Whether the device must say that it was started with secure boot. */
  requireSecureBoot?: boolean
  clock?: Clock
}

export interface ReceivedRequest {
  /** All `Authorization` headers of the request: `request.headersDistinct.authorization`. */
  authorization: string | Uint8Array | ReadonlyArray<string | Uint8Array> | undefined | null
  method: string
  /** Path and query exactly as they were sent, escapes included: `request.url`. */
  resource: string | Uint8Array
  /** The exact body. */
  body?: string | Uint8Array
  /** The body's SHA-256, in place of the body. */
  bodyDigest?: Uint8Array
}

/** Who sent a request; what is undefined was not signed. */
export interface VerifiedRequest {
  readonly account: string
  readonly device: string
  readonly registration?: string
  /** `fingerprint` for a touch, `possession` for a MAC. */
  readonly factor: 'fingerprint' | 'possession'
  /** Seconds since 1970. */
  readonly issued: number
  readonly credential?: string
  readonly macToken?: string
  /** Where the key is, according to the device. */
  readonly key?: 'tpm' | 'file'
  /** Whether it was started with secure boot, according to the device. */
  readonly secureBoot?: 'on' | 'off' | 'unknown'
  readonly enrolment?: bigint
  readonly counter?: bigint
}

/** Verifies the codes of requests for one audience. */
export class RequestVerifier {
  constructor(options: RequestVerifierOptions)
  /** Verifies the code of one request, and uses it up; rejects with `VerificationFailure`. */
  verify(request: ReceivedRequest): Promise<VerifiedRequest>
}

/** Where the keys of access tokens come from. */
export interface Keys {
  /** The uncompressed point of the key with this id. */
  point(kid: string): MaybePromise<Uint8Array | undefined>
}

/** The keys of one JWKS document; throws `too-long`, `malformed` or `invalid-key`. */
export class KeySet implements Keys {
  constructor(jwks: string | Uint8Array)
  readonly size: number
  point(kid: string): Uint8Array | undefined
}

/**
 * A server's keys, fetched again as they age.
 *
 * Keys are used for `maxAge` seconds (300) after they were fetched. From half that age on they are
 * fetched again when a token is verified, and when a token names an unknown key, but never more
 * often than every `interval` seconds (10). `clock` counts seconds and never goes back.
 */
export class KeySource implements Keys {
  constructor(options: {
    fetch: () => MaybePromise<string | Uint8Array>
    maxAge?: number
    interval?: number
    clock?: () => number
  })
  point(kid: string): Promise<Uint8Array | undefined>
}

/** A function for `KeySource`: HTTPS, no redirection, at most 64 KiB, `timeout` seconds (5). */
export function httpsFetch(url: string, options?: { timeout?: number }): () => Promise<Uint8Array>

/** The claims of a valid access token. Times are in seconds since 1970. */
export interface AccessToken {
  readonly account: string
  readonly issuer: string
  readonly audience: string
  readonly issued: number
  readonly expires: number
  readonly id: string
  readonly session: string
  readonly registration: string
  readonly methods: readonly string[]
  readonly roles: readonly string[]
  readonly flags: readonly string[]
}

/** Verifies access tokens of one server (`issuer` is its `server.url`) for one audience. */
export class TokenVerifier {
  constructor(options: { issuer: string, audience: string, keys: Keys, clock?: Clock })
  /** Returns the claims of a token that is valid now; rejects with `VerificationFailure`. */
  verify(token: string): Promise<AccessToken>
}

/** The token of `Authorization: Bearer …`; throws `wrong-scheme` or `repeated-header`. */
export function bearerToken(authorization: string | readonly string[] | undefined | null): string

/** An event of a callback. Times are in seconds since 1970; what does not apply is undefined. */
export interface CallbackEvent {
  /** The same whenever the event is sent: remember it, since an event may come several times. */
  readonly id: string
  readonly type: string
  readonly time: number
  readonly application: string
  readonly account: string
  readonly registration?: string
  readonly operation?: string
  readonly purpose?: string
  readonly reason?: string
  readonly issued: number
  readonly expires: number
}

/** Verifies callbacks of one server (`issuer` is its `server.url`) to one URL, as it was set. */
export class CallbackVerifier {
  constructor(options: { issuer: string, url: string, keys: Keys, clock?: Clock })
  /** Returns the event of a request's body; rejects with `VerificationFailure`. */
  verify(body: string | Uint8Array): Promise<CallbackEvent>
}

/** A login that the server has approved. Times are in seconds since 1970. */
export interface Verdict {
  readonly audience: string
  readonly account: string
  /** The account's name on the device. */
  readonly local: string
  readonly device: string
  readonly challenge: Uint8Array
  readonly module: Uint8Array
  readonly issued: number
  readonly expires: number
}

export interface VerdictExpectation {
  account?: string
  local?: string
  /** 32 hexadecimal digits. */
  device?: string
  /** The server's challenge, 32 bytes. */
  challenge?: Uint8Array
  /** The 32 random bytes that the verdict was asked for: it is then valid at any time. */
  module?: Uint8Array
  /** Valid for so many seconds after it was issued, instead of until it expires. */
  maxAge?: number
}

/**
 * Verifies verdicts by one pinned key for one audience, both as `signet-server admin application
 * pam-file` prints them; throws `invalid-key` if `key` is not the line of a P-256 key.
 */
export class VerdictVerifier {
  constructor(options: { key: string, audience: string, clock?: Clock })
  /**
   * Returns a verdict that says yes; throws `VerificationFailure`.
   *
   * Both arguments are bytes, or their base64url as in the server's answer to a login.
   */
  verify(
    statement: string | Uint8Array, signature: string | Uint8Array, expected?: VerdictExpectation,
  ): Verdict
}

/** What a `CallFailure` says if there is no answer by the server that does. */
export const CALL_CODES: readonly ['not-sent', 'no-answer', 'unusable-answer']

/**
 * A call that did not succeed. The message is for the log; it has no key and no token.
 *
 * `code` is the server's (`conflict`, `not-found`, …: docs/developer/openapi.yaml), or `not-sent` (no
 * connection was made), `no-answer` (the request was sent, and no answer came) or `unusable-answer` (it
 * is not one that the server is documented to give).
 */
export class CallFailure extends Error {
  constructor(code: string, detail: string, more?: {
    status?: number, retryAfter?: number, details?: CallFailure['details'],
  })
  readonly code: string
  readonly detail: string
  /** Whether the server may have done what was asked, although this failed. */
  readonly mayHaveHappened: boolean
  /** The status of the answer. */
  readonly status?: number | undefined
  /** After how many seconds the server asks to try again. */
  readonly retryAfter?: number | undefined
  /** What else a refusal says. */
  readonly details: { scope?: string, requirement?: string, remainingAttempts?: number }
}

/** An activation code, for the user to type on the device. Times are in seconds since 1970. */
export interface Activation {
  readonly account: string
  readonly application: string
  readonly code: string
  readonly expires: number
}

/** A device's key for an account. */
export interface Registration {
  readonly registration: string
  readonly account: string
  readonly device: string
  readonly status: string
  readonly flags: readonly string[]
  readonly failures: number
  readonly created: number
  readonly reason?: string
  readonly credential?: string
  readonly fingerprint?: string
  /** What the device calls itself, unverified. */
  readonly deviceName?: string
  readonly key?: string
  readonly secureBoot?: string
  readonly attested?: readonly string[]
  readonly factors?: readonly string[]
  readonly lastUsed?: number
}

/** What a user is asked to approve. */
export interface Operation {
  readonly operation: string
  readonly account: string
  readonly template: string
  readonly purpose: string
  /** What the device shows. */
  readonly text: string
  readonly status: string
  readonly created: number
  readonly expires: number
  readonly decided?: number
  readonly confirmed?: number
  readonly device?: string
  readonly registration?: string
  readonly deviceName?: string
  readonly factor?: string
}

/** A login that awaits its approval. */
export interface PendingLogin {
  readonly operation: string
  /** The secret of the browser's session, which the browser need not have. */
  readonly session: string
  /** What the device shows. */
  readonly text: string
  readonly expires: number
}

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
  /** How many seconds the access token is valid from now on. */
  readonly expiresIn: number
}

/** A login that was confirmed. */
export interface Login {
  readonly account: string
  readonly application: string
  readonly registration: string
  readonly factor: string
  readonly roles: readonly string[]
  readonly flags: readonly string[]
  readonly tokens: Tokens
}

/** What an access token that is valid now says, with the present roles and flags. */
export interface TokenState {
  readonly account: string
  readonly application: string
  readonly audience: string
  readonly registration: string
  readonly session: string
  readonly methods: readonly string[]
  readonly roles: readonly string[]
  readonly flags: readonly string[]
  readonly issued: number
  readonly expires: number
}

/** Who sent a request, as the server has verified. */
export interface Authentication {
  readonly account: string
  readonly application: string
  readonly registration: string
  readonly device: string
  readonly factor: string
  readonly roles: readonly string[]
  readonly flags: readonly string[]
}

/** What is to be approved. */
export interface Question {
  account: string
  template: string
  /** A value for each placeholder of the template. */
  data: Readonly<Record<string, string>>
  /** The only device that may decide, 32 hexadecimal digits. */
  device?: string
  /** Seconds, at most the template's. */
  expiresIn?: number
  /** What is known of the machine that the user sits at. */
  additional?: { address?: string, agent?: string, device?: string }
}

export interface SignetClientOptions {
  /** The server's URL (`server.url`). */
  url: string
  /** An API key with the scopes of what is called. */
  apiKey: string
  /** The file of a certificate authority, if it is not one that Node trusts. */
  authority?: string
  /** After so many seconds of silence a call ends (60), and at ten times that. */
  timeout?: number
  /** How many bytes an answer may have (4 MiB). */
  longestAnswer?: number
}

/**
 * Calls one server for one application. All calls reject with `CallFailure`.
 *
 * Each call is one request on a connection of its own, which is sent once.
 */
export class SignetClient {
  constructor(options: SignetClientOptions)
  /** A new activation code for an account, whose earlier one ends. Scope: registrations. */
  activate(account: string, options?: { expiresIn?: number }): Promise<Activation>
  /** All registrations of an account, the oldest first. Scope: registrations. */
  registrations(account: string): Promise<Registration[]>
  /** The state of a registration. Scope: registrations. */
  registration(registration: string): Promise<Registration>
  /** Confirms that a person has compared the key's fingerprint. Scope: registrations. */
  commit(registration: string, fingerprint: string): Promise<Registration>
  /** Blocks an ACTIVE registration, until it is unblocked. Scope: registrations. */
  block(registration: string): Promise<Registration>
  /** Makes a BLOCKED registration ACTIVE. Scope: registrations. */
  unblock(registration: string): Promise<Registration>
  /** Removes a registration for ever. Scope: registrations. */
  remove(registration: string): Promise<Registration>
  /**
   * Asks the account's devices to approve a login. Scope: logins.
   *
   * `visitor` is the browser's address where anyone can type any name: the answer does not show then
   * whether the account exists. Keep `session` in the session of the browser that asks, on the side of
   * the server, and nowhere else.
   */
  beginLogin(question: Question & { visitor?: string }): Promise<PendingLogin>
  /** The tokens of an APPROVED login, once, for the session that began it. Scope: logins. */
  confirmLogin(operation: string, session: string): Promise<Login>
  /** Asks the account's devices to approve something. Scope: operations. */
  createOperation(question: Question): Promise<Operation>
  /** The state of an operation. Scope: operations, or for logins: logins. */
  operation(operation: string): Promise<Operation>
  /** Cancels a PENDING operation. Scope: operations, or for logins: logins. */
  cancel(operation: string): Promise<Operation>
  /** The 50 newest operations and logins of an account, newest first. Scope: operations. */
  operations(account: string): Promise<Operation[]>
  /** What a token of this application says; undefined if it is not valid now. Scope: verify. */
  introspect(accessToken: string): Promise<TokenState | undefined>
  /** The next pair of tokens. Never repeat this: a token that is sent twice ends the session. */
  refresh(refreshToken: string): Promise<Tokens>
  /** Ends the session of a token of either kind, if there is one. */
  revoke(token: string): Promise<void>
  /**
   * Who sent a request with a `Signet` or `SignetMAC` header. Scope: verify.
   *
   * A code that is not valid rejects with `CallFailure` and the server's code.
   */
  verifyRequest(request: Omit<ReceivedRequest, 'bodyDigest'>): Promise<Authentication>
  /** The server's keys for tokens and callbacks, for `KeySource`: `fetch: () => client.jwks()`. */
  jwks(): Promise<Uint8Array>
  /**
   * Runs a command of `signet-server admin`. Scope: admin, or server.
   *
   * `command` is its words (`account block`), and a member stands for each operand and option, by the
   * name in docs/developer/openapi.yaml. The result is what the command prints with `--json`.
   */
  admin(command: string, members?: Readonly<Record<string, unknown>>): Promise<any>
  /**
   * A call for which there is no function: its path after `/v1`, each segment by itself. The result is
   * the JSON of an answer of the status `success` (200), undefined if it has no content.
   */
  call(
    method: string, segments: readonly string[],
    options?: { body?: Readonly<Record<string, unknown>>, success?: number },
  ): Promise<any>
}
