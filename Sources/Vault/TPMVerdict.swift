// SPDX-License-Identifier: Apache-2.0
import Crypto
import TPM

/// What is done about a fault before another try, and what callers are told at last.
extension TPMFault {
    /// What makes another try worth it.
    enum Remedy {
        /// Nothing does: the answer would be the same.
        case none
        /// A new connection, with everything on it anew.
        case reconnect
        /// Flushing what nobody uses any more.
        case flush
        /// The same again, in a new session: a register changed while it was looked at.
        case again
    }

    var remedy: Remedy {
        switch self {
        case .refused(let operation, let code):
            switch code.meaning {
            // A key that does not open is destroyed: not on one word that anybody on the way can
            // say. These objects do not count wrong values.
            case .wrongAuthorisation
            where [.sign, .unseal, .objectChangeAuth].contains(operation):
                .again
            case .outOfSlots: .flush
            case .registersChanged: .again
            case .absent, .notStarted, .broken, .forged, .other: .reconnect
            case .wrongAuthorisation, .forbidden, .policyFailed, .notIntact, .wrongValue,
                .lockout, .outOfStorage:
                .none
            }
        case .malformed: .reconnect
        case .unreachable, .notPermitted, .unfitRoot, .anotherRoot, .unfitRegisters, .memory,
            .crypto:
            .none
        }
    }

    /// The fault as callers of a vault know it.
    var verdict: VaultError {
        switch self {
        case .refused(let operation, let code): refusal(operation, code)
        case .unreachable(let why): .trouble(.absent(why))
        case .notPermitted(let why): .trouble(.notPermitted(why))
        case .anotherRoot: .trouble(.anotherRoot)
        case .unfitRoot, .unfitRegisters, .malformed: .trouble(.failed(description))
        case .memory: .crypto(.memory)
        case .crypto(let fault): .crypto(fault)
        }
    }

    private func refusal(_ operation: TPMOperation, _ code: ReturnCode) -> VaultError {
        // Only what is about the object itself may ever say that it does not open.
        switch operation {
        case .sign, .unseal, .objectChangeAuth:
            if code.meaning == .wrongAuthorisation { return .doesNotOpen }
            if code.meaning == .policyFailed { return .trouble(.platformChanged) }
        case .policyPCR:
            if code.meaning == .wrongValue { return .trouble(.platformChanged) }
        case .load:
            // The root is the pinned one and the public part was checked: the private one is wrong.
            if code.isAboutParameter { return .doesNotOpen }
        case .connect, .initialize, .prepare, .marshal, .startup, .getCapability, .readPublic,
            .createPrimary, .evictControl, .startAuthSession, .create, .policyAuthValue,
            .readRegisters, .flushContext:
            break
        }
        return .trouble(trouble(code))
    }

    private func trouble(_ code: ReturnCode) -> VaultTrouble {
        switch code.meaning {
        case .lockout: .lockout
        case .outOfSlots, .outOfStorage: .outOfSlots
        case .wrongAuthorisation, .forbidden: .notPermitted(description)
        case .broken, .notStarted: .absent(description)
        case .policyFailed, .notIntact, .wrongValue, .registersChanged, .absent, .forged, .other:
            .failed(description)
        }
    }
}
