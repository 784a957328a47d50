// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Posix
import Store
import Vault

/// The one place where faults become denials.
extension Service {
    /// Runs what reads or writes the disk; a fault is recorded and thrown as a denial.
    func reading<Value, Fault: Error>(
        _ account: Account, _ body: () throws(Fault) -> Value
    ) throws(Denial) -> Value {
        do {
            return try body()
        } catch { throw denial(for: error, account) }
    }

    /// Runs what takes time and reads or writes the disk, in the same way.
    func answering<Value, Fault: Error>(
        _ account: Account, _ body: () async throws(Fault) -> Value
    ) async throws(Denial) -> Value {
        do {
            return try await body()
        } catch { throw denial(for: error, account) }
    }

    /// The denial that an error becomes.
    func denial(for error: any Error, _ account: Account) -> Denial {
        switch error {
        case let denial as Denial: return denial
        case let fault as StoreFault: return denial(for: fault, account)
        case let error as VaultError: return denial(for: .vault(error), account)
        case let fault as SystemFault: return denial(for: .file(.system(fault)), account)
        default:
            journal.fault("\(error)", account: account.name)
            return Denial(.storage)
        }
    }

    /// The denial that a fault of the disk becomes, after it was recorded.
    func denial(for fault: StoreFault, _ account: Account) -> Denial {
        journal.fault(fault.description, account: account.name)
        if case .file = fault { faultedAccounts.insert(account.uid) }
        switch fault {
        case .vault(let error): return Denial(of: error)
        case .closed(let error):
            return Denial(
                .fingersClosed, subject: Bytes(error.description.utf8.prefix(Limit.text)))
        case .changedMeanwhile: return Denial(.badRequest)
        default: break
        }
        return Denial(.storage, subject: Bytes(fault.description.utf8.prefix(Limit.text)))
    }
}

extension Denial {
    /// Why a vault could not be used, for the person.
    init(of error: VaultError, mismatches: UInt8 = 0) {
        switch error {
        case .trouble(.platformChanged): self.init(.platformChanged, mismatches: mismatches)
        case .doesNotOpen, .malformed, .crypto, .trouble:
            self.init(
                .vaultUnavailable, subject: Bytes(error.description.utf8.prefix(Limit.text)),
                mismatches: mismatches)
        }
    }
}
