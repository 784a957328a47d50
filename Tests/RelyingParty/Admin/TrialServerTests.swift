// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import HTTPClient
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A server that is tried out")
struct TrialServerTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Who starts it, always without any capability.
    enum Starter: CaseIterable, Sendable {
        case root, another

        /// The uid and gid.
        var uid: UInt32 {
            switch self {
            case .root: 0
            case .another: 65_534
            }
        }

        /// What comes before a program so that it runs as this user.
        var prefix: [String] {
            let ids =
                switch self {
                case .root: [String]()
                case .another: ["--reuid=\(uid)", "--regid=\(uid)", "--clear-groups"]
                }
            return ["setpriv"] + ids + ["--bounding-set=-all", "--inh-caps=-all"]
        }
    }

    /// A directory of that user alone, in one that the user can only pass through.
    private func home(of starter: Starter) throws -> String {
        let place = scratch.at("home")
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        #expect(unsafe chown(place, starter.uid, starter.uid) == 0)
        #expect(unsafe chmod(scratch.path, 0o711) == 0)
        return place
    }

    /// Starts one until it has said how to go on.
    private func start(
        _ words: String..., as starter: Starter = .root, environment: [String: String] = [:]
    ) throws -> (program: Program, port: String) {
        let program = try Program(
            Command(
                starter.prefix + [ServerProcess.program, "--try"] + words,
                environment: environment))
        try program.expect("Ctrl-C stops the server")
        // On the other pipe, which may be read later.
        try program.expectError("serving plain HTTP on port")
        let port = try #require(
            program.errors.firstMatch(of: #/serving plain HTTP on port (\d+)/#)?.output.1)
        return (program, String(port))
    }

    private func stop(_ program: Program) throws -> Outcome {
        program.signal(SIGTERM)
        return try program.expectEnd()
    }

    private func refusal(
        _ words: String..., as starter: Starter = .root, environment: [String: String] = [:]
    ) throws -> String {
        let outcome = try Program(
            Command(
                starter.prefix + [ServerProcess.program, "--try"] + words,
                environment: environment)
        ).expectEnd()
        #expect(outcome.ending == .exited(1))
        #expect(outcome.output.isEmpty)
        return outcome.errors
    }

    private func curl(_ words: String...) throws -> String {
        let outcome = try Program(Command(["curl", "--silent", "--show-error"] + words))
            .expectEnd()
        #expect(outcome.succeeded, "\(outcome.errors)")
        return outcome.output
    }

    @Test(
        "says what it is for, and what it shows can be done, by any user",
        arguments: Starter.allCases)
    func first(starter: Starter) throws {
        let place = try home(of: starter) + "/trial"
        let (program, port) = try start(place, as: starter)
        let text = program.output
        #expect(text.contains("THIS SERVER IS FOR TRYING THINGS OUT"))
        #expect(text.contains("Do not make it reachable from elsewhere"))
        let key = try #require(text.firstMatch(of: #/    (sgk_[A-Za-z0-9_-]{43})\n/#)?.output.1)
        #expect(try curl("http://127.0.0.1:\(port)/health/ready") == "ready\n")
        let made = try curl(
            "-H", "Authorization: Bearer \(key)", "-H", "Content-Type: application/json",
            "-d", #"{"account":"alice"}"#, "http://127.0.0.1:\(port)/v1/activations")
        #expect(made.contains(#""application":"demo""#), "\(made)")
        // The command as it is shown, with the program of these tests.
        let line = try #require(
            text.split(separator: "\n").first { $0.hasSuffix("activation add demo alice") })
        let words = line.split(separator: " ").dropFirst().map(String.init)
        let code = try Program(Command(starter.prefix + [ServerProcess.program] + words))
            .expectEnd()
        #expect(code.succeeded && code.output.contains(#/[0-9A-Z]{5}-[0-9A-Z]{5}/#))
        for name in ["server.conf", "server.db", "master-secret"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(place)/\(name)")
            #expect(attributes[.ownerAccountID] as? UInt32 == starter.uid)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: place)
        #expect(attributes[.ownerAccountID] as? UInt32 == starter.uid)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        #expect(try stop(program).ending == .exited(0))
        // The key is nowhere in the files.
        for name in try FileManager.default.contentsOfDirectory(atPath: place) {
            let bytes = try Layout.read("\(place)/\(name)")
            #expect(bytes.ranges(of: Array(key.utf8)).isEmpty, "\(name)")
        }
    }

    @Test("starts again in its directory, and shows no key then")
    func second() throws {
        let place = scratch.at("trial")
        let first = try start(place)
        _ = try stop(first.program)
        let again = try start(place + "/")
        #expect(!again.program.output.contains("sgk_"))
        #expect(again.program.output.contains("'demo' is there already"))
        #expect(again.program.output.contains("key add demo NAME"))
        _ = try stop(again.program)
    }

    @Test("reads settings that its user owns, drop-ins too; an installed server reads root's alone")
    func owner() throws {
        let scratch = try Scratch()
        let uid: UInt32 = 65_534
        let files = ["own", "own/server.conf", "own/server.conf.d", "own/server.conf.d/a.conf"]
        try scratch.write(files[1], Array("[server]\nurl = https://a.example\n".utf8))
        try scratch.write(files[3], Array("[listen]\nport = 1\n".utf8))
        for file in files { #expect(unsafe chown(scratch.at(file), uid, uid) == 0) }
        let path = scratch.at(files[1])
        let settings = try ServerFiles.settings(path, owner: uid)
        #expect(settings.count(ServerSettings.port) == 1)
        #expect(throws: StartFault.self) { try ServerFiles.settings(path) }
        #expect(throws: StartFault.self) { try ServerFiles.settings(path, owner: uid - 1) }
        #expect(unsafe chmod(path, 0o666) == 0)
        #expect(throws: StartFault.self) { try ServerFiles.settings(path, owner: uid) }
        #expect(TrialDirectory.owner(ofSettings: path) == 0)
    }

    @Test("takes another port where its own is taken")
    func ports() throws {
        let one = try start(scratch.at("one"))
        let two = try start(scratch.at("two"))
        #expect(one.port != two.port)
        #expect(two.program.output.contains("http://127.0.0.1:\(two.port)/health/ready"))
        for each in [one, two] {
            #expect(try curl("http://127.0.0.1:\(each.port)/health/live") == "live\n")
            _ = try stop(each.program)
        }
    }

    @Test("has a directory of the user's own by default")
    func standard() throws {
        let state = try start(environment: ["XDG_STATE_HOME": scratch.at("state")])
        #expect(state.program.output.contains(scratch.at("state/signet-server-try") + "."))
        _ = try stop(state.program)
        let home = try start(environment: ["HOME": scratch.path, "XDG_STATE_HOME": "relative"])
        #expect(
            home.program.output.contains(scratch.at(".local/state/signet-server-try") + "."))
        _ = try stop(home.program)
    }

    @Test("does not run in the directory of an installed server, or one with other files")
    func places() throws {
        for path in ["/var/lib/signet-server", "/etc/signet/", "/var/lib/signet-server/x"] {
            #expect(try refusal(path).contains("is for the installed server"))
        }
        for path in ["relative", "/", "/a/../b", "/a/./b"] {
            #expect(try refusal(path).contains("not an absolute path"), "\(path)")
        }
        let foreign = scratch.at("foreign")
        try FileManager.default.createDirectory(
            atPath: foreign, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        for (name, text) in [("notes", "mine"), ("server.conf", "[listen]\naddress = ::\n")] {
            try scratch.write("foreign/\(name)", text)
            #expect(try refusal(foreign).contains("has files that --try did not create"))
            #expect(try scratch.read("foreign/\(name)") == Array(text.utf8))
            try FileManager.default.removeItem(atPath: "\(foreign)/\(name)")
        }
    }

    @Test("does not run in another user's directory")
    func foreignOwner() throws {
        let mine = scratch.at("mine")
        _ = try stop(try start(mine).program)
        let others = try home(of: .another)
        for (place, starter) in [(mine, Starter.another), (others, .root)] {
            for mode in [0o700, 0o755] as [mode_t] {
                #expect(unsafe chmod(place, mode) == 0)
                for path in [place, "\(place)/trial"] {
                    let said = try refusal(path, as: starter)
                    #expect(
                        said.contains(": Permission denied") || said.contains("is owned by uid"),
                        "\(said)")
                }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: others).isEmpty)
    }

    @Test("does not run where others can write", arguments: [0o770, 0o707, 0o777, 0o722])
    func shared(mode: Int) throws {
        let place = scratch.at("shared")
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: place)
        #expect(try refusal(place).contains("has the unsafe mode"))
        // Nor below a directory that they can write to.
        #expect(try refusal(place + "/below").contains("has the unsafe mode"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty)
    }

    @Test(
        "stays on this machine and in its directory, whatever is written to its settings",
        arguments: [
            ("[listen]\naddress = 0.0.0.0", "listen.address is always 127.0.0.1"),
            ("[listen]\naddress = ::", "listen.address is always 127.0.0.1"),
            ("[listen]\nport = 80", "listen.port is always 8443"),
            ("[listen]\nproxy = trusted", "listen.proxy is always none"),
            ("[listen]\ncertificate = /a\nkey = /b", "listen.certificate is always none"),
            ("[metrics]\nlisten = 0.0.0.0:9464", "metrics.listen is always none"),
            ("[database]\nkind = postgresql", "database.kind is always sqlite"),
            ("[database]\npath = /var/lib/signet-server/server.db", "database.path is always"),
            ("[keys]\nmaster = /var/lib/signet-server/master-secret", "keys.master is always"),
        ])
    func settings(lines: String, text: String) throws {
        let place = scratch.at("trial")
        _ = try stop(try start(place).program)
        try FileManager.default.createDirectory(
            atPath: "\(place)/server.conf.d", withIntermediateDirectories: false)
        try scratch.write("trial/server.conf.d/more.conf", lines + "\n")
        let said = try refusal(place)
        #expect(said.contains(text) && said.contains("more.conf:"), "\(said)")
    }

    @Test("takes no inherited socket, and no other options")
    func options() throws {
        for words in [["--new"], ["--config", "/a"], [scratch.path, "more"]] {
            let outcome = try Program(Command([ServerProcess.program, "--try"] + words))
                .expectEnd()
            #expect(outcome.ending == .exited(2), "\(words)")
        }
        let (program, _) = try start(
            scratch.at("trial"), environment: ["LISTEN_FDS": "1", "LISTEN_PID": "1"])
        _ = try stop(program)
    }
}
