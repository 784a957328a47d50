// SPDX-License-Identifier: Apache-2.0
import Crypto
import TPM

/// The remedy for a TPM fault, and its translation for callers of the vault.
///
/// Only a fault that concerns the object itself becomes `.doesNotOpen`, because callers destroy an
/// item that does not open. Most others become `.trouble`, which may pass; faults of memory and of
/// libcrypto become `.crypto`.
extension TPMFault {
    /// The action after which it is worth repeating the operation.
    enum Remedy {
        /// None: the answer would be the same.
        case none
        /// Open a new connection and load everything again.
        case reconnect
        /// Flush unused objects and sessions from the TPM.
        case flush
        /// Repeat in a new session.
        case again
    }

    /// The remedy for this fault.
    var remedy: Remedy {
        switch self {
        case .refused(let operation, let code):
            switch code.meaning {
            // A key that does not open is destroyed, so do not rely on a single answer, which could
            // have been forged on its way from the TPM. Wrong authorisations of these objects do
            // not count towards the TPM's lockout.
            case .wrongAuthorisation
            where [.sign, .unseal, .objectChangeAuth, .certify].contains(operation):
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

    /// The fault in terms that callers of the vault understand.
    var verdict: VaultError {
        switch self {
        case .refused(let operation, let code): refusal(operation, code: code)
        case .unreachable(let why): .trouble(.absent(why))
        case .notPermitted(let why): .trouble(.notPermitted(why))
        case .anotherRoot: .trouble(.anotherRoot)
        case .unfitRoot, .unfitRegisters, .malformed: .trouble(.failed(description))
        case .memory: .crypto(.memory)
        case .crypto(let fault): .crypto(fault)
        }
    }

    private func refusal(_ operation: TPMOperation, code: ReturnCode) -> VaultError {
        // Only answers about the object itself may become `.doesNotOpen`.
        switch operation {
        case .sign, .unseal, .objectChangeAuth, .certify:
            if code.meaning == .wrongAuthorisation { return .doesNotOpen }
            if code.meaning == .policyFailed { return .trouble(.platformChanged) }
        case .policyPCR:
            if code.meaning == .wrongValue { return .trouble(.platformChanged) }
        case .load:
            // The root key is the pinned one and the public part was verified, so the private part
            // must be wrong.
            if code.isAboutParameter { return .doesNotOpen }
        case .connect, .initialize, .prepare, .marshal, .startup, .getCapability, .readPublic,
            .createPrimary, .evictControl, .startAuthSession, .create, .policyAuthValue,
            .readRegisters, .readPublicNV, .readNV, .policySecret, .activateCredential, .quote,
            .flushContext:
            break
        }
        return .trouble(trouble(code))
    }

    private func trouble(_ code: ReturnCode) -> VaultTrouble {
        switch code.meaning {
        case .lockout: .lockout
        case .outOfSlots, .outOfStorage: .outOfSlots
        case .wrongAuthorisation, .forbidden: .notPermitted(description)
        case .policyFailed, .notIntact, .wrongValue, .registersChanged, .absent, .forged, .other,
            .broken, .notStarted:
            .failed(description)
        }
    }
}
