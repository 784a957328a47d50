// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol
import ModuleOptions
import SignedFormats

/// The other half of a login that a server has to say yes to: what is asked for, and what is believed.
final class ServerLogin {
    private let server: LoginServer

    private init(_ server: LoginServer) {
        self.server = server
    }

    /// What the stack's line says of a server for an account; nil where the account logs in without.
    static func look(
        _ path: Bytes, for account: Bytes, _ application: Application
    ) throws(LoginFailure) -> ServerLogin? {
        guard !path.isEmpty else { return nil }
        let server = try parse(try contents(of: path), path)
        for name in server.accounts {
            if try isMeant(account, by: name, application) { return ServerLogin(server) }
        }
        return server.accounts.isEmpty ? ServerLogin(server) : nil
    }

    /// The file, which only root can have written.
    private static func contents(of path: Bytes) throws(LoginFailure) -> Bytes {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { throw .badServer(path, 0) }
        do throws(TrustedPath.Fault) {
            return try TrustedPath.contents(
                of: Bytes(path[(slash + 1)...]),
                in: try TrustedPath.directory(Bytes(path[..<slash])),
                cap: LoginServer.maximumLength)
        } catch {
            switch error {
            case .untrusted: throw .refused("the server's file is not to be trusted")
            case .absent, .failed: throw .badServer(path, 0)
            }
        }
    }

    private static func parse(_ text: Bytes, _ path: Bytes) throws(LoginFailure) -> LoginServer {
        do throws(LoginServer.Fault) {
            return try LoginServer(parsing: text)
        } catch {
            switch error {
            case .line(let line): throw .badServer(path, UInt32(clamping: line))
            case .tooLong, .missing: throw .badServer(path, 0)
            }
        }
    }

    /// Whether a name of the file means an account: its own, or that of a group with an `@` in front.
    ///
    /// A group that cannot be looked up may have the account in it: then nobody is let in.
    private static func isMeant(
        _ account: Bytes, by name: Bytes, _ application: Application
    ) throws(LoginFailure) -> Bool {
        guard name.first == UInt8(ascii: "@") else { return name == account }
        guard let isMember = application.isMember(account, of: Bytes(name.dropFirst())) else {
            throw .refused("a group that the server's file names cannot be looked up")
        }
        return isMember
    }

    /// What the daemon is asked for.
    var wish: ServerLoginRequest {
        ServerLoginRequest(
            url: server.url, audience: server.audience, key: server.key.point,
            offlineHours: server.offlineHours, token: server.token)
    }

    /// What the local statement has to say of it.
    var expectation: ServerExpectation {
        ServerExpectation(
            url: server.url, mayBeOffline: server.offlineHours > 0, mayDiffer: server.mayDiffer)
    }

    /// The pinned key, ready to check with.
    func verifier() -> Verifier? { Verifier.open(server.key) }

    /// Succeeds only if the server has let in whom a statement is about, which was found good before.
    func check(
        _ proof: ServerProof?, for statement: Statement, of account: Bytes, _ challenge: Bytes,
        _ verifier: consuming Verifier?
    ) throws(LoginFailure) {
        guard let verifier else {
            throw .unavailable("the server's key cannot be used", shown: Prompt.silent)
        }
        guard let proof else { throw .refused("no verdict of the server came") }
        guard let verdict = try? Verdict(parsing: proof.verdict) else {
            throw .refused("the server's verdict is malformed")
        }
        try checkSignature(proof, verifier)
        let expected = VerdictExpectation(
            audience: server.audience, local: account, challenge: challenge,
            offlineSeconds: UInt64(server.offlineHours) * 3_600)
        guard expected.mismatch(with: verdict, for: statement, at: WallClock.now) == nil else {
            throw .refused("the server's verdict does not let this login in")
        }
    }

    private func checkSignature(
        _ proof: ServerProof, _ verifier: borrowing Verifier
    ) throws(LoginFailure) {
        guard let signature = try? SSHSignature(blob: proof.signature) else {
            throw .refused("the verdict's signature is malformed")
        }
        guard signature.publicKey == server.key else {
            throw .refused("the verdict is by another key than the server's")
        }
        guard signature.namespace == SignatureNamespace.verdict.bytes else {
            throw .refused("the verdict's signature is for another use")
        }
        guard verifier.verifies(signature, of: proof.verdict) else {
            throw .refused("the verdict's signature does not verify")
        }
    }

    /// Hands the token on as the file says, where one came: after everything was found good.
    func handOn(_ proof: ServerProof?, uid: UInt32, _ application: Application) throws(LoginFailure)
    {
        guard let proof, let delivery = server.token else { return }
        switch delivery {
        case .answer:
            // sudo passes the variables on to a command that may run as anybody.
            guard let token = proof.accessToken, !application.isSudo else { return }
            // Whoever reads the environment takes it for one line of plain characters.
            for byte in token where byte <= 0x20 || byte >= 0x7F {
                throw .refused("the server's token has control characters")
            }
            try application.setVariable(StaticString("SIGNET_TOKEN=").bytes + token)
        case .file:
            guard proof.hasTokenFile else { return }
            try application.setVariable(
                StaticString("SIGNET_TOKEN_FILE=/run/signet/tokens/").bytes
                    + Decimal.encode(UInt64(uid)))
        }
    }
}

/// The time of day, which only root can set.
enum WallClock {
    /// Seconds since 1970; 0 before.
    static var now: UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(clamping: time.tv_sec)
    }
}
