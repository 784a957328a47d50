// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import Domain
import LoginMessages
import LoginProtocol
import ModuleOptions
import SignedFormats

/// The server's part of a login: what the daemon must ask the server for, and what is believed.
///
/// A stack's line with `server=` names a file that only root can write. For the accounts that it
/// names (all, if it names none), a touch alone does not suffice: the server must also have
/// approved this login with a verdict, signed by the key that the file pins. Every doubt about the
/// file ends in `.badServer` or `.refused`, never in a login without the server.
final class ServerLogin {
    private let server: LoginServer

    private init(_ server: LoginServer) {
        self.server = server
    }

    /// Returns the server that an account must log in with; nil if the line or file names none for
    /// it.
    static func look(
        _ path: Bytes, for account: SystemAccount, application: Application
    ) throws(LoginFailure) -> ServerLogin? {
        guard !path.isEmpty else { return nil }
        let server = try parse(try contents(of: path), path: path)
        for name in server.accounts {
            if try isMeant(account, by: name, application: application) {
                return ServerLogin(server)
            }
        }
        return server.accounts.isEmpty ? ServerLogin(server) : nil
    }

    /// Reads the file, which only root can have written.
    private static func contents(of path: Bytes) throws(LoginFailure) -> Bytes {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { throw .badServer(path, 0) }
        do throws(TrustedPath.Fault) {
            return try TrustedPath.contents(
                of: Bytes(path[(slash + 1)...]),
                in: try TrustedPath.directory(Bytes(path[..<slash])),
                cap: LoginServer.maximumLength)
        } catch {
            switch error {
            case .untrusted: throw .refused("the server file is not trusted")
            case .absent, .failed: throw .badServer(path, 0)
            }
        }
    }

    private static func parse(_ text: Bytes, path: Bytes) throws(LoginFailure) -> LoginServer {
        do throws(LoginServer.Fault) {
            return try LoginServer(parsing: text)
        } catch {
            switch error {
            case .line(let line): throw .badServer(path, UInt32(clamping: line))
            case .tooLong, .missing: throw .badServer(path, 0)
            }
        }
    }

    /// Whether a name in the file is this account, in whatever spelling the name service takes, or,
    /// with `@` in front, a group that it belongs to.
    ///
    /// If a group cannot be looked up, the login is refused, because the account may be a member.
    private static func isMeant(
        _ account: SystemAccount, by name: Bytes, application: Application
    ) throws(LoginFailure) -> Bool {
        guard name.first == UInt8(ascii: "@") else {
            return name == account.name.bytes
                || application.lookUp(AccountName(name))?.uid == account.uid
        }
        let group = Bytes(name.dropFirst())
        guard let isMember = application.isMember(account.name, of: group) else {
            throw .refused("a group in the server file cannot be looked up")
        }
        return isMember
    }

    /// The request to the daemon to ask the server.
    var request: ServerLoginRequest {
        ServerLoginRequest(
            url: server.url, audience: server.audience, key: server.key.point,
            offlineHours: server.offlineHours, token: server.token)
    }

    /// What the local statement must say about the server.
    var expectation: ServerExpectation {
        ServerExpectation(
            url: server.url, mayBeOffline: server.offlineHours > 0, mayDiffer: server.mayDiffer)
    }

    /// Loads the pinned key for verification; returns nil if it cannot be used.
    func verifier() -> Verifier? { Verifier.open(server.key) }

    /// Succeeds only if the server approved the login of a statement that was already verified.
    ///
    /// - Throws: `.refused` with the first check that fails; `.unavailable` if the key cannot be
    ///   used.
    func check(
        _ proof: ServerProof?, for statement: Statement, of account: AccountName,
        challenge: Challenge,
        verifier: Verifier?
    ) throws(LoginFailure) {
        guard let verifier else {
            throw .silent("the server's key cannot be used")
        }
        guard let proof else { throw .refused("the server's verdict is missing") }
        guard let verdict = try? Verdict(parsing: proof.verdict) else {
            throw .refused("the server's verdict is malformed")
        }
        try checkSignature(proof, verifier: verifier)
        let expected = VerdictExpectation(
            audience: server.audience, local: account, challenge: challenge,
            offlineSeconds: UInt64(server.offlineHours) * 3_600)
        guard expected.mismatch(with: verdict, for: statement, at: WallClock.now) == nil else {
            throw .refused("the server's verdict does not approve this login")
        }
    }

    private func checkSignature(
        _ proof: ServerProof, verifier: Verifier
    ) throws(LoginFailure) {
        guard let signature = try? SSHSignature(blob: proof.signature) else {
            throw .refused("the verdict's signature is malformed")
        }
        guard signature.publicKey == server.key else {
            throw .refused("the verdict is not signed with the server's key")
        }
        guard signature.namespace == SignatureNamespace.verdict.bytes else {
            throw .refused("the verdict's signature is for another purpose")
        }
        guard verifier.verifies(signature, of: proof.verdict) else {
            throw .refused("the verdict's signature does not verify")
        }
    }

    /// Passes the access token on as the file demands, if one came; call it after all checks.
    ///
    /// - Throws: `.refused` for a token that is not printable ASCII without spaces.
    func handOn(_ proof: ServerProof?, uid: UInt32, application: Application) throws(LoginFailure) {
        guard let proof, let delivery = server.token else { return }
        switch delivery {
        case .answer:
            // sudo passes its PAM environment on to a command that may run as any user.
            guard let token = proof.accessToken, !application.isSudo else { return }
            // Readers of the environment expect one line of printable characters.
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

/// The system's clock of the time of day, which only root can set.
enum WallClock {
    /// Seconds since 1970; 0 for times before.
    static var now: UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(clamping: time.tv_sec)
    }
}
