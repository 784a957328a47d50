import Loop
import Password
import Posix
import Wire

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

    /// Why the proof was not given; nil if the password was right.
    func denial(for account: Account, from client: any Client) async -> Denial? {
        guard let password = await client.askPassword(of: Bytes(account.name.utf8)) else {
            return Denial(Task.isCancelled ? .cancelled : .timedOut)
        }
        guard checking.insert(account.uid).inserted else { return Denial(.tooManyRequests) }
        defer { checking.remove(account.uid) }
        let verdict = await verdict(on: password, of: account)
        // Who went while the password was checked does not come back for what was asked.
        if Task.isCancelled { return Denial(.cancelled) }
        switch verdict {
        case .right: return nil
        case .wrong, .denied: return Denial(.wrongPassword)
        case .fault: return Denial(.passwordCheckFailed)
        }
    }

    private func verdict(on password: SecretBytes, of account: Account) async -> PasswordVerdict {
        do throws(PasswordFault) {
            let check = try password.withBytes { bytes throws(PasswordFault) in
                try PasswordCheck.start(
                    account: account.name, password: Span(_bytes: bytes), program: program)
            }
            let process = check.descriptor
            let (ready, _) = await limited(to: timeout) {
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
