// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport

/// The demo's server, with TLS under an authority of its own: the installed program, on one of the
/// demo's machines.
final class DemoServer: Sendable {
    /// As devices know it.
    let url: String
    /// The machine that it runs on.
    let set: DemoSet
    /// The server, and what leads to it.
    private let running = Mutex<[TestSupport.Program]>([])

    /// Its authority, on each machine.
    private static let authority = "/etc/signet/authority.pem"
    private static let directory = "/etc/signet/tls"
    private static let socket = "/run/notify-server"

    /// Those whose TPMs it accepts.
    private static let makers = "/etc/signet/tpm-authorities.pem"

    /// Makes what it needs; it does not run yet.
    init(on set: DemoSet, trusting makers: TPMAuthority) throws {
        self.set = set
        let port = try freePort()
        url = "https://127.0.0.1:\(port)"
        try set.host.install(Built.program("signet-server"), at: "/usr/local/bin/signet-server")
        try set.shell(
            """
            install -d -m 700 \(Self.directory) /var/lib/signet-server && \
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
            -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
            -keyout \(Self.directory)/key.pem -out \(Self.directory)/chain.pem 2>&1
            """)
        try set.host.write(Self.makers, try makers.certificate())
        try set.host.write(
            "/etc/signet/server.conf",
            """
            [server]
            url = \(url)
            [listen]
            port = \(port)
            certificate = \(Self.directory)/chain.pem
            key = \(Self.directory)/key.pem
            [callback]
            networks = 127.0.0.0/8
            [attestation]
            authorities = \(Self.makers)

            """)
    }

    /// Starts it, and returns when it is ready.
    func start() throws {
        let notices = try ReadinessNotices(at: set.host.path(Self.socket))
        let program = try set.host.start(
            ["signet-server"], environment: ["NOTIFY_SOCKET": Self.socket])
        guard notices.hearReady(within: DemoSet.patience) else {
            throw TestFault.deadline(awaited: "signet-server", transcript: program.errors)
        }
        running.withLock { $0.append(program) }
    }

    /// Has a machine trust its authority, and starts that machine's way to servers.
    func startRelay(on other: DemoSet) throws {
        let host = other.host
        try host.write(
            Self.authority, try set.host.read("\(Self.directory)/chain.pem"))
        try other.shell(
            "printf '[relay]\\nca-file = \(Self.authority)\\n' >>/etc/signet/signet.conf")
        let notices = try ReadinessNotices(at: host.path("/run/notify-relay"))
        let program = try host.start(
            [try Built.program("signet-relay")], environment: ["NOTIFY_SOCKET": "/run/notify-relay"]
        )
        guard notices.hearReady(within: DemoSet.patience) else {
            throw TestFault.deadline(awaited: "signet-relay", transcript: program.errors)
        }
        running.withLock { $0.append(program) }
    }

    /// Runs a command of administration to its end, shown, and gives what it printed.
    @discardableResult
    func admin(_ words: String..., meaning: String) throws -> String {
        let shown = words.map { $0.contains(" ") ? "'\($0)'" : $0 }.joined(separator: " ")
        let terminal = try set.root(
            shown: "signet-server admin \(shown)", ["signet-server", "admin"] + words)
        try set.end(terminal, meaning)
        return terminal.transcript
    }

    /// Makes an activation code for alice, by the administrator.
    func code() throws -> String {
        let said = try admin(
            "activation", "add", "shop", "alice", meaning: "alice gets a code that works once")
        let line = said.split(whereSeparator: \.isNewline).last { $0.contains("-") }
        guard let line else { throw DemoFault(expected: "an activation code", came: said) }
        return String(line)
    }

    // MARK: The application's receiver of callbacks

    private static let library = "/usr/local/lib/signet_verifier"

    /// Starts the receiver that the documents show, with the library that verifies; gives its URL,
    /// and the program, which prints what it was notified of.
    func startReceiver() throws -> (url: String, program: TestSupport.Program) {
        let port = try freePort()
        let receiver = "http://127.0.0.1:\(port)/signet"
        let source = "\(Layout.package)/libraries/python/signet_verifier"
        try set.shell("install -d \(Self.library)")
        for file in Layout.entries(of: source) where file.hasSuffix(".py") {
            try set.host.install("\(source)/\(file)", at: "\(Self.library)/\(file)", mode: 0o644)
        }
        let script = "/usr/local/bin/receiver.py"
        try set.host.install(
            "\(Layout.package)/Tests/RelyingParty/Fixtures/Judges/receiver.py", at: script)
        let program = try set.host.start(
            [
                "/usr/bin/python3", script, url, receiver, "\(url)/.well-known/jwks.json",
                "\(port)",
            ],
            environment: [
                "PYTHONPATH": "/usr/local/lib", "PYTHONDONTWRITEBYTECODE": "1",
                "SSL_CERT_FILE": Self.authority,
            ])
        running.withLock { $0.append(program) }
        return (receiver, program)
    }

    // MARK: The application's back end

    private static let apiKey = "/run/shop.key"

    /// Gives the back end of `shop` its API key, unseen.
    func makeBackEnd() throws {
        try set.shell(
            """
            umask 077 && echo "Authorization: Bearer $(signet-server admin key add shop backend)" \
            >\(Self.apiKey)
            """)
    }

    /// What the server has written about an attested registration, checked by openssl.
    func checkEvidence(of registration: String) throws {
        let directory = "/run/evidence"
        try admin(
            "registration", "evidence", registration, directory,
            meaning: "the server gives out what it has checked")
        let line = "openssl verify -partial_chain -CAfile \(Self.makers) \(directory)/ek.der"
        try set.end(
            set.root(shown: line, ["sh", "-c", line]),
            "the TPM's certificate is by a maker that root has named")
        let signed =
            "cd \(directory) && openssl dgst -sha256 -verify ak.pem -signature "
            + "certification.sig certification.attest"
        try set.end(
            set.root(shown: signed, ["sh", "-c", signed]),
            "the TPM's own key has signed that alice's key is in it")
    }

    /// Calls the server as the back end of `shop`; gives the answer's JSON.
    func call(_ method: String, _ path: String, _ body: String? = nil) throws -> String {
        let data = body.map { "--data '\($0)'" } ?? ""
        return try set.shell(
            """
            curl -s --cacert \(Self.authority) -X \(method) -H @\(Self.apiKey) \
            -H 'Content-Type: application/json' \(data) '\(url)\(path)'
            """)
    }
}
