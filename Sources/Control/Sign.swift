import Crypto
import Posix
import Statement
import Texts
import Wire

extension Invocation {
    /// How long a touch is awaited, in milliseconds.
    private static let patience: UInt32 = 30_000

    /// `signet sign`: files, a challenge, or a request.
    func sign() throws(CommandFault) {
        let kinds = [Option.challenge, .request, .publicKey].filter(arguments.has)
        let count = arguments.operands.count
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
        ] where arguments.has(option) && kinds != [kind] {
            throw .usage(CommandText.needs(option.name.bytes, kind.name.bytes))
        }
        if let kind = kinds.first { try exclude([.force], beside: kind) }
        switch kinds.first {
        case .challenge: try signChallenge()
        case .request: try signRequest()
        case .publicKey: try showSigningKey()
        default: try signFiles()
        }
    }

    /// `signet sign FILE…`: each has its own touch, and its signature beside it.
    private func signFiles() throws(CommandFault) {
        let account = try account()
        let files = arguments.operands.map(SignedFile.init)
        guard files.count(where: \.isInput) <= 1 else { throw .usage(CommandSigning.inputTwice) }
        // Before anybody touches for nothing.
        for file in files where !file.isInput {
            try file.checkReadable()
            if !arguments.has(.force), exists(file.signature) {
                throw .refused(CommandSigning.exists(file.signature.bytes))
            }
        }
        for file in files { try sign(file, account) }
    }

    private func sign(_ file: SignedFile, _ account: Bytes) throws(CommandFault) {
        let digest = try file.digest(in: surroundings)
        let start = Hexadecimal.encode(Bytes(digest.prefix(8)))
        let name = file.isInput ? [] : Bytes(file.path.utf8.suffix(Limit.fileName))
        let signed = try sign(
            .file(name: name, digest: digest), account,
            file.isInput
                ? { CommandSigning.input($0, digest: start) }
                : { CommandSigning.file($0, file.path.bytes, digest: start) })
        try checkSignature(signed, of: digest, in: .file)
        let armoured = Armour.wrap(signed.signature)
        if file.isInput {
            guard !isJSON else { return sayFile(file, digest, armoured, account) }
            return try release(armoured)
        }
        do throws(SystemFault) {
            if arguments.has(.force) {
                try replaceFile(file.signature, armoured)
            } else {
                try createFile(file.signature, armoured)
            }
        } catch { throw .system(error) }
        sayFile(file, digest, armoured, account)
    }

    private func sayFile(
        _ file: SignedFile, _ digest: Bytes, _ armoured: Bytes, _ account: Bytes
    ) {
        say(
            .document(
                "file-signed",
                [
                    ("account", .bytes(account)),
                    ("file", file.isInput ? .null : .string(file.path)),
                    ("signatureFile", file.isInput ? .null : .string(file.signature)),
                    ("sha256", .bytes(Hexadecimal.encode(digest))),
                    ("signature", .bytes(armoured)),
                ]),
            [CommandSigning.signed(file.path.bytes, file.signature.bytes)])
    }

    /// `signet sign --challenge TEXT --audience NAME`
    private func signChallenge() throws(CommandFault) {
        let challenge = try value(.challenge, most: Limit.challengeText)
        guard arguments.has(.audience) else {
            throw .usage(
                CommandText.needs(Option.challenge.name.bytes, Option.audience.name.bytes))
        }
        let audience = try value(.audience, most: Limit.label)
        let account = try account()
        let signed = try sign(
            .challenge(audience: audience, text: challenge), account,
            { CommandSigning.challenge($0, audience, challenge) })
        guard let text = signed.statement,
            let statement = try? ChallengeStatement(parsing: text),
            statement.challenge == challenge, statement.head.audience == audience
        else { throw .fault(CommandText.unexpected) }
        try checkSignature(signed, of: try digest(of: text), in: .challenge)
        let armoured = Armour.wrap(signed.signature)
        if isJSON {
            return surroundings.say(
                .document(
                    "challenge-signed",
                    [
                        ("account", .bytes(account)), ("audience", .bytes(audience)),
                        ("statement", .bytes(text)), ("signature", .bytes(armoured)),
                    ]))
        }
        try release(text + armoured)
    }

    /// SHA-256 of the body that was named, or of nothing.
    func bodyDigest() throws(CommandFault) -> Bytes {
        guard let body = arguments.value(.body) else { return try digest(of: []) }
        return try SignedFile(body).digest(in: surroundings)
    }

    /// `signet sign --request METHOD URL`
    private func signRequest() throws(CommandFault) {
        let method = (arguments.value(.request) ?? "").bytes
        let url = arguments.operands[0]
        guard RequestLines.isMethod(method) else {
            throw .usage(CommandSigning.badMethod(method))
        }
        guard let resource = RequestTarget.resource(of: url) else {
            throw .usage(CommandSigning.badTarget(url.bytes))
        }
        let account = try account()
        let server = try signingServer(account)
        let digest = try bodyDigest()
        let signed = try sign(
            .request(server: server, method: method, resource: resource, body: digest), account,
            { CommandSigning.request($0, method, url.bytes, server) })
        guard let text = signed.statement, let statement = try? RequestStatement(parsing: text),
            statement.request.method == method, statement.request.resource == resource,
            statement.request.body == digest
        else { throw .fault(CommandText.unexpected) }
        try checkSignature(signed, of: try self.digest(of: text), in: .request)
        let authorization = SignetAuthorization(statement: text, signature: signed.signature)
        guard let header = authorization.header else { throw .refused(CommandSigning.tooLong) }
        if isJSON {
            return surroundings.say(
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

    /// Whose key signs a request: the server that was named, or the only one there is.
    private func signingServer(_ account: Bytes) throws(CommandFault) -> Bytes {
        if arguments.has(.server) { return try server(arguments.value(.server)) }
        let known = try servers(of: account)
        let good = known.filter { $0.state == .good }
        guard good.count <= 1 else { throw .usage(CommandSigning.whichServer) }
        guard let server = good.first ?? known.first else {
            throw .refused(CommandServers.none(account))
        }
        return server.server
    }
}

extension Invocation {
    private func sign(
        _ matter: SigningMatter, _ account: Bytes, _ purpose: (Text) -> Text
    ) throws(CommandFault) -> SignedAnswer {
        let request = SignRequest(
            account: account, timeoutMilliseconds: Self.patience, matter)
        return try ask(.sign(request), awaitsServer: false, purpose: purpose) { answer in
            if case .signed(let signed) = answer { signed } else { nil }
        }
    }

    /// Throws unless what the service gave is a signature over just this: nothing else is handed on.
    private func checkSignature(
        _ signed: SignedAnswer, of digest: Bytes, in namespace: SignatureNamespace
    ) throws(CommandFault) {
        guard let signature = try? SSHSignature(blob: signed.signature),
            signature.namespace == namespace.bytes,
            let numbers = P256Signature(r: signature.r, s: signature.s),
            let key = try? P256PublicKey(point: signature.publicKey.point)
        else { throw .fault(CommandText.unexpected) }
        let data = SSHSignature.signedData(namespace: namespace.bytes, messageDigest: digest)
        guard (try? key.verifies(numbers, message: data)) == true else {
            throw .fault(CommandText.unexpected)
        }
    }

    private func digest(of text: Bytes) throws(CommandFault) -> Bytes {
        do throws(CryptoFault) {
            return try SHA256.digest(text)
        } catch { throw .fault(CommandText.failed("\(error)".bytes)) }
    }

    private func value(_ option: Option, most: Int) throws(CommandFault) -> Bytes {
        let value = (arguments.value(option) ?? "").bytes
        guard (1...most).contains(value.count) else {
            throw .usage(
                CommandSigning.badLength(option.name.bytes, most: UInt32(clamping: most)))
        }
        return value
    }

    private func release(_ bytes: Bytes) throws(CommandFault) {
        guard surroundings.release(bytes) else { throw .fault(CommandSigning.unwritten) }
    }
}

/// A file that is to be signed, or standard input.
private struct SignedFile {
    let path: String

    init(_ path: String) { self.path = path }

    var isInput: Bool { path == "-" }
    /// Where its signature goes.
    var signature: String { path + ".sig" }

    /// SHA-256 of its bytes, read piece by piece.
    func digest(in surroundings: Surroundings) throws(CommandFault) -> Bytes {
        if isInput { return try digest(of: surroundings.input, surroundings.interrupts) }
        let file: Descriptor
        do throws(SystemFault) { file = try openFile(path) } catch {
            throw .refused(CommandSigning.noFile(path.bytes, error.description.bytes))
        }
        return try digest(of: file.number, surroundings.interrupts)
    }

    /// Throws where it cannot be read.
    func checkReadable() throws(CommandFault) {
        do throws(SystemFault) { try Posix.checkReadable(path) } catch {
            throw .refused(CommandSigning.noFile(path.bytes, error.description.bytes))
        }
    }

    private static let piece = 256 * 1_024

    private func digest(of number: Int32, _ interrupts: Int32) throws(CommandFault) -> Bytes {
        do {
            var context = try SHA256Context()
            var piece = Bytes()
            repeat {
                piece.removeAll(keepingCapacity: true)
                guard wait(for: number, or: interrupts, until: nil) != .interrupted else {
                    throw CommandFault.interrupted
                }
                guard let count = try readSome(from: number, into: &piece, count: Self.piece)
                else { continue }
                if count == 0 { break }
                try context.update(piece)
            } while true
            return try context.finish()
        } catch let fault as CommandFault {
            throw fault
        } catch let fault as SystemFault {
            throw .refused(CommandSigning.noFile(path.bytes, fault.description.bytes))
        } catch { throw .fault(CommandText.failed("\(error)".bytes)) }
    }
}
