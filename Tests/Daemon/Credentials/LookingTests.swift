// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import State
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a request that only looks") struct LookingTests {
        private static let name = Person.daemon.account
        private static let looks: [Request] = [
            .status(account: name), .list(account: name), .log(LogRequest(account: name)),
            .secretList(account: name), .serverList(account: name), .signingKey(account: name),
            .macTokenList(account: name), .readers, .configuration, .vault,
            .readerPrints(ReaderPrintsRequest(.list)),
        ]

        /// What happens to the state behind the daemon's back.
        enum Plant: String, CaseIterable, CustomTestStringConvertible {
            case nothing, printGone, printAltered, printsGone, printUnlisted, strayPrint
            case credentialAltered, publicKeyGone, passwordChanged, halfWritten, receiptsCut

            var testDescription: String { rawValue }

            /// Whether login is off then.
            var endsLogin: Bool {
                switch self {
                case .nothing, .strayPrint, .passwordChanged, .halfWritten, .receiptsCut: false
                case .printGone, .printAltered, .printsGone, .printUnlisted, .credentialAltered,
                    .publicKeyGone:
                    true
                }
            }

            /// Whether the next login ends the credential, and remembers why.
            var revokes: Bool { endsLogin && self != .publicKeyGone }

            func make(_ fixture: DaemonFixture) throws {
                let prints = fixture.file("prints", of: .daemon)
                let print = try #require(fixture.prints(of: .daemon).first)
                switch self {
                case .nothing: break
                case .printGone: #expect(unsafe unlink(print) == 0)
                case .printAltered: try DaemonFixture.damage(print)
                case .printsGone:
                    for path in fixture.prints(of: .daemon) { #expect(unsafe unlink(path) == 0) }
                    #expect(unsafe rmdir(prints) == 0)
                case .printUnlisted:
                    try fixture.kept(.daemon).prints.remove(
                        try #require(fixture.kept(.daemon).prints.enrolment().prints.first)
                            .identifier
                    )
                case .strayPrint:
                    let stray = prints + "/" + String(repeating: "0", count: 32)
                    try DaemonFixture.write(try Layout.read(print), to: stray)
                case .credentialAltered:
                    let path = fixture.file("credential", of: .daemon)
                    try DaemonFixture.write(try Layout.read(path) + [0x0A], to: path)
                case .publicKeyGone: #expect(unsafe unlink(fixture.publicKey(of: .daemon)) == 0)
                case .passwordChanged: try fixture.changeShadow()
                case .halfWritten:
                    for place in ["prints", "secrets", "servers"] {
                        let path = fixture.file(place, of: .daemon) + "/.new-1-2"
                        try DaemonFixture.write([1], to: path)
                    }
                    try DaemonFixture.write([1], to: fixture.state + "/keys/.new-1-2")
                case .receiptsCut:
                    let path = fixture.file("receipts", of: .daemon)
                    try DaemonFixture.write(Array(try Layout.read(path).dropLast(9)), to: path)
                }
            }
        }

        private let fixture: DaemonFixture
        private let server: PlayedServer

        init() throws {
            fixture = try DaemonFixture.withShadow([.text])
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "one")
            try fixture.give()
            server = try PlayedServer(for: fixture)
            try fixture.enablePlayed()
            #expect(
                try fixture.touchEach(.signingEnable(account: Self.name), with: "one")
                    != .done(.init()))
            #expect(try fixture.client().keep([1, 2, 3], "mail") == .done(DoneAnswer()))
            // What is written behind the last answer is on disk before this one.
            _ = try fixture.status(of: .daemon)
        }

        @Test("changes nothing on disk, whatever it finds", arguments: Plant.allCases)
        func changesNothing(_ plant: Plant) throws {
            try plant.make(fixture)
            let before = try StateImage(of: fixture.state)
            for look in Self.looks {
                let client = try fixture.client()
                try client.send(look)
                _ = try client.rest()
                #expect(try StateImage(of: fixture.state) == before, "\(look.verb)")
            }
            let status = try fixture.status(of: .daemon)
            #expect((status.state == .valid) == !plant.endsLogin)
            #expect((status.refusal == nil) == !plant.endsLogin)
            #expect(try fixture.servers() == [plant.revokes ? .invalidated : .good])
            #expect(try fixture.statusParts(of: .daemon) == listed())
            #expect(!status.serversUnknown && !status.readersUnknown)
            guard plant.endsLogin else {
                #expect(try fixture.login(.daemon, with: "one").assertion != nil)
                return
            }
            // The login itself does, and says the same.
            let denied = try #require(try fixture.ask(.login(.daemon)).denial)
            #expect(denied.reason == status.refusal?.reason && denied.cause == status.cause)
            guard plant.revokes else { return }
            #expect(status.since == nil && denied.cause != nil)
            let after = try fixture.status(of: .daemon)
            #expect(after.cause == denied.cause && after.since != nil)
            #expect(Layout.entries(of: fixture.state + "/keys").contains("1.off"))
        }

        /// The answers to the requests that a status combines.
        private func listed() throws -> [Answer] {
            var items: [Answer] = []
            for request in [
                Request.serverList(account: Self.name), .signingKey(account: Self.name), .readers,
                .list(account: Self.name),
            ] {
                let client = try fixture.client()
                try client.send(request)
                items += try client.rest().filter { $0.done == nil && $0.denial == nil }
            }
            return items
        }

        @Test("reports a changed password, and the next login drops the stored one and says so")
        func stalePassword() throws {
            try fixture.changeShadow()
            #expect(try fixture.keyring() == .passwordChanged)
            let before = try StateImage(of: fixture.state)
            #expect(try fixture.keyring() == .passwordChanged)
            #expect(try StateImage(of: fixture.state) == before)
            let client = try fixture.client()
            let login = Request.login(.daemon, service: "login", wantsKeyring: true)
            #expect(try fixture.opened(by: login, client: client) == nil)
            #expect(client.heard.filter { $0.notice?.kind == .passwordStale }.count == 1)
        }

        @Test("sees a print that was put back, and the key opens again")
        func putBack() throws {
            let print = try #require(fixture.prints(of: .daemon).first)
            let bytes = try Layout.read(print)
            try DaemonFixture.damage(print)
            #expect(try fixture.status(of: .daemon).state == .invalidated)
            try DaemonFixture.write(bytes, to: print)
            #expect(try fixture.status(of: .daemon).state == .valid)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }
    }
}

/// All that lies in a directory: each file's contents, number and times.
private struct StateImage: Equatable {
    private var entries: [String: [UInt64]] = [:]
    private var contents: [String: [UInt8]] = [:]

    init(of path: String) throws {
        var status = stat()
        try #require(unsafe lstat(path, &status) == 0, "\(path)")
        let modified = status.st_mtim
        entries[path] = [
            UInt64(status.st_ino), UInt64(status.st_mode),
            UInt64(bitPattern: Int64(modified.tv_sec)),
            UInt64(bitPattern: Int64(modified.tv_nsec)),
        ]
        guard status.st_mode & S_IFMT == S_IFDIR else {
            contents[path] = try Layout.read(path)
            return
        }
        for name in Layout.entries(of: path) {
            let inner = try StateImage(of: "\(path)/\(name)")
            entries.merge(inner.entries) { $1 }
            contents.merge(inner.contents) { $1 }
        }
    }
}
