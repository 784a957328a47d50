// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

/// The kind of content that a touch signs; the raw value is on the wire.
package enum SigningUse: UInt8, CaseIterable, Sendable {
    /// A file, with the account's signing key.
    case file = 1
    /// A challenge of a relying party, with the account's signing key.
    case challenge = 2
    /// An HTTP request, with the key for a server.
    case request = 3
    /// Several files with one touch, with the account's signing key.
    case files = 4
}

/// One of several files to sign.
package struct FileDigest: Equatable, Sendable {
    /// The name, for the user; empty for standard input.
    package var name: Bytes
    /// The SHA-256 of the contents, 32 bytes.
    package var digest: Bytes

    /// Creates an entry. `name` has at most `Limit.listedName` bytes and `digest` 32.
    package init(name: Bytes, digest: Bytes) {
        self.name = name
        self.digest = digest
    }
}

/// The content to be signed.
package enum SigningMatter: Equatable, Sendable {
    /// `name` is for the user, empty for standard input; `digest` is the SHA-256 of the contents.
    case file(name: Bytes, digest: Bytes)
    /// Two to `Limit.files` files, whose names have at most `Limit.listedNames` bytes in total.
    case files([FileDigest])
    /// `audience` is the relying party according to the caller.
    case challenge(audience: Audience, text: Bytes)
    /// `server` is the URL of the server whose key signs; `body` is the SHA-256 of the exact body.
    case request(server: ServerURL, method: Bytes, resource: Bytes, body: Bytes)

    /// The kind of content.
    package var use: SigningUse {
        switch self {
        case .file: .file
        case .files: .files
        case .challenge: .challenge
        case .request: .request
        }
    }

    /// The description of the content, for receipts and the journal.
    ///
    /// The caller's bytes are not escaped here. The text of fixed length comes before the text that
    /// the caller chose, so that a long name hides nothing, and only its own end is cut off.
    package var purpose: Bytes { Bytes(wholePurpose.prefix(Limit.purpose)) }

    /// Whether `purpose` is whole. A touch that could not show all of it is not asked for.
    package var isShownWhole: Bool { wholePurpose.count <= Limit.purpose }

    private var wholePurpose: Bytes {
        switch self {
        case .file(let name, let digest):
            Bytes("sign file sha256:".utf8) + Hexadecimal.encode(digest)
                + (name.isEmpty ? [] : [0x20] + name)
        case .files(let files):
            Bytes("sign \(files.count) files".utf8)
                + files.flatMap { Bytes(" sha256:".utf8) + Hexadecimal.encode($0.digest) }
                + files.flatMap { [0x20] + ($0.name.isEmpty ? Bytes("-".utf8) : $0.name) }
        case .challenge(let audience, let challenge):
            Bytes("sign challenge for ".utf8) + audience.bytes + Bytes(": ".utf8) + challenge
        case .request(let server, let method, let resource, _):
            Bytes("server ".utf8) + server.bytes + Bytes(": sign ".utf8) + method + [0x20]
                + resource
        }
    }
}

/// Requests a touch that signs a file, a challenge or an HTTP request; ends with `signed`.
///
/// For several files, it is answered by `signedFile` for each, then `done`.
package struct SignRequest: AccountRequest {
    package static let verb = Verb(34, name: "sign")
    // Not even root may, because the answer is a statement of the account wherever it is shown.
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "signet sign"

    /// The account whose finger and key are used.
    package var account: AccountName
    /// How long to wait for the touch, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// The content to be signed.
    package var matter: SigningMatter

    package var context: RequestContext { RequestContext(purpose: matter.purpose) }

    /// Creates a request; sizes are checked when it is encoded.
    package init(account: AccountName, timeoutMilliseconds: UInt32, matter: SigningMatter) {
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.matter = matter
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
        switch matter {
        case .file(let name, let digest):
            try frame.put(.use, number: matter.use.rawValue)
            try frame.put(.fileName, name)
            try frame.put(.messageDigest, digest)
        case .files(let files):
            try frame.put(.use, number: matter.use.rawValue)
            try frame.put(.fileList, try FileDigest.list(files))
        case .challenge(let audience, let text):
            try frame.put(.audience, name: audience)
            try frame.put(.use, number: matter.use.rawValue)
            try frame.put(.challengeText, text)
        case .request(let server, let method, let resource, let body):
            try frame.put(.server, name: server)
            try frame.put(.use, number: matter.use.rawValue)
            try frame.put(.messageDigest, body)
            try frame.put(.method, method)
            try frame.put(.resource, resource)
        }
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.number(.timeoutMilliseconds)
        let server: ServerURL? = try frame.nameIfPresent(.server)
        let audience: Audience? = try frame.nameIfPresent(.audience)
        let use: SigningUse = try frame.choice(.use)
        switch (use, server, audience) {
        case (.file, nil, nil):
            let name = try frame.bytes(.fileName)
            matter = .file(name: name, digest: try frame.bytes(.messageDigest))
        case (.files, nil, nil):
            matter = .files(try FileDigest.files(in: try frame.bytes(.fileList)))
        case (.challenge, nil, let audience?):
            matter = .challenge(audience: audience, text: try frame.bytes(.challengeText))
        case (.request, let server?, nil):
            let body = try frame.bytes(.messageDigest)
            let method = try frame.bytes(.method)
            matter = .request(
                server: server, method: method, resource: try frame.bytes(.resource), body: body)
        case (.file, _, _), (.files, _, _), (.challenge, _, _), (.request, _, _):
            throw .unexpectedField
        }
    }
}

extension FileDigest {
    /// Encodes files as one value: each as digest, length of the name in one byte, and name.
    fileprivate static func list(_ files: [FileDigest]) throws(WireFault) -> Bytes {
        guard areListed(files) else { throw .malformedValue }
        return files.flatMap { $0.digest + [UInt8(truncatingIfNeeded: $0.name.count)] + $0.name }
    }

    /// Decodes the value that `list` encodes.
    fileprivate static func files(in list: Bytes) throws(WireFault) -> [FileDigest] {
        var files: [FileDigest] = []
        var rest = list[...]
        while !rest.isEmpty {
            guard rest.count > 32 else { throw .malformedValue }
            let digest = Bytes(rest.prefix(32))
            let length = Int(rest[rest.startIndex + 32])
            rest = rest.dropFirst(33)
            guard rest.count >= length else { throw .malformedValue }
            files.append(FileDigest(name: Bytes(rest.prefix(length)), digest: digest))
            rest = rest.dropFirst(length)
        }
        guard areListed(files) else { throw .malformedValue }
        return files
    }

    /// Whether the number of files and the lengths of their names and digests are within the
    /// limits.
    private static func areListed(_ files: [FileDigest]) -> Bool {
        (2...Limit.files).contains(files.count)
            && files.allSatisfy { $0.digest.count == 32 && $0.name.count <= Limit.listedName }
            && files.reduce(0) { $0 + $1.name.count } <= Limit.listedNames
    }
}

/// The signature of one of several files.
package struct SignedFileAnswer: DaemonAnswer {
    package static let kind = AnswerKind(149, name: "signedFile")
    package static let meaning = AnswerMeaning.release

    /// The SHA-256 of the file.
    package var digest: Bytes  // .messageDigest
    /// The SSHSIG blob.
    package var signature: Bytes
}

/// The result of a touch that signs one content.
package struct SignedAnswer: FrameContent {
    /// The canonical text, if the daemon composed it; nil for a file.
    package var statement: Bytes? = nil
    /// The signature, as an SSHSIG blob.
    package var signature: Bytes
}

/// Makes the account's signing key, after a touch; ends with `signingKey`.
package struct SigningEnableRequest: AccountRequest {
    package static let verb = Verb(35, name: "signingEnable")
    package static let rule = VerbRule(
        .rootOrAccount, proof: .password, touch: .confirming(.keySignature))
    package static let command = "signet enable"
    package static let loggedCommand = "signet enable --signing"

    package let account: AccountName
}

/// Destroys the account's signing key.
package struct SigningDisableRequest: AccountRequest {
    package static let verb = Verb(36, name: "signingDisable")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)
    package static let readsPrints = false

    package let account: AccountName
}

/// Reports the account's signing key, as `signingKey`.
package struct SigningKeyRequest: AccountRequest {
    package static let verb = Verb(37, name: "signingKey")
    package static let rule = VerbRule(.rootOrAccount)

    package let account: AccountName
}

/// The account's signing key, without its private key.
package struct SigningKeyAnswer: FrameContent {
    /// When it was made, in seconds since 1970.
    package var since: UInt64
    /// The state of the key; never `removing`.
    package var state: ServerKeyState
    /// The vault that opens the key.
    package var vault: Bytes
    /// The credential's id.
    package var credential: CredentialID
    /// The public key.
    package var publicKey: PublicKeyPoint
}

extension Request {
    package static func sign(_ request: SignRequest) -> Request { Request(request) }
}

extension Field {
    package static var use: Field { Field(100, size: 1) }
    package static var fileName: Field { Field(101, size: 0...Limit.fileName) }
    package static var challengeText: Field { Field(103, size: 1...Limit.challengeText) }
    package static var credential: Field { Field(106, size: 16) }
    package static var fileList: Field {
        Field(132, size: 66...(Limit.files * 33 + Limit.listedNames))
    }
}
