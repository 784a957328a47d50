// SPDX-License-Identifier: Apache-2.0
/// What a client may ask for; the raw value is the frame's kind.
///
/// Who may ask, and with what proof, stands in Policy's table of verbs.
package enum Verb: UInt8, CaseIterable, Sendable {
    /// A touch that signs the caller's challenge.
    case authenticate = 1
    /// A touch that signs nothing: does the reader know this finger?
    case verify = 2
    /// Adds a finger.
    case enroll = 3
    /// Removes a finger, or all.
    case delete = 4
    /// Issues a credential for the present fingers.
    case enable = 5
    /// Destroys the credential; the fingers stay.
    case disable = 6
    /// Lifts a lockout.
    case unlock = 7
    /// How things stand for an account.
    case status = 8
    /// The account's fingers.
    case list = 9
    /// The readers of this machine.
    case readers = 10
    /// The account's receipts.
    case log = 11
    /// The effective configuration.
    case configuration = 12
    /// The PAM module reports that a password was accepted in the same login.
    case passwordAccepted = 13
    /// The password that the daemon asked for; follows `passwordWanted` only.
    case password = 14
    /// Ends the request under way; follows a request only.
    case cancel = 15
    /// Keeps a secret that follows in parts.
    case secretSet = 16
    /// A part of the secret that is kept; follows `secretSet` only.
    case secretPart = 17
    /// A touch that releases a secret.
    case secretGet = 18
    /// The names of the account's secrets.
    case secretList = 19
    /// Deletes a secret.
    case secretDelete = 20
    /// Which vault holds keys, and what it is.
    case vault = 21
    /// Issues the credential anew in another vault.
    case migrate = 22
    /// Takes the TPM as it is now for the one that keys are made in.
    case trustVault = 23
    /// The PAM module reports that the account's password was changed, and to what.
    case passwordChanged = 24
    /// Hears of touches that are asked for without a terminal, until it is taken back.
    case watch = 25
    /// Takes over the account's prints of fprintd.
    case importPrint = 26
    /// Asks whether a touch that was proven is still valid, once and at once.
    case confirm = 27
    /// The client has shown a notice that asked for it; follows a request only.
    case shown = 28
    /// What readers store, and its removal.
    case readerPrints = 29
    /// Registers this device at a server.
    case serverEnable = 30
    /// Takes that back, at the server and here.
    case serverDisable = 31
    /// A touch that logs in to a server.
    case serverLogin = 32
    /// The servers that the account is registered at.
    case serverList = 33
    /// A touch that signs a file, a challenge or an HTTP request.
    case sign = 34
    /// Makes the account's signing key.
    case signingEnable = 35
    /// Destroys it.
    case signingDisable = 36
    /// What it is.
    case signingKey = 37
    /// A touch that gets a MAC token from a server.
    case macTokenAdd = 38
    /// The MAC tokens of an account, without their secrets.
    case macTokenList = 39
    /// Forgets a MAC token.
    case macTokenRemove = 40
    /// The header of an HTTP request, by a MAC token.
    case macTokenHeader = 41
    /// What awaits an approval at servers.
    case operationList = 42
    /// One operation, as its server tells it.
    case operationShow = 43
    /// A touch that approves or rejects an operation.
    case operationDecide = 44
    /// The PAM module asks whether to tell an account without fingers that it could enrol one.
    case offer = 45
}

/// What the daemon answers; the raw value is the frame's kind.
package enum AnswerKind: UInt8, CaseIterable, Sendable {
    /// Something to tell the user while the request goes on.
    case notice = 128
    /// Ends `authenticate`: the statement and its signature.
    case assertion = 129
    /// Ends any request: no, and why.
    case denial = 130
    /// The request goes on when the account's password follows.
    case passwordWanted = 131
    /// Ends any other request: it is done.
    case done = 132
    /// How things stand for an account.
    case status = 133
    /// One finger.
    case print = 134
    /// One reader.
    case reader = 135
    /// One receipt.
    case receipt = 136
    /// One public key that signed receipts.
    case signer = 137
    /// One setting of the configuration.
    case setting = 138
    /// Where the chain of receipts must end.
    case chainHead = 139
    /// A part of a secret that a touch released.
    case secretPart = 140
    /// One secret, without its content.
    case secret = 141
    /// A vault.
    case vault = 142
    /// The request goes on when the announced secret follows in parts.
    case secretWanted = 143
    /// A touch is asked for without a terminal, or that is over; follows `watch` only.
    case event = 144
    /// One print of fprintd's, and what became of it.
    case importedPrint = 145
    /// Ends `confirm`: the touch is still valid.
    case confirmed = 146
    /// One print that a reader stores.
    case storedPrint = 147
    /// Refused attempts, all alike.
    case refusal = 148
    /// The signature over one of several files.
    case signedFile = 149
    /// Ends `serverEnable`: it is registered.
    case serverEnabled = 150
    /// Ends `serverLogin`: the tokens.
    case token = 151
    /// One server.
    case server = 152
    /// Ends `sign`: the signature, and what is signed where the daemon has written it.
    case signed = 153
    /// The account's signing key.
    case signingKey = 154
    /// One MAC token.
    case macToken = 156
    /// Ends `macTokenHeader`: the header's value.
    case authorization = 157
    /// One operation.
    case operation = 158
    /// Why one server of several has told nothing.
    case serverTrouble = 159
    /// Ends `operationDecide`: what the operation is now.
    case decided = 160
}
