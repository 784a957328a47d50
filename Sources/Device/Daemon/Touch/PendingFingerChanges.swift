// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import MainContext
import Posix

/// The changes of fingers that polkit is being asked to authorise.
///
/// polkit's helper authenticates through PAM, so it would ask for a touch. While a change waits for
/// it, every login of the helper that could authorise the change is denied, and the password is
/// left: a touch can never add or delete a finger.
@ServiceActor
final class PendingFingerChanges {
    private struct Change {
        let account: UInt32
        let requester: UInt32
    }

    private var changes: [UInt64: Change] = [:]
    private var lastNumber: UInt64 = 0

    init() {}

    /// Runs `body`, during which the helper's logins are denied.
    ///
    /// - Parameters:
    ///   - account: the account whose fingers are to be changed.
    ///   - requester: the user who asks, who may have an administrator authorise it.
    func during<Value>(
        account: UInt32, requester: UInt32, _ body: () async throws(Denial) -> Value
    ) async throws(Denial) -> Value {
        lastNumber += 1
        let number = lastNumber
        changes[number] = Change(account: account, requester: requester)
        defer { changes[number] = nil }
        return try await body()
    }

    /// Throws `passwordOnly` for a login of polkit's helper that could authorise a change.
    ///
    /// That is one for the account of the change, for the user who asks for it, or for anyone, if
    /// that user's agent asks.
    func check(
        _ login: AuthenticateRequest, account: Account, requester: Requester
    ) throws(Denial) {
        guard login.service == PresenceExaminer.polkitService else { return }
        let isConcerned = changes.values.contains {
            $0.account == account.uid || $0.requester == account.uid
                || $0.requester == requester.uid
        }
        if isConcerned { throw Denial(.passwordOnly) }
    }
}
