// SPDX-License-Identifier: Apache-2.0
import MainContext
import State

/// Completes changes that a crash or a disk fault has left unfinished.
///
/// An account's prints have to be opened for that, which is why the template keys come first.
@ServiceActor
final class AccountRecovery {
    let state: StateDirectory
    let accounts: Accounts
    let templates: TemplateKeys

    init(
        state: StateDirectory, accounts: Accounts, templates: TemplateKeys
    ) {
        self.state = state
        self.accounts = accounts
        self.templates = templates
    }
}

extension AccountRecovery {
    /// Recovers the accounts at which the disk failed. Those that still fail remain marked.
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

    /// Recovers all accounts. Called when the daemon starts, before it serves clients.
    func recover() async {
        for kept in state.unfinished() { await templates.openTemplates(of: kept) }
        state.recover()
    }
}
