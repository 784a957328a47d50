// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// A daemon on a bus, with polkit and the user of `signet-fprint`, who is `bin` here.
final class DesktopFixture {
    let daemon: DaemonFixture
    let bus: PrivateBus
    let polkit: PlayedPolkit

    /// Starts them; a finger of the account `daemon`'s, `one`, is enrolled if wanted.
    init(
        _ kinds: [DaemonFixture.Kind] = [.storage], configuration: String = "",
        enrolled: Bool = true, failpoint: Failpoint? = nil
    ) throws {
        daemon = try DaemonFixture(
            kinds, configuration: configuration, failpoint: failpoint,
            arguments: ["--desktop-user", "bin"])
        bus = try PrivateBus(socket: daemon.directory + "/bus")
        polkit = try PlayedPolkit.start(on: bus)
        if enrolled { try #require(try daemon.enrol(.daemon, as: "one").done?.state == .valid) }
    }

    deinit { try? polkit.end() }

    /// A connection of `signet-fprint` to the daemon.
    func interface() throws -> TestClient { try daemon.client(.bin) }

    /// The programs on the bus, which stay there until they are ended.
    private var programs: [BusProgram] = []

    /// A program of a user's that is on the bus.
    func program(of person: Person) throws -> BusProgram {
        let program = try BusProgram(of: person, on: bus)
        programs.append(program)
        return program
    }

    /// Asks as `signet-fprint`.
    func ask(_ request: any DaemonRequest) throws -> Answer {
        try interface().ask(Request(request))
    }

    /// A verification that waits for a finger.
    func verify(
        _ program: BusProgram, finger: Finger? = nil
    ) throws -> TestClient {
        let client = try beginVerification(program, finger: finger)
        try client.wait(for: .touch)
        return client
    }

    /// A verification that waits for polkit, which says nothing until it is told to proceed.
    func verifyAwaitingPolkit(_ program: BusProgram) throws -> TestClient {
        try polkit.set(PlayedPolkit.verify, .silent)
        let client = try beginVerification(program, finger: nil)
        try polkit.awaitChecks(1)
        return client
    }

    private func beginVerification(
        _ program: BusProgram, finger: Finger?
    ) throws -> TestClient {
        let client = try interface()
        try client.send(
            Request(
                DesktopVerifyRequest(
                    client: program.name, account: Person.daemon.account, finger: finger)))
        return client
    }

    /// Enrols a finger for the account `daemon`'s, as its program asks for; it is always compared
    /// first, unless the reader cannot.
    func enrol(
        _ program: BusProgram, _ finger: Finger, as id: String, checking: Bool = true
    ) throws -> Answer {
        let client = try interface()
        try client.send(
            Request(
                DesktopEnrollRequest(
                    client: program.name, account: Person.daemon.account, finger: finger,
                    readerID: nil)))
        return try daemon.scanEnrolment(client, as: id, checking: checking)
    }
}

extension DaemonFixture {
    /// The namespaces of the account `daemon`'s receipts, in their order.
    func namespaces() throws -> [Bytes] { try verifiedReceipts().map(\.namespace) }
}

/// A program that is on a bus and does nothing there.
final class BusProgram {
    let name: BusClientName
    private let program: TestSupport.Program

    init(of person: Person, on bus: PrivateBus) throws {
        program = try TestSupport.Program(
            Command([
                "setpriv", "--reuid", "\(person.uid)", "--regid", "\(person.uid)",
                "--clear-groups", "gdbus", "monitor", "--address", "unix:path=\(bus.socket)",
                "--dest", "org.signet.Nobody",
            ]))
        try program.expect("Monitoring signals")
        let (socket, pid) = (bus.socket, program.pid)
        let names = try bus.names()
        let found = try waiting { () async throws -> String? in
            let connection = try await BusConnection.connect(socket: socket, limit: .seconds(10))
            defer { connection.close() }
            for name in names {
                let owner = try? await connection.credentials(of: name, limit: .seconds(10))
                if owner?.pid == pid { return name }
            }
            return nil
        }
        name = try #require(found.flatMap(BusClientName.init))
    }

    deinit { program.signal(SIGKILL) }

    /// Ends it, and waits until it has ended.
    func end() throws {
        program.signal(SIGKILL)
        try program.expectEnd()
    }
}
