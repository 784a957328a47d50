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

    /// Starts one, without any capability, until it has said how to go on.
    private func start(
        _ words: String..., environment: [String: String] = [:]
    ) throws -> (program: Program, port: String) {
        let program = try Program(
            Command(
                [
                    "setpriv", "--bounding-set=-all", "--inh-caps=-all", ServerProcess.program,
                    "--try",
                ]
                    + words, environment: environment))
        try program.expect("Ctrl-C stops the server", within: .seconds(30))
        // On the other pipe, which may be read later.
        try program.expectError("serving plain HTTP on port", within: .seconds(30))
        let port = try #require(
            program.errors.firstMatch(of: #/serving plain HTTP on port (\d+)/#)?.output.1)
        return (program, String(port))
    }

    private func stop(_ program: Program) throws -> Outcome {
        program.signal(SIGTERM)
        return try program.expectEnd(within: .seconds(30))
    }

    private func refusal(
        _ words: String..., environment: [String: String] = [:]
    ) throws -> String {
        let outcome = try Program(
            Command([ServerProcess.program, "--try"] + words, environment: environment)
        ).expectEnd(within: .seconds(30))
        #expect(outcome.ending == .exited(1))
        #expect(outcome.output.isEmpty)
        return outcome.errors
    }

    private func curl(_ words: String...) throws -> String {
        let outcome = try Program(Command(["curl", "--silent", "--show-error"] + words))
            .expectEnd(within: .seconds(30))
        #expect(outcome.succeeded, "\(outcome.errors)")
        return outcome.output
    }

    @Test("says what it is for, and what it shows can be done")
    func first() throws {
        let place = scratch.at("trial")
        let (program, port) = try start(place)
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
        let code = try Program(Command([ServerProcess.program] + words))
            .expectEnd(within: .seconds(30))
        #expect(code.succeeded && code.output.contains(#/[0-9A-Z]{5}-[0-9A-Z]{5}/#))
        for name in ["server.conf", "server.db", "master-secret"] {
            #expect(FileManager.default.fileExists(atPath: "\(place)/\(name)"))
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: place)
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
            #expect(try refusal(foreign).contains("has files that --try did not make"))
            #expect(try scratch.read("foreign/\(name)") == Array(text.utf8))
            try FileManager.default.removeItem(atPath: "\(foreign)/\(name)")
        }
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
                .expectEnd(within: .seconds(30))
            #expect(outcome.ending == .exited(2), "\(words)")
        }
        let (program, _) = try start(
            scratch.at("trial"), environment: ["LISTEN_FDS": "1", "LISTEN_PID": "1"])
        _ = try stop(program)
    }
}
