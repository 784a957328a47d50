import Loop
import Password
import Posix
import Wire

/// Has an account's password checked, in a process of its own, within a time limit.
struct PasswordProof {
    /// The program that checks.
    let program: String
    /// The longest time that it may take.
    let timeout: Duration

    /// Why the proof was not given; nil if the password was right.
    @ServiceActor
    func denial(for account: Account, from client: any Client) async -> Denial? {
        guard let password = await client.askPassword(of: Bytes(account.name.utf8)) else {
            return Denial(.cancelled)
        }
        switch await verdict(on: password, of: account) {
        case .right: return nil
        case .wrong, .denied: return Denial(.wrongPassword)
        case .fault: return Denial(.passwordCheckFailed)
        }
    }

    @ServiceActor
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
            if !ready.contains(.readable) { check.kill() }
            return check.finish()
        } catch {
            return .fault
        }
    }
}
