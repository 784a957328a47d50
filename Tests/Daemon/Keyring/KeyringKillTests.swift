// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Old or new or none, never another: the daemon dies at every step of what changes the password.
@Suite("the login password for the keyring, the daemon stopped at every step of", .serialized)
struct KeyringKillTests {
    private static let name = Person.daemon.account

    private struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var endsLogin = false
        let run: @Sendable (DaemonFixture) throws -> Answer
    }

    private static let changes: [Change] = [
        Change(testDescription: "enable --keyring") { try $0.give("right new") },
        Change(testDescription: "a changed password") { try $0.report("right new") },
        Change(testDescription: "a changed password that is wrong") { try $0.report("wrong") },
        Change(testDescription: "enable --no-keyring") {
            try $0.ask(.enable(account: name, keyring: false))
        },
        Change(testDescription: "enable") {
            try $0.give("right new", to: .enable(account: name), as: .daemon)
        },
        Change(testDescription: "a finger deleted by the account") {
            try $0.give(
                "right new", to: .delete(account: name, finger: .leftIndex), as: .daemon)
        },
        Change(testDescription: "a finger deleted by root") {
            try $0.ask(.delete(account: name, finger: .leftIndex))
        },
        Change(testDescription: "disable", endsLogin: true) {
            try $0.ask(.disable(account: name))
        },
    ]

    /// What a login finds: no login, or the password that comes with it.
    private enum Found: Equatable {
        case denied
        case allowed(String?)
    }

    private func found(_ fixture: DaemonFixture) throws -> Found {
        let isOn = try fixture.keyring() == .on
        let client = try fixture.client()
        let answer = try fixture.touchEach(
            .login(.daemon, service: "login", tries: 1, wantsKeyring: true), with: "one",
            client: client)
        guard answer.assertion != nil else {
            #expect(!isOn, "\(answer)")
            return .denied
        }
        let password = try client.confirmedPassword()
        // What is done behind the answer.
        _ = try fixture.keyring()
        #expect((password != nil) == isOn)
        return .allowed(password.map { String(decoding: $0, as: UTF8.self) })
    }

    @Test("a change leaves the old one, the new one or none", arguments: changes.indices)
    func killed(_ index: Int) throws {
        let change = Self.changes[index]
        let scratch = try Scratch()
        let failpoint = try Failpoint(path: scratch.at("failpoint"))
        let fixture = try DaemonFixture([.text], failpoint: failpoint)
        try fixture.enrol(.daemon, .rightIndex, as: "one")
        try fixture.enrol(.daemon, .leftIndex, as: "two")
        try fixture.give("right old")
        let snapshot = try Snapshot(fixture)
        failpoint.arm()
        _ = try change.run(fixture)
        let points = failpoint.reached
        let after = try found(fixture)
        #expect(points >= 3 && after != .allowed("right old"))
        #expect((after == .denied) == change.endsLogin)
        for point in 1...points {
            let answer = try snapshot.kill(at: point, failpoint, change.run)
            let now = try found(fixture)
            let possible: [Found] = [after, .allowed("right old"), .allowed(nil), .denied]
            #expect(possible.contains(now), "\(change.testDescription), \(point): \(now)")
            if answer != nil { #expect(now == after, "\(change.testDescription), \(point)") }
            // Where login is off, root turns it on again without the password: so without this one.
            if now == .denied {
                _ = try fixture.ask(.enable(account: Self.name))
                #expect(try found(fixture) == .allowed(nil), "\(change.testDescription), \(point)")
            }
            // And it can be made again.
            #expect(try fixture.give("right again").done?.keyring == .on)
            #expect(try found(fixture) == .allowed("right again"))
        }
        print("\(change.testDescription): killed at each of \(points) points")
    }
}
