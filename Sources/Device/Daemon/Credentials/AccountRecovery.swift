// SPDX-License-Identifier: Apache-2.0
import MainContext
import State

/// Completes changes that a crash or a disk fault has left unfinished.
///
/// Each change takes effect with one write; what follows it, such as publishing the public key or
/// deleting old files, is repeated here. An account's prints have to be readable for that, so the
/// template keys are opened first.
@ServiceActor
final class AccountRecovery {
    let state: StateDirectory
    let accounts: Accounts
    let templates: TemplateKeyOpener

    init(
        state: StateDirectory, accounts: Accounts, templates: TemplateKeyOpener
    ) {
        self.state = state
        self.accounts = accounts
        self.templates = templates
    }
}

extension AccountRecovery {
    /// Recovers the accounts at which the disk failed since the daemon started.
    ///
    /// Accounts that cannot be recovered yet stay marked, and are tried again before the next
    /// request.
    func recoverFaultedAccounts() async {
        for uid in accounts.faultedAccounts {
            guard let kept = try? state.account(uid: uid) else { continue }
            await templates.openTemplates(of: kept)
            do throws(StoreFault) {
                try kept.recover()
                accounts.noteRecovery(of: uid)
            } catch { continue }
        }
    }

    /// Recovers all accounts.
    ///
    /// Called once when the daemon starts, before it accepts clients.
    func recover() async {
        for kept in state.unfinished() { await templates.openTemplates(of: kept) }
        state.recover()
    }
}
