// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Crypto
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

/// `signet sign`: signs files, a challenge or an HTTP request with a touch.
///
/// A signature of the daemon is verified here before it is written or printed.
struct SignCommand: Command {
    static let helpPosition = 160
    static let syntax = CommandSyntax(
        "sign", summary: "sign files, a challenge or an HTTP request with a touch",
        forms: [
            FormSyntax(
                operands: [OperandSyntax(ValueSyntax("FILE", kind: .file), count: 1...Int.max)],
                options: [.force(summary: "replace an existing signature")]),
            FormSyntax(.challenge, .audience),
            FormSyntax(
                .request, operands: [OperandSyntax(.url)],
                options: [
                    .body, .server(summary: "use the key for this server, if there are several"),
                ], misuse: SignMessages.chooseURL),
            FormSyntax(.publicKey),
        ], options: [.account, .json], misuse: SignMessages.choose)

    let run: Invocation

    /// How long to wait for a touch, in milliseconds.
    static let patience: UInt32 = 30_000

    /// `signet sign`: signs files, a challenge or an HTTP request, or shows the public key.
    func perform() throws(CommandFault) {
        if run.arguments.has(.challenge) { return try signChallenge() }
        if run.arguments.has(.request) { return try signRequest() }
        if run.arguments.has(.publicKey) {
            return try SigningKeyRequests(run: run).showSigningKey()
        }
        try signFiles()
    }

    /// `signet sign --challenge TEXT --audience NAME`
    private func signChallenge() throws(CommandFault) {
        let challenge = try value(.challenge, most: Limit.challengeText)
        let audience = Audience(try value(.audience, most: Limit.label))
        let account = try run.account()
        let signed = try sign(
            .challenge(audience: audience, text: challenge), account: account,
            { SignMessages.challenge($0, audience: audience, challenge: challenge) })
        guard let text = signed.statement,
            let statement = try? ChallengeStatement(parsing: text),
            statement.challenge == challenge, statement.head.audience == audience
        else { throw .fault(CommonMessages.unexpected) }
        try checkSignature(signed.signature, of: try digest(of: text), in: .challenge)
        let armoured = Armour.wrap(signed.signature)
        if run.isJSON {
            return run.environment.say(
                .document(
                    "challenge-signed",
                    members: [
                        ("account", .bytes(account.bytes)), ("audience", .bytes(audience.bytes)),
                        ("statement", .bytes(text)), ("signature", .bytes(armoured)),
                    ]))
        }
        try release(text + armoured)
    }

    /// Returns the SHA-256 of the body file named by `--body`, or of an empty body.
    func bodyDigest() throws(CommandFault) -> Bytes {
        guard let body = run.arguments.value(.body) else { return try digest(of: []) }
        return try SignedFile(body).digest(in: run.environment)
    }

    /// `signet sign --request METHOD URL`
    private func signRequest() throws(CommandFault) {
        let method = (run.arguments.value(.request) ?? "").bytes
        let url = run.arguments.operands.first ?? ""
        guard RequestLines.isMethod(method) else {
            throw .usage(RequestTargetMessages.badMethod(method))
        }
        guard let resource = RequestTarget.resource(of: url) else {
            throw .usage(RequestTargetMessages.badTarget(url.bytes))
        }
        let account = try run.account()
        let server = try signingServer(account)
        let digest = try bodyDigest()
        let signed = try sign(
            .request(server: server, method: method, resource: resource, body: digest),
            account: account,
            { SignMessages.request($0, method: method, url: url.bytes, server: server) })
        guard let text = signed.statement, let statement = try? RequestStatement(parsing: text),
            statement.request.method == method, statement.request.resource == resource,
            statement.request.body == digest
        else { throw .fault(CommonMessages.unexpected) }
        try checkSignature(signed.signature, of: try self.digest(of: text), in: .request)
        let authorization = SignetAuthorization(statement: text, signature: signed.signature)
        guard let header = authorization.header else { throw .refused(SignMessages.tooLong) }
        if run.isJSON {
            return run.environment.say(
                .document(
                    "request-signed",
                    members: [
                        ("account", .bytes(account.bytes)), ("server", .bytes(server.bytes)),
                        ("method", .bytes(method)), ("resource", .bytes(resource)),
                        ("authorization", .bytes(header)),
                    ]))
        }
        try release(Bytes("Authorization: ".utf8) + header + [10])
    }

    /// Returns the server whose key signs a request: the one named, or the only one registered.
    private func signingServer(_ account: AccountName) throws(CommandFault) -> ServerURL {
        if run.arguments.has(.server) {
            return try ServerRequests(run: run).server(run.arguments.value(.server))
        }
        let known = try ServerRequests(run: run).servers(of: account)
        let good = known.filter { $0.state == .good }
        guard good.count <= 1 else { throw .usage(SignMessages.whichServer) }
        guard let server = good.first ?? known.first else {
            throw .refused(ServerMessages.none(account))
        }
        return server.server
    }
}

extension SignCommand {
    func sign(
        _ matter: SigningMatter, account: AccountName, _ purpose: (Text) -> Text
    ) throws(CommandFault) -> SignedAnswer {
        guard matter.isShownWhole else { throw .refused(SignMessages.notShown) }
        let request = SignRequest(
            account: account, timeoutMilliseconds: Self.patience, matter: matter)
        return try ServerRequests(run: run).ask(
            .sign(request), awaitsServer: false, purpose: purpose
        ) { answer in
            if case .signed(let signed) = answer { signed } else { nil }
        }
    }

    /// Throws unless the daemon's answer is a valid signature over exactly this digest.
    ///
    /// Nothing else is written or printed.
    func checkSignature(
        _ blob: Bytes, of digest: Bytes, in namespace: SignatureNamespace
    ) throws(CommandFault) {
        guard let signature = try? SSHSignature(blob: blob),
            signature.namespace == namespace.bytes,
            let numbers = P256Signature(r: signature.r, s: signature.s),
            let key = try? P256PublicKey(point: signature.publicKey.point.bytes)
        else { throw .fault(CommonMessages.unexpected) }
        let data = SSHSignature.signedData(namespace: namespace.bytes, messageDigest: digest)
        guard (try? key.verifies(numbers, message: data)) == true else {
            throw .fault(CommonMessages.unexpected)
        }
    }

    func digest(of text: Bytes) throws(CommandFault) -> Bytes {
        do throws(CryptoFault) {
            return try SHA256.digest(text)
        } catch { throw .fault(CommonMessages.failed("\(error)".bytes)) }
    }

    private func value(_ option: OptionSyntax, most: Int) throws(CommandFault) -> Bytes {
        let value = (run.arguments.value(option) ?? "").bytes
        guard (1...most).contains(value.count) else {
            throw .usage(
                SignMessages.badLength(option.long.bytes, most: UInt32(clamping: most)))
        }
        return value
    }

    func release(_ bytes: Bytes) throws(CommandFault) {
        guard run.environment.release(bytes) else { throw .fault(SignMessages.unwritten) }
    }
}

extension OptionSyntax {
    fileprivate static let challenge = OptionSyntax(
        "challenge", ValueSyntax("TEXT"),
        summary: "sign this text, chosen by a party that asks for proof")
    fileprivate static let audience = OptionSyntax(
        "audience", ValueSyntax("NAME"), summary: "the party that asks, with --challenge")
    fileprivate static let request = OptionSyntax(
        "request", .method, summary: "print the header for a request with this method")
    fileprivate static let publicKey = OptionSyntax(
        "public-key", summary: "print the public key, and a line for allowed_signers")
}

/// Messages of `signet sign`.
enum SignMessages {
    /// What the touch is for.
    static func challenge(
        _ action: Text, audience: Audience, challenge: Bytes
    ) -> Text {
        "\(action) to answer the challenge of \(audience): \(challenge)"
    }

    /// What the touch is for: method, URL, and the server that verifies it.
    static func request(
        _ action: Text, method: Bytes, url: Bytes, server: ServerURL
    ) -> Text {
        "\(action) to sign the request \(method) \(url), with the key for \(server)"
    }

    /// The signature could not be passed on.
    static let unwritten: Text = "the signature could not be written to standard output"
    /// No file was named, or two kinds of input at once.
    static let choose: Text =
        "sign needs files, or one of --challenge, --request and --public-key"

    /// A request takes exactly one URL.
    static let chooseURL: Text =
        "--request needs one URL and no file: 'signet sign --request METHOD URL'"

    /// A value is too long or empty.
    static func badLength(_ option: Bytes, most: UInt32) -> Text {
        "\(option) takes 1 to \(number: most) bytes"
    }

    /// It is unclear which key must sign.
    static let whichServer: Text =
        "this device is registered at several servers. Choose one with '--server URL'"

    /// What is to be signed does not fit where the touch is asked for.
    static let notShown: Text =
        "what is to be signed is too long to be shown whole. Shorten the name, the text or the URL"

    /// The header would be too long.
    static let tooLong: Text =
        "the header of the request would be too long. Shorten the names and the URL"
}
