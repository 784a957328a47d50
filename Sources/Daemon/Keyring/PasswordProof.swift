// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol
import Loop
import Password
import Posix

/// Has an account's password checked, in a process of its own, within a time limit.
///
/// One check at a time for each account: nobody tries passwords side by side, or starts so many
/// processes that none is left for others.
@ServiceActor
final class PasswordProof {
    private let program: String
    private let timeout: Duration
    private var checking: Set<UInt32> = []

    /// Checks with `program`, which may take `timeout` at the most.
    init(program: String, timeout: Duration) {
        self.program = program
        self.timeout = timeout
    }

    /// The password, which was right; throws why the proof was not given.
    func proof(
        for account: Account, from client: any Client
    ) async throws(Denial) -> VerifiedPassword {
        guard let password = await client.askPassword(of: Bytes(account.name.utf8)) else {
            throw Denial(Task.isCancelled ? .cancelled : .timedOut)
        }
        guard !checking.contains(account.uid) else { throw Denial(.tooManyRequests) }
        // Where it cannot be read, the password is merely not watched.
        let entry = try? ShadowEntry.named(account.name)
        let verdict = await verdict(on: password, of: account)
        // Who went while the password was checked does not come back for what was asked.
        if Task.isCancelled { throw Denial(.cancelled) }
        switch verdict {
        case .right: return VerifiedPassword(secret: password, entry: entry)
        case .wrong, .denied:
            // Not before: for some accounts another module than pam_unix knows the password.
            let lack = (try? ShadowEntry.lack(of: account.name)) ?? nil
            guard let lack else { throw Denial(.wrongPassword) }
            throw Denial(.noPassword, subject: lack.detail.bytes)
        case .accountExpired: throw Denial(.accountExpired)
        case .passwordExpired: throw Denial(.passwordExpired)
        case .fault: throw Denial(.passwordCheckFailed)
        }
    }

    /// What the account's own check says of a password, within `limit` if that is the shorter time;
    /// `.fault` while another check of the account is under way.
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

    /// Waits though the caller's task may be cancelled: to reap one that still runs would block.
    private func end(of process: Int32) async {
        await withCheckedContinuation { continuation in
            onService {
                _ = await FileWatch.ready(process, for: .readable)
                continuation.resume()
            }
        }
    }
}

extension PasswordLack {
    /// As a denial says it.
    fileprivate var detail: Text {
        switch self {
        case .none: Detail.passwordNone
        case .locked: Detail.passwordLocked
        }
    }
}
