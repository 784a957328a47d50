// SPDX-License-Identifier: Apache-2.0
import Domain

/// A field that frames consist of: its tag on the wire, and the sizes that its value may have.
///
/// The fields of a frame are ordered by strictly ascending tag, so each can occur only once. Those
/// of logins, and those that several families of requests use, are declared here; any other stands
/// at the end of the file of its requests.
package struct Field: Hashable, Sendable {
    /// The tag on the wire.
    package let rawValue: UInt8
    /// The sizes in bytes that a value may have.
    package let size: ClosedRange<Int>

    /// Declares a field; each has its own tag.
    package init(_ tag: UInt8, size: ClosedRange<Int>) {
        rawValue = tag
        self.size = size
    }

    /// Declares a field whose values all have one size in bytes.
    package init(_ tag: UInt8, size: Int) { self.init(tag, size: size...size) }
}

extension Field {
    package static var account: Field { Field(1, size: 1...Limit.account) }
    package static var challenge: Field { Field(2, size: Limit.challenge) }
    package static var service: Field { Field(3, size: 1...Limit.service) }
    package static var terminal: Field { Field(4, size: 0...Limit.label) }
    package static var remoteHost: Field { Field(5, size: 0...Limit.label) }
    package static var requester: Field { Field(6, size: 0...Limit.account) }
    package static var purpose: Field { Field(7, size: 0...Limit.purpose) }
    package static var timeoutMilliseconds: Field { Field(8, size: 4) }
    package static var maximumTries: Field { Field(9, size: 1) }
    package static var password: Field { Field(10, size: 0...Limit.password) }
    package static var finger: Field { Field(11, size: 1) }
    package static var readerID: Field { Field(13, size: 0...Limit.label) }
    package static var count: Field { Field(15, size: 4) }
    package static var digest: Field { Field(16, size: 32) }
    package static var secretPart: Field { Field(18, size: 0...Limit.secretPart) }
    package static var keyring: Field { Field(19, size: 1) }
    package static var presence: Field { Field(30, size: 1) }
    package static var background: Field { Field(31, size: 1) }
    package static var statement: Field { Field(32, size: 1...Limit.statement) }
    package static var signature: Field { Field(33, size: 1...Limit.signature) }
    package static var reason: Field { Field(34, size: 1) }
    package static var cause: Field { Field(35, size: 1) }
    package static var seconds: Field { Field(36, size: 4) }
    package static var since: Field { Field(37, size: 8) }
    package static var subject: Field { Field(38, size: 0...Limit.text) }
    package static var notice: Field { Field(39, size: 1) }
    package static var scan: Field { Field(40, size: 1) }
    package static var done: Field { Field(41, size: 1) }
    package static var total: Field { Field(42, size: 1) }
    package static var retry: Field { Field(43, size: 1) }
    package static var triesLeft: Field { Field(44, size: 1) }
    package static var name: Field { Field(45, size: 0...Limit.label) }
    package static var value: Field { Field(46, size: 0...Limit.text) }
    package static var origin: Field { Field(47, size: 0...Limit.text) }
    package static var state: Field { Field(48, size: 1) }
    package static var vault: Field { Field(53, size: 0...Limit.label) }
    package static var device: Field { Field(54, size: 16) }
    package static var counter: Field { Field(55, size: 8) }
    package static var keyringState: Field { Field(57, size: 1) }
    package static var commandDigest: Field { Field(58, size: 32) }
    package static var agent: Field { Field(59, size: 4) }
    package static var acknowledge: Field { Field(60, size: 1) }
    package static var agentUser: Field { Field(62, size: 4) }
    package static var server: Field { Field(80, size: 1...Limit.label) }
    package static var code: Field { Field(81, size: 1...Limit.code) }
    package static var application: Field { Field(82, size: 1...Limit.label) }
    package static var registration: Field { Field(83, size: 16) }
    package static var publicKey: Field { Field(84, size: 65) }
    package static var action: Field { Field(85, size: 1...32) }
    package static var audience: Field { Field(86, size: 1...Limit.label) }
    package static var expires: Field { Field(87, size: 8) }
    package static var fingerprint: Field { Field(88, size: 0...Limit.code) }
    package static var accessToken: Field { Field(89, size: 1...Limit.accessToken) }
    package static var refreshToken: Field { Field(90, size: 0...Limit.refreshToken) }
    package static var moduleChallenge: Field { Field(91, size: Limit.challenge) }
    package static var localAccount: Field { Field(92, size: 1...Limit.account) }
    package static var httpStatus: Field { Field(93, size: 2) }
    package static var attempts: Field { Field(94, size: 4) }
    package static var isRepeatable: Field { Field(95, size: 1) }
    package static var verdict: Field { Field(96, size: 1...Limit.verdict) }
    package static var verdictSignature: Field { Field(97, size: 1...Limit.signature) }
    package static var registrationState: Field { Field(98, size: 1) }
    package static var why: Field { Field(99, size: 0...Limit.text) }
    package static var messageDigest: Field { Field(102, size: 32) }
    package static var method: Field { Field(104, size: 1...16) }
    package static var resource: Field { Field(105, size: 1...Limit.resource) }
    package static var token: Field { Field(111, size: 16) }
    package static var authorization: Field { Field(116, size: 1...Limit.label) }
    package static var operation: Field { Field(117, size: 16) }
    package static var operationState: Field { Field(121, size: 1) }
    package static var operationStatement: Field { Field(122, size: 1...Limit.operationStatement) }
    package static var offlineHours: Field { Field(125, size: 4) }
    package static var tokenDelivery: Field { Field(126, size: 1) }
    package static var tokenFile: Field { Field(127, size: 1) }
    package static var verdictKey: Field { Field(128, size: 65) }
    package static var isAway: Field { Field(129, size: 1) }
    package static var requirements: Field { Field(140, size: 1) }
    package static var tpmParts: Field { Field(141, size: 2...Limit.tpmParts) }
    package static var factor: Field { Field(142, size: 1) }
    package static var passwordKey: Field { Field(143, size: 65) }
    package static var passwordSignature: Field { Field(144, size: 1...Limit.signature) }
    package static var factors: Field { Field(145, size: 1) }
    package static var missing: Field { Field(146, size: 1) }
    package static var passwordAccepted: Field { Field(147, size: 1) }
}

/// The maximum sizes in bytes of values that cross the socket, all in one place.
package enum Limit {
    /// An account's name.
    package static let account = AccountName.longest
    /// A challenge; always exactly this size.
    package static let challenge = 32
    /// The name of a PAM service.
    package static let service = 64
    /// A terminal, a reader's id or name, or the name of a setting.
    package static let label = 256
    /// The purpose, the text of what a touch authorises: a dozen lines on a terminal of 80 columns,
    /// which are seen at once. No request with a longer one gets a touch.
    package static let purpose = 1_024
    /// Any other text.
    package static let text = 2_048
    /// A password, without a terminating NUL.
    package static let password = 1_023
    /// The name of a secret.
    package static let secretName = 128
    /// The number of secrets that an account may have.
    package static let secrets = 64
    /// One part of a secret.
    package static let secretPart = 12_288
    /// A whole secret, the sum of its parts.
    package static let secret = 65_536
    /// The Name of a TPM object: its algorithm (2) and digest; TPM 2.0 part 1, 16.
    package static let rootName = 66
    /// A statement, with every value at its longest in percent-encoding.
    package static let statement = 8_192
    /// An SSHSIG blob without armour.
    package static let signature = 512
    /// A server's access token.
    package static let accessToken = 4_096
    /// A server's verdict for the PAM module.
    package static let verdict = 4_096
    /// An activation code as typed, the code of a problem, or a key's fingerprint.
    package static let code = 64
    /// A server's refresh token.
    package static let refreshToken = 512
    /// The name of a signed file, as the user gave it.
    package static let fileName = 1_024
    /// The number of files that one touch may sign; the user reads their names first.
    package static let files = 8
    /// The name of one of several files.
    package static let listedName = 255
    /// The names of several files, in total.
    package static let listedNames = 400
    /// A challenge of any relying party's choosing.
    package static let challengeText = 1_024
    /// The resource that an HTTP request is for.
    package static let resource = 1_024
    /// The name of a MAC token.
    package static let tokenName = 128
    /// The name of an operation's template.
    package static let template = 64
    /// The text of an operation.
    package static let operationData = 4_096
    /// The statement about an operation, with every byte of the text percent-encoded.
    package static let operationStatement = 15_000
    /// Everything that a TPM states about a key.
    package static let tpmParts = 12_288
    /// The number of operations that a server may list at once; signet-server has at most 25.
    package static let operations = 32
    /// The number of sessions that a server may list at once; signet-server lists at most 50.
    package static let sessions = 64
}
