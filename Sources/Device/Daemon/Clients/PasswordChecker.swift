// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import Gate
import LoginMessages
import LoginProtocol
import MainContext
import PasswordCheck
import Posix

/// A password that libpam has just accepted for its account.
///
/// Only `PasswordChecker` can create one, after libpam's verdict. Functions that take one need not
/// check the password again.
struct VerifiedPassword: Sendable {
    let secret: SecretBytes
    /// The shadow(5) entry from before the check, so that a change in between is noticed later.
    ///
    /// Nil if the account has none that can be read.
    let entry: ShadowEntry?
    /// Evidence that it was given for this request, with which the request may change fingers.
    ///
    /// Nil if it was reported by a program or confirms something else.
    let change: AuthorizedChange?

    fileprivate init(
        _ secret: SecretBytes, entry: ShadowEntry?, change: AuthorizedChange? = nil
    ) {
        self.secret = secret
        self.entry = entry
        self.change = change
    }
}

/// The account whose password is asked for in place of a finger, and the client that is asked.
struct PasswordQuery: Sendable {
    let account: Account
    let client: any Client
}

/// Checks an account's password with libpam, in the separate process `verify-password` and within a
/// time limit.
///
/// There is one check at a time for each account, so that no user can try passwords in parallel or
/// use up the processes that others need.
@ServiceActor
final class PasswordChecker {
    private let program: String
    private let timeout: Duration
    private let clock: Clock
    /// The uids of the accounts whose password is being checked.
    private var checking: Set<UInt32> = []

    /// Sets the program that checks, and its time limit.
    init(program: String, timeout: Duration, clock: Clock) {
        self.program = program
        self.timeout = timeout
        self.clock = clock
    }

    /// Asks the client for the account's password and checks it.
    ///
    /// - Returns: the password, which libpam has accepted.
    /// - Throws: `wrongPassword`; `noPassword` if the account has none that could be right;
    ///   `accountExpired` or `passwordExpired`; `tooManyRequests` while another check of the
    ///   account runs; `timedOut` or `cancelled` if none was given; `passwordCheckFailed`.
    func proof(
        for account: Account, from client: any Client
    ) async throws(Denial) -> VerifiedPassword {
        let authorized = try await ChangeGate.authorized(
            of: account.uid, query: PasswordQuery(account: account, client: client), by: self,
            clock: clock)
        guard let authorized else { throw Denial(.wrongPassword) }
        let password = authorized.consent
        return VerifiedPassword(
            password.secret, entry: password.entry, change: authorized.change)
    }

    /// Asks for a password and checks it, as `proof` does; nil if it is wrong.
    private func given(
        for account: Account, by client: any Client
    ) async throws(Denial) -> VerifiedPassword? {
        guard let password = await client.askPassword(of: AccountName(account.name)) else {
            throw Denial(Task.isCancelled ? .cancelled : .timedOut)
        }
        guard !checking.contains(account.uid) else { throw Denial(.tooManyRequests) }
        // If it cannot be read, changes of the password go unnoticed; nothing else depends on it.
        let entry = try? ShadowEntry.named(account.name)
        let verdict = await verdict(on: password, of: account)
        // A client that left during the check cannot use the result.
        if Task.isCancelled { throw Denial(.cancelled) }
        guard try isRight(verdict, of: account) else { return nil }
        return VerifiedPassword(password, entry: entry)
    }

    /// Whether a verdict says that the password is right; throws unless it says right or wrong.
    private func isRight(
        _ verdict: PasswordVerdict, of account: Account
    ) throws(Denial) -> Bool {
        switch verdict {
        case .right: return true
        case .wrong, .denied:
            // Look only now, because for some accounts another module than pam_unix knows the
            // password.
            let lack = (try? ShadowEntry.lack(of: account.name)) ?? nil
            guard let lack else { return false }
            throw Denial(.noPassword, subject: lack.detail.bytes)
        case .accountExpired: throw Denial(.accountExpired)
        case .passwordExpired: throw Denial(.passwordExpired)
        case .fault: throw Denial(.passwordCheckFailed)
        }
    }

    /// Checks a password that a program has reported; nil unless libpam accepts it.
    ///
    /// `entry` is the account's shadow(5) entry, read before this call.
    func verified(
        _ password: SecretBytes, of account: Account, entry: ShadowEntry?
    ) async -> VerifiedPassword? {
        guard await verdict(on: password, of: account) == .right else { return nil }
        return VerifiedPassword(password, entry: entry)
    }

    /// Asks libpam whether a password is right.
    ///
    /// - Parameter limit: shortens the time limit for this check.
    /// - Returns: libpam's verdict; `.fault` on timeout, on failure, and while another check of the
    ///   account runs.
    func verdict(
        on password: SecretBytes, of account: Account, within limit: Duration = .seconds(300)
    ) async -> PasswordVerdict {
        guard checking.insert(account.uid).inserted else { return .fault }
        defer { checking.remove(account.uid) }
        do throws(PasswordFault) {
            let check = try password.withBytes { bytes throws(PasswordFault) in
                try PasswordCheck.start(
                    account: account.name, password: Span(_bytes: bytes), program: program)
            }
            let process = check.descriptor
            let (ready, _) = await limited(to: min(timeout, limit)) {
                await FileWatch.ready(process, for: .readable)
            }
            if !ready.contains(.readable) {
                check.kill()
                await end(of: process)
            }
            return check.finish()
        } catch {
            return .fault
        }
    }

    /// Waits for the process to end, even if the caller's task was cancelled.
    ///
    /// Reaping a process that still runs would block.
    private func end(of process: Int32) async {
        await withCheckedContinuation { continuation in
            onService {
                _ = await FileWatch.ready(process, for: .readable)
                continuation.resume()
            }
        }
    }
}

extension PasswordChecker: ChangeJudge {
    /// Asks the client for the account's password; nil if it is wrong.
    func consent(to query: PasswordQuery) async throws(Denial) -> VerifiedPassword? {
        try await given(for: query.account, by: query.client)
    }
}

extension PasswordChecker: PasswordJudge {
    /// Asks the client for the password.
    func typed(for query: PasswordQuery) async throws(Denial) -> SecretBytes {
        guard let password = await query.client.askPassword(of: AccountName(query.account.name))
        else { throw Denial(Task.isCancelled ? .cancelled : .timedOut) }
        return password
    }

    /// Has libpam check a password; nil if it is wrong.
    ///
    /// Unlike `proof`, it reports a wrong password even to a client that has gone, since it counts.
    /// A password that libpam can neither accept nor reject is thrown, and does not count.
    func verified(
        _ typed: SecretBytes, for query: PasswordQuery
    ) async throws(Denial) -> VerifiedPassword? {
        guard !checking.contains(query.account.uid) else { throw Denial(.tooManyRequests) }
        let entry = try? ShadowEntry.named(query.account.name)
        let verdict = await verdict(on: typed, of: query.account)
        guard try isRight(verdict, of: query.account) else { return nil }
        return VerifiedPassword(typed, entry: entry)
    }
}

extension PasswordLack {
    /// The text for the denial.
    fileprivate var detail: Text {
        switch self {
        case .none: Detail.passwordNone
        case .locked: Detail.passwordLocked
        }
    }
}
