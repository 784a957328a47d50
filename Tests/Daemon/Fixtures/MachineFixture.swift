// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// The machine around a daemon: a message bus with logind on it, sleep, and a lid.
final class MachineFixture {
    let bus: PrivateBus
    private(set) var logind: TestSupport.Program

    init(_ fixture: DaemonFixture) throws {
        bus = try PrivateBus(socket: fixture.directory + "/bus")
        logind = try bus.startLogind()
    }

    deinit { logind.signal(SIGKILL) }

    /// Ends logind at once, and starts another one if wanted.
    func restartLogind(_ isWanted: Bool = true) throws {
        logind.signal(SIGKILL)
        try logind.expectEnd()
        if isWanted { logind = try bus.startLogind() }
    }
}

extension DaemonFixture {
    /// Unplugs a reader that is in use; it is not found again before `plugIn`.
    func unplug(_ reader: VirtualReader) throws {
        try Self.write("", to: reader.unpluggedMark)
        try reader.send(.unplug)
    }

    /// Plugs a reader in again, without a notice: it is found when readers are looked for.
    func plugIn(_ reader: VirtualReader) {
        unsafe unlink(reader.unpluggedMark)
    }

    /// Puts another reader of the same kind in the place of one that is not in use, and that does not
    /// open any more. Nobody is told.
    func exchange(_ reader: VirtualReader) throws {
        try Self.write("", to: reader.other.path)
        try obstruct(reader)
    }

    /// Has a reader that is not in use not open any more.
    func obstruct(_ reader: VirtualReader) throws {
        // A reader that was closed leaves its socket behind.
        unsafe unlink(reader.path)
        try #require(unsafe mkdir(reader.path, 0o755) == 0)
    }

    /// What a lid says to the kernel.
    func setLid(_ text: String) throws {
        unsafe mkdir(directory + "/lids", 0o755)
        unsafe mkdir(directory + "/lids/LID0", 0o755)
        try Self.write(text, to: directory + "/lids/LID0/state")
    }

    /// The requests that want a touch of the account `daemon`'s, which has a secret `mail`.
    static let touches: [Request] = [
        .login(.daemon, tries: 1),
        .verify(account: Person.daemon.account, timeoutMilliseconds: 30_000), .get("mail"),
    ]

    /// Waits until the daemon knows that the machine sleeps.
    func awaitSleep() throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while try ask(.login(.daemon, milliseconds: 100)) != .denial(Denial(.suspending)) {
            try #require(ContinuousClock.now < deadline)
        }
    }

    /// A login that goes on as soon as the daemon knows that the machine is awake.
    func loginAwake(_ reader: VirtualReader) throws -> Answer {
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            let client = try client()
            try client.send(.login(.daemon, tries: 1))
            while let answer = try client.next() {
                if answer.reason == .suspending, ContinuousClock.now < deadline { break }
                if answer.isLast { return answer }
                if answer.notice?.kind == .touch { try reader.send(.scan("one")) }
            }
        }
    }
}
