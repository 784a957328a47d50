// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Crypto
import Dispatch
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import Sealing
import Systemd

/// Touches of played fingers, for tests that open keys: through the same gate as everybody's, with a
/// scanner that finds what it is asked for.
package enum PlayedTouch {
    /// A touch of an account's, which nothing counts.
    package static func of(_ uid: UInt32) throws -> Touch<UInt32> {
        MainLoop.runInBackground()
        let outcome = Outcome()
        onService {
            do {
                outcome.result = .success(try await touch(uid))
            } catch { outcome.result = .failure(error) }
            outcome.ready.signal()
        }
        outcome.ready.wait()
        return try outcome.result.get()
    }

    fileprivate static func orTrouble(_ uid: UInt32) throws(VaultError) -> Touch<UInt32> {
        do {
            return try of(uid)
        } catch { throw .trouble(.failed("no touch could be played: \(error)")) }
    }

    // SAFETY: written before the semaphore is signalled, read after.
    private final class Outcome: @unchecked Sendable {
        let ready = DispatchSemaphore(value: 0)
        var result: Result<Touch<UInt32>, any Error> = .failure(Denial(.cancelled))
    }

    @ServiceActor private static func touch(_ uid: UInt32) async throws -> Touch<UInt32> {
        let (examiner, presence) = try PlayedTouch.presence(uid)
        let gate = TouchGate(
            PlayedScanner(), queue: TouchQueue(limit: 1), examiner: examiner,
            machine: AwakeMachine(), clock: .system)
        let applicant = Applicant(
            .touch, account: uid, asker: Asker("a test", by: presence.requester)
        ) { _ in true }
        let turn = try await gate.turn(for: applicant, within: .seconds(1))
        let request = TouchRequest(
            account: uid, query: uid, tries: 1, timeout: .seconds(30))
        return try await gate.touch(
            request, presence: presence, during: turn, counting: NoLedger(),
            interruptedBy: Interruption()
        ) { _ in }
    }

    /// A user who is at the machine, and who judges that.
    fileprivate static func presence(_ uid: UInt32) throws -> (PresenceExaminer, Presence) {
        let account = Account(name: "uid\(uid)", uid: uid, gid: uid, home: "/")
        let settings = try Configuration(
            files: [("the test", Array("[login]\nwithout-logind = any\n".utf8))])
        let examiner = PresenceExaminer(settings, facts: FactsWithoutLogind())
        let ends = try PacketSocket.pair()
        let client = try examiner.client(on: ends.first.descriptor)
        let presence = try examiner.evidence(
            for: client, account: account, claims: PresenceClaims(), others: .allowed)
        return (examiner, presence)
    }
}

/// Passwords that are right, for tests that open keys with them: through the same gate as
/// everybody's, with a judge that accepts each.
package enum PlayedPassword {
    /// A password of an account's, which nothing counts.
    package static func of(
        _ uid: UInt32, clock: Clock = .system
    ) throws -> PasswordProof<UInt32> {
        MainLoop.runInBackground()
        let outcome = Outcome()
        onService {
            do {
                let (examiner, presence) = try PlayedTouch.presence(uid)
                let gate = PasswordGate(
                    PlayedJudge(), examiner: examiner, machine: AwakeMachine(), clock: clock)
                outcome.result = .success(
                    try await gate.password(
                        of: uid, query: uid, presence: presence, counting: NoLedger()))
            } catch { outcome.result = .failure(error) }
            outcome.ready.signal()
        }
        outcome.ready.wait()
        return try outcome.result.get()
    }

    // SAFETY: written before the semaphore is signalled, read after.
    private final class Outcome: @unchecked Sendable {
        let ready = DispatchSemaphore(value: 0)
        var result: Result<PasswordProof<UInt32>, any Error> = .failure(Denial(.cancelled))
    }
}

/// Authorised changes of fingers, for tests that seal keys again: through the same gate as
/// everybody's, with a judge that consents.
package enum PlayedChange {
    /// An authorised change of an account's.
    package static func of(
        _ uid: UInt32, clock: Clock = .system
    ) throws -> AuthorizedChange {
        MainLoop.runInBackground()
        let outcome = Outcome()
        onService {
            do {
                let authorized = try await ChangeGate.authorized(
                    of: uid, query: uid, by: ConsentingJudge(), clock: clock)
                if let authorized { outcome.result = .success(authorized.change) }
            } catch { outcome.result = .failure(error) }
            outcome.ready.signal()
        }
        outcome.ready.wait()
        return try outcome.result.get()
    }

    // SAFETY: written before the semaphore is signalled, read after.
    private final class Outcome: @unchecked Sendable {
        let ready = DispatchSemaphore(value: 0)
        var result: Result<AuthorizedChange, any Error> = .failure(Denial(.cancelled))
    }
}

private struct ConsentingJudge: ChangeJudge {
    func consent(to query: UInt32) async throws(Denial) -> UInt32? { query }
}

private struct PlayedJudge: PasswordJudge {
    func typed(for query: UInt32) async throws(Denial) -> UInt32 { query }
    func verified(_ typed: UInt32, for query: UInt32) async throws(Denial) -> UInt32? { typed }
}

private struct PlayedScanner: FingerScanner {
    @ServiceActor func scan(
        _ query: UInt32, limit: Duration, tell: @escaping @ServiceActor (Notice) -> Void
    ) async throws(Denial) -> UInt32? { query }
}

private struct NoLedger: LockoutLedger {
    func check() {}
    func begin() -> any LockoutAttempt { NoAttempt() }
}

private struct NoAttempt: LockoutAttempt {
    func failed() {}
    func takeBack() {}
    func check() {}
    func succeeded() {}
}

@ServiceActor private final class AwakeMachine: SuspendState {
    let isSuspending = false
    let suspensions: UInt64 = 0
}

/// The machine's facts, as if logind did not run.
private struct FactsWithoutLogind: PresenceFacts {
    private let machine = MachineFacts()

    var hasLogind: Bool { false }
    var activeConsole: String? { nil }
    func hold(_ pid: Int32) throws(SystemFault) -> any HeldProcess { try machine.hold(pid) }
    func processes() throws(SystemFault) -> [Int32] { try machine.processes() }
    func place(of process: any HeldProcess) throws(SystemFault) -> ProcessOrigin {
        try machine.place(of: process)
    }
    func session(_ id: String) throws(SystemFault) -> LoginSession { try machine.session(id) }
    func displaySession(of uid: UInt32) throws(SystemFault) -> LoginSession? { nil }
    func sessionsInFront() throws(SystemFault) -> [LoginSession] { [] }
    func name(of uid: UInt32) -> AccountName? { nil }
    func uid(named name: AccountName) -> UInt32? { nil }
    func owner(ofSubordinate uid: UInt32) -> UInt32? { nil }
}

extension ReadyKey {
    /// Signs for a played touch of the account whose key it is.
    package func sign(
        _ message: [UInt8], _ context: SealingContext
    ) throws(VaultError) -> P256Signature {
        try sign(message, context: context, for: PlayedTouch.orTrouble(context.uid).match)
    }
}

extension ReadyData {
    /// Opens for a played touch of the account whose data it is.
    package func open(_ context: SealingContext) throws(VaultError) -> SecretBytes {
        try open(context, for: PlayedTouch.orTrouble(context.uid).match)
    }
}
