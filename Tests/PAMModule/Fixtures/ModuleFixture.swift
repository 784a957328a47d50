// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import Posix
import SignedFormats
import TestSupport
import Testing

/// One of the two builds of the module.
enum ModuleEdition: CaseIterable {
    case signet
    case fprintd

    /// Its name in stacks.
    var file: String { self == .signet ? "pam_signet.so" : "pam_fprintd.so" }

    func built() throws -> String {
        self == .signet ? try Built.module() : try Built.fprintdModule()
    }
}

/// A fixture with the module installed and a key registered, and this test in the daemon's place.
final class ModuleFixture {
    /// What pam_authenticate(3) returns, as the tests meet it.
    enum Code {
        static let success = 0
        static let systemError = 4
        static let serviceError = 3
        static let authError = 7
        static let unavailable = 9
        static let maxTries = 11
        static let conversationError = 19
        static let ignored = 25
        static let permissionDenied = 6
    }

    static let keyPath = "/var/lib/signet/keys/4242.pub"
    static let offPath = "/var/lib/signet/keys/4242.off"
    static let socketPath = "/run/signet/signetd.sock"

    let host: HostFixture
    let key: P256PrivateKey
    var credential = CredentialID.sample(repeating: 0x5A)
    private let door: Door?
    private var counter: UInt64 = 0

    /// `stack` is the PAM service `probe`; it names the edition's module in place of pam_signet.so.
    init(
        _ edition: ModuleEdition = .signet, stack: String = "auth required pam_signet.so",
        listens: Bool = true,
        isRegistered: Bool = true, backlog: Int32 = 16
    ) throws {
        host = try HostFixture()
        key = try P256PrivateKey.generate()
        try host.installModule(edition.built(), as: edition.file)
        try host.writeService(
            "probe", stack.replacing("pam_signet.so", with: edition.file) + "\n")
        try host.run(["chmod", "755", "/var/lib/signet"])
        try host.run(["mkdir", "-p", "-m", "755", "/var/lib/signet/keys"])
        let path = host.path(ModuleFixture.socketPath)
        door = listens ? Door(try .listen(at: path, mode: 0o666, backlog: backlog)) : nil
        if isRegistered { try host.write(ModuleFixture.keyPath, line()) }
    }

    /// The line of a key's file.
    func line(account: String = "alice", key: P256PrivateKey? = nil) throws -> [UInt8] {
        let name = PercentEncoding.encode([UInt8](account.utf8))
        let point = (key ?? self.key).publicPoint
        return try #require(SSHPublicKey(point: point)).line(
            comment: [UInt8]("signet:".utf8) + name + [UInt8](":".utf8)
                + credential.hexadecimal)
    }

    /// Starts the probe for an account.
    func start(
        _ steps: [String] = ["auth"], account: String = "alice", service: String = "probe",
        arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> Program {
        var all = [
            "PROBE_SERVICE": service, "PROBE_USER": account,
            "PROBE_STEPS": steps.joined(separator: ","),
        ]
        all.merge(environment) { _, new in new }
        return try host.start(
            ["\(Layout.products)/PAMModuleProbe"] + arguments, environment: all)
    }

    /// Waits for the next login that reaches the daemon.
    func visit() throws -> Visit {
        guard let visit = try door?.accept() else { throw Missing.visit }
        return visit
    }

    /// Whether a client has knocked.
    var hasVisit: Bool {
        door?.hasVisit ?? false
    }

    /// The statement that answers a request truthfully.
    func statement(for request: AuthenticateRequest) -> Statement {
        counter += 1
        return Statement(
            audience: "local", account: request.account, uid: 4242,
            requester: request.requester.isEmpty ? request.account : request.requester,
            device: .sample(repeating: 1), credential: credential,
            challenge: request.challenge, service: request.service, terminal: request.terminal,
            purpose: request.purpose, command: request.commandDigest,
            factor: [UInt8]("fingerprint".utf8), enrolment: 1,
            counter: counter, previous: [UInt8](repeating: 0, count: 32),
            issued: Instant(seconds: UInt64(time(nil))))
    }

    /// A text, signed by a key for a use.
    func assertion(
        _ text: [UInt8], key: P256PrivateKey? = nil, namespace: SignatureNamespace = .login
    ) throws -> Assertion {
        let key = key ?? self.key
        let data = SSHSignature.signedData(
            namespace: namespace.bytes, messageDigest: try SHA256.digest(text))
        let numbers = try key.sign(data)
        let publicKey = try #require(SSHPublicKey(point: key.publicPoint))
        let signature = SSHSignature(
            publicKey: publicKey, namespace: namespace, r: numbers.r, s: numbers.s)
        return Assertion(statement: text, signature: signature.blob)
    }

    /// What a touch gives.
    func proof(for request: AuthenticateRequest) throws -> Assertion {
        try assertion(statement(for: request).encoded())
    }
}

/// What a test waited for and did not get.
enum Missing: Error {
    case visit
    case request
}

/// Where the daemon listens.
private final class Door {
    private let listener: PacketListener

    init(_ listener: consuming PacketListener) {
        self.listener = listener
    }

    var hasVisit: Bool { waitUntilReadable(listener.descriptor.number, milliseconds: 0) }

    func accept() throws -> Visit? {
        guard waitUntilReadable(listener.descriptor.number), let socket = try listener.accept()
        else { return nil }
        return Visit(socket)
    }
}

/// One connection to the daemon.
final class Visit {
    private let socket: PacketSocket
    private var asked: AuthenticateRequest?

    init(_ socket: consuming PacketSocket) {
        self.socket = socket
    }

    /// The next request.
    func request() throws -> Request {
        guard waitUntilReadable(socket.descriptor.number),
            case .packet(let packet) = try socket.receive(limit: 16_384)
        else { throw Missing.request }
        return try Request(decoding: packet)
    }

    /// The request for a touch.
    func authenticate() throws -> AuthenticateRequest {
        guard let request = try request().content as? AuthenticateRequest else {
            throw Missing.request
        }
        asked = request
        return request
    }

    /// Sends a proof, and confirms it if the module finds it good, as the daemon does.
    func prove(_ assertion: Assertion, password: String? = nil) throws {
        try send(.assertion(assertion))
        guard try isAsked() else { return }
        try send(.confirmed(password: password.map { [UInt8]($0.utf8) }))
    }

    /// Whether the module asks to have this login's touch confirmed; false where it has ended.
    func isAsked() throws -> Bool {
        guard waitUntilReadable(socket.descriptor.number) else { throw Missing.request }
        guard case .packet(let packet) = try socket.receive(limit: 16_384) else { return false }
        let asked = try #require(asked)
        #expect(
            try Request(decoding: packet)
                == .confirm(account: asked.account, challenge: asked.challenge))
        return true
    }

    /// Sends an answer.
    func send(_ answer: Answer) throws { try send(answer.encoded()) }

    /// Sends a packet; one that the module no longer wants is no fault.
    func send(_ packet: [UInt8]) throws { _ = try? socket.send(packet) }

    /// Ends the connection, as a daemon does that is stopped.
    func hangUp() { socket.shutDown() }

    /// Whether the module has closed its end.
    func hasEnded() throws -> Bool {
        guard waitUntilReadable(socket.descriptor.number) else { return false }
        return try socket.receive(limit: 16_384) == .end
    }
}

/// Waits, at most half a minute if nothing else is said.
func waitUntilReadable(_ descriptor: Int32, milliseconds: Int32 = 30_000) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&request, 1, milliseconds) > 0
}

extension Program {
    /// The probe's lines, when it has ended as it should.
    func lines(within limit: Duration = .patience) throws -> [String] {
        let outcome = try expectEnd(within: limit)
        #expect(outcome.succeeded, "\(outcome)")
        return outcome.output.split(separator: "\n").map(String.init)
    }
}

extension ModuleFixture {
    /// Puts the module in front of the password in services of real programs.
    func writeServices(_ names: [String], options: String) throws(TestFault) {
        for name in names {
            try host.writeService(
                name,
                """
                auth [success=1 conv_err=die default=ignore] pam_signet.so \(options)
                auth required pam_unix.so nodelay try_first_pass
                auth required pam_permit.so
                account required pam_permit.so
                session required pam_permit.so

                """)
        }
    }
}
