// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Crypto
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

/// `signet sign`: signs files, a challenge or an HTTP request with a touch.
///
/// A signature of the daemon is verified here before it is written or printed.
struct SignCommand: Command {
    static let description = CommandDescription(
        "sign", CommandHelp.sign,
        operands: ("FILE… | --challenge TEXT | --request METHOD URL | --public-key", .max),
        options: [
            .account, TakenOption(.challenge, CommandHelp.challenge),
            TakenOption(.audience, CommandHelp.audience),
            TakenOption(.request, CommandHelp.request), TakenOption(.body, CommandHelp.body),
            TakenOption(.server, CommandHelp.serverSign),
            TakenOption(.publicKey, CommandHelp.publicKey),
            TakenOption(.force, CommandHelp.forceSign),
        ])

    let run: Invocation

    /// How long to wait for a touch, in milliseconds.
    static let patience: UInt32 = 30_000

    /// `signet sign`: signs files, a challenge or an HTTP request, or shows the public key.
    func perform() throws(CommandFault) {
        let kinds = [Option.challenge, .request, .publicKey].filter(run.arguments.has)
        let count = run.arguments.operands.count
        let isOne =
            switch kinds {
            case []: count > 0
            case [.request]: count == 1
            default: kinds.count == 1 && count == 0
            }
        guard isOne || kinds != [.request] else { throw .usage(CommandSigning.chooseURL) }
        guard isOne else { throw .usage(CommandSigning.choose) }
        for (option, kind) in [
            (Option.audience, Option.challenge), (.body, .request), (.server, .request),
        ] where run.arguments.has(option) && kinds != [kind] {
            throw .usage(CommandText.needs(option.name.bytes, kind.name.bytes))
        }
        if let kind = kinds.first { try ServerRequests(run: run).exclude([.force], beside: kind) }
        switch kinds.first {
        case .challenge: try signChallenge()
        case .request: try signRequest()
        case .publicKey: try SigningKeyRequests(run: run).showSigningKey()
        default: try signFiles()
        }
    }

    /// `signet sign --challenge TEXT --audience NAME`
    private func signChallenge() throws(CommandFault) {
        let challenge = try value(.challenge, most: Limit.challengeText)
        guard run.arguments.has(.audience) else {
            throw .usage(
                CommandText.needs(Option.challenge.name.bytes, Option.audience.name.bytes))
        }
        let audience = try value(.audience, most: Limit.label)
        let account = try run.account()
        let signed = try sign(
            .challenge(audience: audience, text: challenge), account,
            { CommandSigning.challenge($0, audience, challenge) })
        guard let text = signed.statement,
            let statement = try? ChallengeStatement(parsing: text),
            statement.challenge == challenge, statement.head.audience == audience
        else { throw .fault(CommandText.unexpected) }
        try checkSignature(signed.signature, of: try digest(of: text), in: .challenge)
        let armoured = Armour.wrap(signed.signature)
        if run.isJSON {
            return run.surroundings.say(
                .document(
                    "challenge-signed",
                    [
                        ("account", .bytes(account)), ("audience", .bytes(audience)),
                        ("statement", .bytes(text)), ("signature", .bytes(armoured)),
                    ]))
        }
        try release(text + armoured)
    }

    /// Returns the SHA-256 of the body file named by `--body`, or of an empty body.
    func bodyDigest() throws(CommandFault) -> Bytes {
        guard let body = run.arguments.value(.body) else { return try digest(of: []) }
        return try SignedFile(body).digest(in: run.surroundings)
    }

    /// `signet sign --request METHOD URL`
    private func signRequest() throws(CommandFault) {
        let method = (run.arguments.value(.request) ?? "").bytes
        let url = run.arguments.operands[0]
        guard RequestLines.isMethod(method) else {
            throw .usage(CommandSigning.badMethod(method))
        }
        guard let resource = RequestTarget.resource(of: url) else {
            throw .usage(CommandSigning.badTarget(url.bytes))
        }
        let account = try run.account()
        let server = try signingServer(account)
        let digest = try bodyDigest()
        let signed = try sign(
            .request(server: server, method: method, resource: resource, body: digest), account,
            { CommandSigning.request($0, method, url.bytes, server) })
        guard let text = signed.statement, let statement = try? RequestStatement(parsing: text),
            statement.request.method == method, statement.request.resource == resource,
            statement.request.body == digest
        else { throw .fault(CommandText.unexpected) }
        try checkSignature(signed.signature, of: try self.digest(of: text), in: .request)
        let authorization = SignetAuthorization(statement: text, signature: signed.signature)
        guard let header = authorization.header else { throw .refused(CommandSigning.tooLong) }
        if run.isJSON {
            return run.surroundings.say(
                .document(
                    "request-signed",
                    [
                        ("account", .bytes(account)), ("server", .bytes(server)),
                        ("method", .bytes(method)), ("resource", .bytes(resource)),
                        ("authorization", .bytes(header)),
                    ]))
        }
        try release(Bytes("Authorization: ".utf8) + header + [10])
    }

    /// Returns the server whose key signs a request: the one named, or the only one registered.
    private func signingServer(_ account: Bytes) throws(CommandFault) -> Bytes {
        if run.arguments.has(.server) {
            return try ServerRequests(run: run).server(run.arguments.value(.server))
        }
        let known = try ServerRequests(run: run).servers(of: account)
        let good = known.filter { $0.state == .good }
        guard good.count <= 1 else { throw .usage(CommandSigning.whichServer) }
        guard let server = good.first ?? known.first else {
            throw .refused(CommandServers.none(account))
        }
        return server.server
    }
}

extension SignCommand {
    func sign(
        _ matter: SigningMatter, _ account: Bytes, _ purpose: (Text) -> Text
    ) throws(CommandFault) -> SignedAnswer {
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
            let key = try? P256PublicKey(point: signature.publicKey.point)
        else { throw .fault(CommandText.unexpected) }
        let data = SSHSignature.signedData(namespace: namespace.bytes, messageDigest: digest)
        guard (try? key.verifies(numbers, message: data)) == true else {
            throw .fault(CommandText.unexpected)
        }
    }

    func digest(of text: Bytes) throws(CommandFault) -> Bytes {
        do throws(CryptoFault) {
            return try SHA256.digest(text)
        } catch { throw .fault(CommandText.failed("\(error)".bytes)) }
    }

    private func value(_ option: Option, most: Int) throws(CommandFault) -> Bytes {
        let value = (run.arguments.value(option) ?? "").bytes
        guard (1...most).contains(value.count) else {
            throw .usage(
                CommandSigning.badLength(option.name.bytes, most: UInt32(clamping: most)))
        }
        return value
    }

    func release(_ bytes: Bytes) throws(CommandFault) {
        guard run.surroundings.release(bytes) else { throw .fault(CommandSigning.unwritten) }
    }
}
