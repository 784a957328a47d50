// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Crypto
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

/// Commands about the key with which an account signs files and challenges.
struct SigningKeyRequests {
    let run: Invocation

    /// `signet enable --signing`
    func enableSigning() throws(CommandFault) {
        let account = try run.account()
        let key = try ServerRequests(run: run).ask(
            .signingEnable(account: account), awaitsServer: false,
            purpose: { SigningKeyMessages.enabling($0) }
        ) { answer in
            if case .signingKey(let key) = answer { key } else { nil }
        }
        let lines = try PublicLines(key, account: account)
        run.say(
            lines.document,
            [SigningKeyMessages.enabled(account), Text(escaping: lines.key)])
    }

    /// `signet disable --signing`
    func disableSigning() throws(CommandFault) {
        let account = try run.account()
        _ = try run.follow(.signingDisable(account: account), awaitsTouch: false)
        run.say(
            .document("signing-disabled", members: [("account", .bytes(account.bytes))]),
            [SigningKeyMessages.disabled(account)])
    }

    /// `signet sign --public-key`
    func showSigningKey() throws(CommandFault) {
        let account = try run.account()
        let key = try signingKey(of: account)
        guard key.state == .good else {
            throw .denied(Denial(.signingKeyInvalidated), account: account)
        }
        let lines = try PublicLines(key, account: account)
        run.say(lines.document, [Text(escaping: lines.key), Text(escaping: lines.signer)])
    }

    /// Requests the account's signing key.
    func signingKey(of account: AccountName) throws(CommandFault) -> SigningKeyAnswer {
        var key: SigningKeyAnswer?
        try run.exchange(.signingKey(account: account)).run { (answer) throws(CommandFault) in
            guard case .signingKey(let found) = answer else {
                throw .fault(CommonMessages.unexpected)
            }
            key = found
            return .finished
        }
        guard let key else { throw .fault(CommonMessages.unexpected) }
        return key
    }
}

/// A public key as lines for a key file and for ssh-keygen(1).
struct PublicLines {
    /// `ecdsa-sha2-nistp256 AAAA… signet:ACCOUNT:CREDENTIAL`, without a line end.
    let key: Bytes
    /// A line for an `allowed_signers` file, without a line end.
    let signer: Bytes
    private let answer: SigningKeyAnswer
    private let account: AccountName
    private let fingerprint: Bytes

    init(_ answer: SigningKeyAnswer, account: AccountName) throws(CommandFault) {
        guard let point = SSHPublicKey(answer.publicKey) else {
            throw .fault(CommonMessages.malformed)
        }
        do throws(CryptoFault) {
            fingerprint =
                Bytes("SHA256:".utf8)
                + Base64.encode(try SHA256.digest(point.blob), alphabet: .standard)
                .filter { $0 != UInt8(ascii: "=") }
        } catch { throw .fault(CommonMessages.failed("\(error)".bytes)) }
        let comment =
            Bytes("signet:".utf8) + PercentEncoding.encode(account.bytes) + Bytes(":".utf8)
            + answer.credential.hexadecimal
        key = point.line(comment: comment).dropLast()
        let namespaces = [SignatureNamespace.file.bytes, SignatureNamespace.challenge.bytes]
        signer =
            RegisteredSigner.principal(account) + Bytes(" namespaces=\"".utf8)
            + namespaces.joined(separator: [0x2C]) + Bytes("\" ".utf8) + key
        self.answer = answer
        self.account = account
    }

    /// The JSON document.
    var document: JSON {
        .document(
            "signing-key",
            members: [
                ("account", .bytes(account.bytes)), ("publicKey", .bytes(key)),
                ("allowedSigners", .bytes(signer)), ("fingerprint", .bytes(fingerprint)),
                ("since", JSON.instant(answer.since)), ("vault", .bytes(answer.vault)),
            ])
    }
}

extension SigningKeyAnswer {
    /// The key's state in JSON.
    var status: JSON {
        .object([
            ("state", .string(state.word)), ("since", JSON.instant(since)),
            ("vault", .bytes(vault)), ("credential", .bytes(credential.hexadecimal)),
        ])
    }
}

/// Messages about the signing key.
enum SigningKeyMessages {
    /// The signing key was created.
    static func enabled(_ account: AccountName) -> Text {
        """
        \(account) has a signing key: 'signet sign' signs files and challenges with a touch. This \
        is its public key:
        """
    }

    /// The signing key was removed.
    static func disabled(_ account: AccountName) -> Text {
        "the signing key of \(account) was destroyed. Existing signatures remain valid"
    }

    /// What the touch is for; here and below, `action` is as in `Prompt.action`.
    static func enabling(_ action: Text) -> Text {
        "\(action) to create a key that signs files and challenges"
    }
}
