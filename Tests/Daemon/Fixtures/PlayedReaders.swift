// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

extension PlayedReader.Model {
    /// Whether it lists what it stores. synaptics does not: what it has lost shows in a comparison,
    /// and a print that another system left, nowhere.
    var lists: Bool { self != .synaptics }

    /// Whether its driver frees the error of what failed, and then uses it (libfprint #526, mended in
    /// 1.94.6): the process of the readers ends, or the error is another.
    var diesOfFailures: Bool { self == .fpcmoc && Self.isBefore1946 }

    private static let isBefore1946: Bool = {
        let command = Command(["pkg-config", "--modversion", "libfprint-2"])
        let version = (try? TestSupport.Program(command).expectEnd().output) ?? ""
        let parts = version.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
        return parts.lexicographicallyPrecedes([1, 94, 6])
    }()
}

/// A daemon with one played reader that libfprint's own driver drives.
final class PlayedFixture {
    let fixture: DaemonFixture
    let reader: PlayedReader
    private let scratch: Scratch

    /// Starts the daemon, and enrols a finger of `daemon`'s.
    init(_ model: PlayedReader.Model, enrolled id: String? = nil) throws {
        scratch = try Scratch()
        reader = PlayedReader(model, in: scratch.path)
        fixture = try DaemonFixture([], wrapper: reader.wrapper)
        if let id { #expect(try enrol(as: id).done?.prints == 1) }
    }

    /// Enrols a finger; `checking` where it is asked whose it is before.
    @discardableResult
    func enrol(
        _ person: Person = .daemon, _ finger: Finger = .rightIndex, as id: String,
        checking: Bool = false
    ) throws -> Answer {
        try enrol(person, finger, as: id, checking: checking, by: try fixture.client())
    }

    /// Enrols a finger, for a client that hears all of it.
    @discardableResult
    func enrol(
        _ person: Person = .daemon, _ finger: Finger = .rightIndex, as id: String,
        checking: Bool = false, by client: TestClient
    ) throws -> Answer {
        try client.send(.enroll(account: person.account, finger: finger, readerID: nil))
        var (isAsked, isScanning) = (false, false)
        while let answer = try client.next() {
            if answer.isLast { return answer }
            // Where the driver has crashed, all of it is asked for again.
            if answer.notice?.retry == .restarted { (isAsked, isScanning) = (false, false) }
            guard answer.notice?.kind == .touch else { continue }
            if answer.notice?.total == nil {
                guard checking, !isAsked else { continue }
                isAsked = true
                try touch(id, 1)
            } else if !isScanning {
                isScanning = true
                try touch(id, reader.model.stages)
            }
        }
        throw ClientFault.ended(client.heard)
    }

    /// Puts a finger on so many times; where the driver may have died of it, as far as it is taken.
    private func touch(_ id: String, _ count: Int) throws {
        for _ in 0..<count {
            if reader.model.diesOfFailures {
                try? reader.send(.brush(id), within: .seconds(1))
            } else {
                try reader.send(.touch(id))
            }
        }
    }

    /// A login that has asked for a finger.
    func begin(_ person: Person = .daemon, milliseconds: UInt32 = 30_000) throws -> TestClient {
        try fixture.begin(person, milliseconds: milliseconds)
    }

    /// What a login comes to; one that is granted is confirmed.
    func conclude(_ client: TestClient, within limit: Duration = .seconds(20)) throws -> Answer {
        try fixture.conclude(client, within: limit)
    }

    /// A login with one touch.
    func login(_ person: Person = .daemon, with id: String) throws -> Answer {
        let client = try begin(person)
        try reader.send(.touch(id))
        return try conclude(client)
    }

    /// The failed matches of `daemon`, when what is written behind an answer is on disk.
    var failures: UInt32 { get throws { try fixture.settledFailures() } }

    // MARK: Drivers that fail

    /// Has something be as it was.
    func mend(_ fault: PlayedReader.Fault) throws { try settle(.mend(fault)) }

    /// Has something happen where the process of the readers may have ended: in its next one then,
    /// which this starts.
    func settle(_ command: PlayedReader.Command) throws {
        _ = try fixture.ask(.readers)
        try give(command)
    }

    /// Has something happen. A process that ends over an earlier fault may do so at any time, and
    /// nothing starts the next one before it is needed.
    func give(_ command: PlayedReader.Command) throws {
        let end = ContinuousClock.now + .patience
        while true {
            do throws(TestFault) {
                return try reader.send(command, within: .seconds(5))
            } catch .deadline where ContinuousClock.now < end {
                _ = try fixture.ask(.readers)
            }
        }
    }

    /// Checks why something is not granted; where a driver dies of what fails, only that it is not.
    func expect(
        _ reason: DenialReason, at location: SourceLocation = #_sourceLocation,
        _ body: () throws -> Answer
    ) throws {
        let answer = try body()
        guard reader.model.diesOfFailures else {
            #expect(answer.reason == reason, sourceLocation: location)
            return
        }
        #expect(answer.denial != nil, sourceLocation: location)
    }

    /// Checks that nothing was counted as an attempt.
    func expectNoFailures(at location: SourceLocation = #_sourceLocation) throws {
        #expect(try failures == 0, sourceLocation: location)
    }

    /// A request of root's, with a touch of this finger whenever one is wanted.
    func touching(
        _ request: Request, with id: String, within limit: Duration = .seconds(30)
    ) throws -> Answer {
        let end = ContinuousClock.now + limit
        let client = try fixture.client()
        try client.send(request)
        while let answer = try client.next(within: end - ContinuousClock.now) {
            if answer.assertion != nil { _ = try client.confirm() }
            if answer.isLast { return answer }
            guard answer.notice?.kind == .touch else { continue }
            // Where the process of the readers has ended meanwhile, it is not received.
            try? reader.send(.brush(id), within: .seconds(1))
        }
        throw ClientFault.ended(client.heard)
    }

    /// Checks that the next touch of an enrolled finger is taken, or else the one after it: where a
    /// driver does not give its reader back, the process of the readers ends over it. True where it took
    /// two.
    @discardableResult
    func expectRecovery(
        with id: String, after what: String, at location: SourceLocation = #_sourceLocation
    ) throws -> Bool {
        let login = Request.login(.daemon, tries: 1, milliseconds: 7_000)
        let first = try touching(login, with: id)
        if first.assertion != nil { return false }
        if first.reason == .invalidated {
            // A list in which a print is missing says that the reader has lost it.
            let enabled = try fixture.ask(.enable(account: Person.daemon.account))
            #expect(enabled.done?.state == .valid, "\(what)", sourceLocation: location)
        }
        let second = try touching(login, with: id)
        #expect(
            second.assertion != nil, "\(what): \(first), then \(second)",
            sourceLocation: location)
        return first.reason != .invalidated
    }
}
