// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// What people do with their fingers.
extension DaemonFixture {
    static let storageID = "virtual_device_storage:0"
    static let textID = "virtual_device:0"

    /// Enrols as root; the reader is scanned once before, where it is asked whose finger it is.
    @discardableResult
    func enrol(
        _ person: Person, _ finger: Finger = .rightIndex, as id: String, on reader: String? = nil,
        checking: Bool = false
    ) throws -> Answer {
        let client = try client()
        try client.send(
            .enroll(
                account: person.account, finger: finger, readerID: reader.map { Bytes($0.utf8) }))
        return try scanEnrolment(client, as: id, on: reader, checking: checking)
    }

    /// A fixture with two readers, and a finger of the account `daemon`'s on each: `one` on the reader
    /// that keeps prints, `two` on the other.
    static func withTwoReaders() throws -> DaemonFixture {
        let fixture = try DaemonFixture([.storage, .text])
        try fixture.enrol(.daemon, .rightIndex, as: "one", on: storageID)
        try fixture.enrol(.daemon, .leftIndex, as: "two", on: textID)
        return fixture
    }

    /// A login at both readers, of which the first is unplugged before a finger touches the other.
    func loginUnplugging() throws -> Answer {
        let client = try client()
        try client.send(.login(.daemon, tries: 1))
        try client.wait(for: .touch)
        try client.wait(for: .touch)
        try storage.send(.unplug)
        try text.send(.scan("two"))
        return try client.last()
    }

    /// The person's part of an enrolment that was asked for.
    func scanEnrolment(
        _ client: TestClient, as id: String, on reader: String? = nil, checking: Bool = false
    ) throws -> Answer {
        let person = person(at: reader)
        if checking {
            try client.wait(for: .touch)
            try person.send(.scan(id))
        }
        while let answer = try client.next() {
            if answer.isLast { return answer }
            guard let notice = answer.notice, notice.kind == .touch, notice.total != nil
            else { continue }
            for _ in 0..<5 { try person.send(.scan(id)) }
            return try client.last()
        }
        throw ClientFault.ended(client.heard)
    }

    func person(at reader: String?) -> VirtualReader {
        guard let reader else { return kinds.first == .text ? text : storage }
        return reader == DaemonFixture.textID ? text : storage
    }

    /// Asks for a touch, touches with these fingers, one a notice, and gives the last answer.
    func touch(
        _ request: Request, with ids: [String], client: TestClient? = nil,
        at person: VirtualReader? = nil
    ) throws -> Answer {
        let (given, client) = (client, try client ?? self.client())
        try client.send(request)
        for id in ids {
            try client.wait(for: .touch)
            try (person ?? self.person(at: nil)).send(.scan(id))
        }
        return try concluded(try client.last(), on: given == nil ? client : nil)
    }

    /// Confirms a proof as the PAM module does, if no one else has the connection: what the touch
    /// leaves to write is written then, and not only when the daemon has waited for the question.
    private func concluded(_ answer: Answer, on client: TestClient?) throws -> Answer {
        if answer.assertion != nil, let client { _ = try client.confirm() }
        return answer
    }

    /// Asks for a touch, and touches with this finger as often as it is wanted; throws where the
    /// reader is gone for `limit` when it should be touched.
    func touchEach(
        _ request: Request, with id: String, within limit: Duration = .seconds(20),
        client: TestClient? = nil
    ) throws -> Answer {
        let (given, client) = (client, try client ?? self.client())
        try client.send(request)
        while let answer = try client.next() {
            if answer.isLast { return try concluded(answer, on: given == nil ? client : nil) }
            if answer.notice?.kind == .touch {
                try person(at: nil).send(.scan(id), within: limit)
            }
        }
        throw ClientFault.ended(client.heard)
    }

    /// A login that has asked for its one touch.
    func begin(
        _ person: Person = .daemon, milliseconds: UInt32 = 30_000
    ) throws -> TestClient {
        let client = try client()
        try client.send(.login(person, tries: 1, milliseconds: milliseconds))
        try client.wait(for: .touch)
        return client
    }

    /// What a login comes to; one that is granted is confirmed.
    func conclude(_ client: TestClient, within limit: Duration = .seconds(20)) throws -> Answer {
        try concluded(try client.last(within: limit), on: client)
    }

    /// An account's failed matches, when what is written behind an answer is on disk.
    func settledFailures(of person: Person = .daemon) throws -> UInt32 {
        _ = try status(of: person)
        return try failures(of: person)
    }

    /// A login with one touch.
    func login(_ person: Person, with id: String, challenge: UInt8 = 7) throws -> Answer {
        try touch(.login(person, challenge: challenge, tries: 1), with: [id])
    }
}
