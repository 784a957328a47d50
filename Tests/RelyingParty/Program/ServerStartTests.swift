// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPClient
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The start of a server")
struct ServerStartTests {
    /// What standard error says when it does not start.
    private func refusal(
        _ home: ServerHome, _ settings: String, port: UInt16 = 0
    ) throws -> String {
        let configuration = try home.configuration(settings, port: port)
        let outcome = try Program(
            Command([ServerProcess.program, "--config", configuration])
        ).expectEnd()
        #expect(outcome.ending == .exited(1))
        return outcome.errors
    }

    @Test(
        "is refused with arguments that make no sense, and says which",
        arguments: [
            (["--config", "server.conf"], "--config needs an absolute path, not server.conf"),
            (["--config"], "--config needs a value"), (["-x"], "has no option -x"),
            (["--config", "/a", "--config", "/b"], "--config was given twice"),
            (["serve"], "signet-server does not take serve"),
            (["--version", "now"], "--version does not take now"),
        ])
    func arguments(words: [String], text: String) throws {
        let outcome = try Program(Command([ServerProcess.program] + words))
            .expectEnd()
        #expect(outcome.ending == .exited(2) && outcome.errors.contains(text), "\(outcome.errors)")
    }

    @Test("is refused with a setting that is not known, and says where")
    func unknownSetting() throws {
        let said = try refusal(try ServerHome(.sqlite), "speed = high")
        #expect(said.contains("server1.conf:") && said.contains("speed"))
    }

    @Test(
        "is refused for plain HTTP that other machines would reach",
        arguments: ["0.0.0.0", "::", "192.0.2.1"])
    func plain(address: String) throws {
        let said = try refusal(try ServerHome(.sqlite), "address = \(address)")
        #expect(said.contains("plain HTTP is refused on '\(address)'"))
        #expect(said.contains("listen.certificate"))
    }

    @Test("is refused on a port that is taken")
    func taken() throws {
        let server = try ServerProcess(try ServerHome(.sqlite))
        let said = try refusal(try ServerHome(.sqlite), "", port: server.port)
        #expect(said.contains("another program listens on 127.0.0.1 port \(server.port)"))
        try server.stop()
    }

    @Test(
        "is refused with another master secret than the keys were sealed with",
        arguments: Backend.allCases)
    func otherMaster(backend: Backend) throws {
        let home = try ServerHome(backend)
        try ServerProcess(home).stop()
        try home.scratch.write("master-secret", [UInt8](repeating: 7, count: 32))
        let other = try refusal(home, "")
        #expect(other.contains("sealed with another master secret than"))
        #expect(other.contains(home.scratch.at("master-secret")))
        for count in [0, 31, 33, 4_096] {
            let wrong = [UInt8](repeating: 7, count: count)
            try home.scratch.write("master-secret", wrong)
            let said = try refusal(home, "")
            #expect(said.contains("has \(count) bytes, not 32: put the right one back"))
            #expect(try home.scratch.read("master-secret") == wrong)
        }
        // Nor does administration go on with it, or make a new one where there is none.
        #expect(try home.administer("application", "list").ending == .exited(1))
        _ = try Program(Command(["rm", home.scratch.at("master-secret")])).expectEnd()
        let missing = try home.administer("application", "list")
        #expect(missing.ending == .exited(1))
        #expect(missing.errors.contains("put back the one that it was made with"))
    }

    @Test("is refused with a TLS key that others can read, or that is not the certificate's")
    func key() throws {
        let home = try ServerHome(.sqlite)
        let authority = try TestAuthority(home.scratch)
        for mode in [0o644, 0o640, 0o604] as [UInt32] {
            try home.scratch.write(
                "open.key", try home.scratch.read("server.key"), mode: mode)
            let said = try refusal(home, authority.settings(key: "open.key"))
            #expect(said.contains("open.key has the unsafe mode 0\(String(mode, radix: 8))"))
        }
        let other = try refusal(home, authority.settings(key: "authority.key"))
        #expect(other.contains("TLS certificate and key cannot be used"))
        #expect(try refusal(home, authority.settings(key: "none")).contains("cannot start"))
    }

    @Test("is refused where figures have no place that can be understood")
    func metrics() throws {
        for place in ["9464", "::1:9464", "127.0.0.1:99999", "localhost:9464"] {
            let said = try refusal(try ServerHome(.sqlite), "[metrics]\nlisten = \(place)")
            #expect(said.contains("cannot start"), "\(place)")
        }
    }

    @Test("reports a master secret, and a database file, that others can read")
    func files() throws {
        let home = try ServerHome(.sqlite)
        try home.scratch.write(
            "master-secret", [UInt8](repeating: 7, count: 32), mode: 0o644)
        #expect(try refusal(home, "").contains("unsafe mode"))
    }

    @Test("takes an inherited socket, and refuses no connection meanwhile")
    func handedOver() async throws {
        let home = try ServerHome(.sqlite)
        let server = try ServerProcess(home, prefix: handingOver("127.0.0.1"))
        #expect(try await server.send("GET", "/health/ready").status == 200)
        #expect(try server.stop().ending == .exited(0))
    }

    @Test("refuses a socket that other machines can reach without a certificate")
    func handedOverPlain() throws {
        let configuration = try ServerHome(.sqlite).configuration()
        let outcome = try Program(
            Command(
                handingOver("0.0.0.0") + [ServerProcess.program, "--config", configuration])
        ).expectEnd()
        #expect(outcome.ending == .exited(1))
        #expect(outcome.errors.contains("is not a single listening TCP"))
    }

    @Test("is good for 'check-config' by the address, or by a socket unit in place of it")
    func checked() throws {
        let home = try ServerHome(.sqlite)
        let settings = try ServerFiles.settings(try home.configuration("address = 192.0.2.1"))
        let units = [home.scratch.at("none"), home.scratch.path]
        let fault = #expect(throws: AdminFault.self) {
            try AdminFiles.check(settings, units: units)
        }
        #expect(fault?.text.contains("which is not a loopback address") == true)
        try home.scratch.write("signet-server.socket", "[Socket]\nListenStream=127.0.0.1:443\n")
        try AdminFiles.check(settings, units: units)
    }

    @Test(
        "is refused if its URL does not lead to it, or half of its certificate is missing",
        arguments: [
            ("id.example.org", "", "server.url is"), ("http://id.example.org", "", "server.url is"),
            ("https://idé.example.org", "", "server.url is"),
            ("https://a@id.example.org", "", "server.url is"),
            ("https://id.example.org", "certificate = /etc/chain.pem", "set both or neither"),
            ("https://id.example.org", "key = /etc/key.pem", "set both or neither"),
        ])
    func uncallable(url: String, more: String, reason: String) throws {
        let home = try ServerHome(.sqlite, url: url)
        let configuration = try home.configuration(more)
        for arguments in [
            ["--config", configuration], ["admin", "--config", configuration, "check-config"],
        ] {
            let outcome = try Program(Command([ServerProcess.program] + arguments))
                .expectEnd()
            #expect(outcome.ending == .exited(1), "\(arguments)")
            #expect(outcome.errors.contains(reason), "\(outcome.errors)")
        }
    }

    @Test("has audiences and a file for logins with its URL in the one form that devices know")
    func oneForm() throws {
        let home = try ServerHome(.sqlite, url: "HTTPS://Id.example.org:443/signet/")
        let configuration = try home.configuration()
        try ServerProcess(home).stop()
        func admin(_ words: String...) throws -> String {
            try Program(
                Command([ServerProcess.program, "admin", "--config", configuration] + words)
            ).expectEnd().output
        }
        _ = try admin("application", "add", "bank")
        let file = try admin("application", "pam-file", "bank")
        #expect(file.contains("url = https://id.example.org/signet\n"), "\(file)")
        #expect(file.contains("audience = https://id.example.org/signet/bank\n"), "\(file)")
    }

    /// A program that listens at an address as systemd does, and becomes the one behind it.
    private func handingOver(_ address: String) -> [String] {
        [
            "python3", "-c",
            """
            import os, socket, sys
            place = socket.create_server((sys.argv[1], 0))
            os.dup2(place.fileno(), 3) if place.fileno() != 3 else os.set_inheritable(3, True)
            os.environ["LISTEN_PID"] = str(os.getpid())
            os.environ["LISTEN_FDS"] = "1"
            os.execv(sys.argv[2], sys.argv[2:])
            """, address,
        ]
    }

    @Test("is not steered by its environment", arguments: Backend.allCases)
    func environment(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let authority = try TestAuthority(home.scratch)
        try home.scratch.write("openssl.cnf", "openssl_conf = nothing-there\n[nothing\n")
        let server = try ServerProcess(
            home, settings: authority.settings(),
            environment: [
                "PGHOST": "/nonexistent", "PGPORT": "1", "PGSERVICE": "absent",
                "PGSERVICEFILE": "/nonexistent", "PGOPTIONS": "-c default_transaction_read_only=on",
                "PGSSLMODE": "require", "PGPASSFILE": "/nonexistent",
                "OPENSSL_CONF": home.scratch.at("openssl.cnf"),
                "SSLKEYLOGFILE": home.scratch.at("keylog"), "SQLITE_TMPDIR": "/nonexistent",
            ], client: authority.client)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        #expect(!Layout.entries(of: home.scratch.path).contains("keylog"))
        try server.stop()
    }
}

/// A private authority, and a server's certificate by it.
struct TestAuthority {
    let scratch: Scratch

    /// Makes both with openssl, in this directory.
    init(_ scratch: Scratch) throws {
        self.scratch = scratch
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        try openssl(
            ["req", "-x509"] + key + [
                "-subj", "/CN=test authority", "-keyout", scratch.at("authority.key"), "-out",
                scratch.at("authority.pem"),
            ])
        try openssl(
            ["req", "-x509"] + key + [
                "-CA", scratch.at("authority.pem"), "-CAkey", scratch.at("authority.key"),
                "-subj", "/CN=localhost", "-addext",
                "subjectAltName=IP:127.0.0.1,DNS:localhost", "-addext",
                "basicConstraints=critical,CA:false", "-keyout", scratch.at("server.key"),
                "-out", scratch.at("server.pem"),
            ])
    }

    private func openssl(_ words: [String]) throws {
        let outcome = try Program(Command(["openssl"] + words)).expectEnd()
        guard outcome.succeeded else { throw Unexpected(outcome.errors) }
    }

    /// Another certificate for the server's key, which holds from one UTCTime to another.
    func certificate(from begin: String, to end: String) throws -> [UInt8] {
        try scratch.write("index", "")
        try scratch.write(
            "authority.conf",
            """
            [ca]
            default_ca = test
            [test]
            new_certs_dir = \(scratch.path)
            database = \(scratch.at("index"))
            default_md = sha256
            policy = any
            rand_serial = yes
            unique_subject = no
            [any]
            commonName = supplied

            """)
        try openssl([
            "req", "-new", "-key", scratch.at("server.key"), "-subj", "/CN=localhost", "-out",
            scratch.at("server.csr"),
        ])
        try openssl([
            "ca", "-batch", "-notext", "-config", scratch.at("authority.conf"),
            "-in", scratch.at("server.csr"), "-cert", scratch.at("authority.pem"), "-keyfile",
            scratch.at("authority.key"), "-startdate", begin, "-enddate", end, "-out",
            scratch.at("dated.pem"),
        ])
        return try scratch.read("dated.pem")
    }

    /// Settings of the section `listen`.
    func settings(key: String = "server.key") -> String {
        let place = key == "none" ? key : scratch.at(key)
        return "certificate = \(scratch.at("server.pem"))\nkey = \(place)"
    }

    /// A client that trusts this authority alone.
    var client: ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.authorities = .file(scratch.at("authority.pem"))
        return configuration
    }
}

@Suite("A server with TLS")
struct ServerTLSTests {
    @Test("is reached by clients that trust its authority, also by curl, and by no others")
    func authority() async throws {
        let home = try ServerHome(.sqlite)
        let authority = try TestAuthority(home.scratch)
        let server = try ServerProcess(
            home, settings: authority.settings(), client: authority.client)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        let url = "https://localhost:\(server.port)/health/ready"
        let trusting = ["curl", "--silent", "--cacert", home.scratch.at("authority.pem"), url]
        #expect(try Program(Command(trusting)).expectEnd().output == "ready\n")
        let stranger = try Program(Command(["curl", "--silent", url])).expectEnd()
        #expect(stranger.ending == .exited(60))
        let old = ["--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0"]
        let outdated = try Program(Command(trusting + old)).expectEnd()
        #expect(!outdated.succeeded)
        try server.stop()
    }
}
