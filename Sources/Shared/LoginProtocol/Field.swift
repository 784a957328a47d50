// SPDX-License-Identifier: Apache-2.0
import Domain

/// The fields that frames consist of; the raw value is the tag on the wire.
///
/// The fields of a frame are ordered by strictly ascending tag, so each can occur only once.
package enum Field: UInt8, CaseIterable {
    case account = 1
    case challenge = 2
    case service = 3
    case terminal = 4
    case remoteHost = 5
    case requester = 6
    case purpose = 7
    case timeoutMilliseconds = 8
    case maximumTries = 9
    case password = 10
    case finger = 11
    case printID = 12
    case readerID = 13
    case first = 14
    case count = 15
    case digest = 16
    case secretName = 17
    case secretPart = 18
    case keyring = 19
    case replaces = 20
    case presence = 30
    case background = 31

    case statement = 32
    case signature = 33
    case reason = 34
    case cause = 35
    case seconds = 36
    case since = 37
    case subject = 38
    case notice = 39
    case scan = 40
    case done = 41
    case total = 42
    case retry = 43
    case triesLeft = 44
    case name = 45
    case value = 46
    case origin = 47
    case state = 48
    case generation = 49
    case lock = 50
    case features = 51
    case program = 52
    case vault = 53
    case device = 54
    case counter = 55
    case rootName = 56
    case keyringState = 57
    case commandDigest = 58
    case agent = 59
    case acknowledge = 60
    case agentUser = 62

    // Fields about servers that the PAM module reads or sends.
    case server = 80
    case audience = 86
    case accessToken = 89
    case verdict = 96
    case verdictSignature = 97
    case offlineHours = 125
    case tokenDelivery = 126
    case tokenFile = 127
    case verdictKey = 128

    case storageAction = 21
    case code = 81
    case application = 82
    case registration = 83
    case publicKey = 84
    case action = 85
    case expires = 87
    case fingerprint = 88
    case refreshToken = 90
    case moduleChallenge = 91
    case localAccount = 92
    case httpStatus = 93
    case attempts = 94
    case isRepeatable = 95
    case registrationState = 98
    case why = 99
    case use = 100
    case fileName = 101
    case messageDigest = 102
    case challengeText = 103
    case method = 104
    case resource = 105
    case credential = 106
    // MAC tokens and operations.
    case tokenName = 110
    case token = 111
    case tokenSecret = 112
    case authorization = 116
    case operation = 117
    case template = 118
    case data = 119
    case decision = 120
    case operationState = 121
    case operationStatement = 122
    case failures = 123
    case maximumFailures = 124
    case isAway = 129
    // Receipts and refused attempts.
    case granted = 61
    case verb = 130
    case until = 131
    // Several files.
    case fileList = 132
    // What TPMs prove to servers.
    case requirements = 140
    case tpmParts = 141
    // The password in place of a touch.
    case factor = 142
    case passwordKey = 143
    case passwordSignature = 144
    case factors = 145
    case missing = 146
    case passwordAccepted = 147
    // Names of devices.
    case deviceName = 150

    /// The sizes in bytes that a value of this field may have.
    @inline(never)
    package var size: ClosedRange<Int> {
        switch self {
        case .account: 1...Limit.account
        case .challenge: Limit.challenge...Limit.challenge
        case .service: 1...Limit.service
        case .terminal, .readerID, .name, .vault: 0...Limit.label
        case .remoteHost, .requester, .program: 0...Limit.account
        case .purpose: 0...Limit.purpose
        case .subject, .value, .origin: 0...Limit.text
        case .password: 0...Limit.password
        case .printID, .device: 16...16
        case .digest, .commandDigest: 32...32
        case .secretName: 1...Limit.secretName
        case .secretPart: 0...Limit.secretPart
        case .rootName: 0...Limit.rootName
        case .statement: 1...Limit.statement
        case .signature, .verdictSignature: 1...Limit.signature
        case .finger, .maximumTries, .reason, .cause, .notice, .scan, .done, .total, .retry,
            .triesLeft, .state, .lock, .keyring, .replaces, .keyringState, .presence, .background,
            .tokenDelivery, .tokenFile, .acknowledge:
            1...1
        case .timeoutMilliseconds, .count, .seconds, .features, .offlineHours, .agent,
            .agentUser:
            4...4
        case .first, .since, .generation, .counter: 8...8
        case .server, .audience: 1...Limit.label
        case .accessToken: 1...Limit.accessToken
        case .verdict: 1...Limit.verdict
        case .verdictKey: 65...65
        case .application: 1...Limit.label
        case .code: 1...Limit.code
        case .action: 1...32
        case .fingerprint: 0...Limit.code
        case .registration: 16...16
        case .publicKey: 65...65
        case .moduleChallenge: Limit.challenge...Limit.challenge
        case .localAccount: 1...Limit.account
        case .refreshToken: 0...Limit.refreshToken
        case .why: 0...Limit.text
        case .use: 1...1
        case .fileName: 0...Limit.fileName
        case .messageDigest: 32...32
        case .fileList: 66...(Limit.files * 33 + Limit.listedNames)
        case .challengeText: 1...Limit.challengeText
        case .method: 1...16
        case .resource: 1...Limit.resource
        case .credential: 16...16
        case .isRepeatable, .registrationState, .isAway, .granted, .storageAction, .verb:
            1...1
        case .requirements: 1...1
        case .tpmParts: 2...Limit.tpmParts
        case .httpStatus: 2...2
        case .attempts: 4...4
        case .expires, .until: 8...8
        case .tokenName: 1...Limit.tokenName
        case .token, .operation: 16...16
        case .tokenSecret: 32...32
        case .authorization: 1...Limit.label
        case .template: 0...Limit.template
        case .data: 0...Limit.operationData
        case .decision, .operationState: 1...1
        case .operationStatement: 1...Limit.operationStatement
        case .failures, .maximumFailures: 4...4
        case .factor, .factors, .missing, .passwordAccepted: 1...1
        case .passwordKey: 65...65
        case .passwordSignature: 1...Limit.signature
        case .deviceName: 1...DeviceName.longest
        }
    }
}

/// The maximum sizes in bytes of values that cross the socket, all in one place.
package enum Limit {
    /// An account's name; LOGIN_NAME_MAX on Linux.
    package static let account = 256
    /// A challenge; always exactly this size.
    package static let challenge = 32
    /// The name of a PAM service.
    package static let service = 64
    /// A terminal, a reader's id or name, or the name of a setting.
    package static let label = 256
    /// The purpose, the text of what a touch authorises. The module truncates longer command lines.
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
}
