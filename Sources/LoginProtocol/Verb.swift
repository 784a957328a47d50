// SPDX-License-Identifier: Apache-2.0
/// The requests that a client may make; the raw value is the frame's kind.
///
/// Who may make each, and with what evidence, is in the verb table of Policy.
package enum Verb: UInt8, CaseIterable, Sendable {
    /// A touch that signs the caller's challenge.
    case authenticate = 1
    /// Asks for a touch and signs nothing: tests whether a reader recognises the finger.
    case verify = 2
    /// Adds a finger.
    case enroll = 3
    /// Removes one finger or all of them.
    case delete = 4
    /// Issues a credential for the fingers that are enrolled.
    case enable = 5
    /// Destroys the credential; the fingers stay enrolled.
    case disable = 6
    /// Lifts a lockout.
    case unlock = 7
    /// Reports the account's status.
    case status = 8
    /// Lists the account's fingers.
    case list = 9
    /// Lists the readers of this machine.
    case readers = 10
    /// Lists the account's receipts.
    case log = 11
    /// Lists the effective configuration.
    case configuration = 12
    /// The PAM module reports that a password was accepted in the same login.
    case passwordAccepted = 13
    /// Carries the password that the daemon asked for; follows `passwordWanted` only.
    case password = 14
    /// Cancels the request in progress; follows a request only.
    case cancel = 15
    /// Stores a secret, which follows in parts.
    case secretSet = 16
    /// Carries a part of the secret to store; follows `secretSet` only.
    case secretPart = 17
    /// A touch that releases a secret.
    case secretGet = 18
    /// Lists the names of the account's secrets.
    case secretList = 19
    /// Deletes a secret.
    case secretDelete = 20
    /// Reports which vault holds keys.
    case vault = 21
    /// Issues the credential again, in another vault.
    case migrate = 22
    /// Trusts the TPM in its present state as the one in which keys are made.
    case trustVault = 23
    /// The PAM module reports the account's new password.
    case passwordChanged = 24
    /// Reports touches that are asked for without a terminal, until cancelled.
    case watch = 25
    /// Imports the account's prints from fprintd.
    case importPrint = 26
    /// Asks, once and immediately, whether a proven touch is still valid.
    case confirm = 27
    /// The client has shown a notice that asked for acknowledgement; follows a request only.
    case shown = 28
    /// Lists or removes prints that readers store.
    case readerPrints = 29
    /// Registers this device at a server.
    case serverEnable = 30
    /// Removes this device's registration, at the server and here.
    case serverDisable = 31
    /// A touch that logs in to a server.
    case serverLogin = 32
    /// Lists the servers at which the account is registered.
    case serverList = 33
    /// A touch that signs a file, a challenge or an HTTP request.
    case sign = 34
    /// Makes the account's signing key.
    case signingEnable = 35
    /// Destroys the account's signing key.
    case signingDisable = 36
    /// Reports the account's signing key.
    case signingKey = 37
    /// A touch that obtains a MAC token from a server.
    case macTokenAdd = 38
    /// Lists the account's MAC tokens, without their secrets.
    case macTokenList = 39
    /// Deletes a MAC token from this device.
    case macTokenRemove = 40
    /// Computes the header of an HTTP request with a MAC token.
    case macTokenHeader = 41
    /// Lists the operations that await approval at servers.
    case operationList = 42
    /// Shows one operation as its server describes it.
    case operationShow = 43
    /// A touch that approves or rejects an operation.
    case operationDecide = 44
    /// The PAM module asks whether to offer enrolment to an account without fingers.
    case offer = 45
}

/// The kinds of the daemon's answers; the raw value is the frame's kind.
package enum AnswerKind: UInt8, CaseIterable, Sendable {
    /// A message for the user while the request continues.
    case notice = 128
    /// Ends `authenticate` with the statement and its signature.
    case assertion = 129
    /// Ends any request: it is denied, with the reason.
    case denial = 130
    /// The request continues once the client has sent the account's password.
    case passwordWanted = 131
    /// Ends any other request successfully.
    case done = 132
    /// The account's status.
    case status = 133
    /// One finger.
    case print = 134
    /// One reader.
    case reader = 135
    /// One receipt.
    case receipt = 136
    /// One public key that has signed receipts.
    case signer = 137
    /// One setting of the configuration.
    case setting = 138
    /// The digest and counter at which the chain of receipts must end.
    case chainHead = 139
    /// A part of a secret that a touch released.
    case secretPart = 140
    /// One secret, without its contents.
    case secret = 141
    /// A vault.
    case vault = 142
    /// The request continues once the client has sent the announced secret in parts.
    case secretWanted = 143
    /// A touch is asked for without a terminal, or that has ended; follows `watch` only.
    case event = 144
    /// One print of fprintd's, and the result of importing it.
    case importedPrint = 145
    /// Ends `confirm`: the touch is still valid.
    case confirmed = 146
    /// One print that a reader stores.
    case storedPrint = 147
    /// Refused attempts of the same kind, combined.
    case refusal = 148
    /// The signature of one of several files.
    case signedFile = 149
    /// Ends `serverEnable`: the device is registered.
    case serverEnabled = 150
    /// Ends `serverLogin` with the tokens.
    case token = 151
    /// One server.
    case server = 152
    /// Ends `sign` with the signature, and with the signed text if the daemon wrote it.
    case signed = 153
    /// The account's signing key.
    case signingKey = 154
    /// One MAC token.
    case macToken = 156
    /// Ends `macTokenHeader` with the header's value.
    case authorization = 157
    /// One operation.
    case operation = 158
    /// Why one of several servers gave no answer.
    case serverTrouble = 159
    /// Ends `operationDecide` with the operation's new state.
    case decided = 160
}
