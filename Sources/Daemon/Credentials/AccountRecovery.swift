// SPDX-License-Identifier: Apache-2.0
import Loop
import Store

/// Completes what a crash or a fault of the disk left half-made of accounts.
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
    /// Completes what faults of the disk left half-made, as far as the disk lets it now.
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

    /// Completes what a crash left half-made, before anybody is served.
    func recover() async {
        for kept in state.unfinished() { await templates.openTemplates(of: kept) }
        state.recover()
    }
}
