// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import State

/// Records what readers report about an account's prints while a finger is awaited, so that `signet
/// status`, `list` and `doctor` can say afterwards what the prompt has said.
///
/// It decides nothing about a touch; a fault is logged.
@ServiceActor
struct PrintReports {
    let account: Account
    let kept: AccountState
    let accounts: Accounts
    let journal: DecisionJournal

    /// Records and logs that a reader no longer stores a print.
    func lost(_ print: StoredPrint) {
        change { list in
            let isNew = list.add(print.identifier, now: accounts.instant)
            if isNew {
                journal.fault(
                    """
                    the reader \(String(decoding: print.reader, as: UTF8.self)) no longer stores the \
                    print of \(print.finger.name.description)
                    """, account: account.name)
            }
            return isNew
        }
    }

    /// Records that a reader has found a print that was reported as lost.
    func found(_ print: StoredPrint) { change { $0.remove(print.identifier) } }

    private func change(_ body: (inout LostPrintList) -> Bool) {
        do throws(StoreFault) {
            var list = try kept.lostPrints.load()
            guard body(&list) else { return }
            list.keep(only: try kept.prints.enrolment().prints.map(\.identifier))
            try kept.lostPrints.save(list)
        } catch { journal.fault(error.description, account: account.name) }
    }
}
