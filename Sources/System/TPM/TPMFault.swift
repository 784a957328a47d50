// SPDX-License-Identifier: Apache-2.0
import CTSS
import Crypto
import Posix

/// The reason why a TPM operation failed.
package enum TPMFault: Error, Equatable, Sendable {
    /// The TPM, or a software layer in front of it, answered with an error code.
    case refused(TPMOperation, ReturnCode)
    /// The TPM cannot be reached; the text says what was tried and why it failed.
    case unreachable(String)
    /// The TPM exists, but this process may not use it.
    case notPermitted(String)
    /// The storage root key is not fit to protect our objects; the text says why.
    case unfitRoot(String)
    /// The storage root key has a Name other than the expected one: another TPM, or one that was
    /// cleared.
    case anotherRoot
    /// The TPM has no SHA-256 bank with these PCRs.
    case unfitRegisters([Int])
    /// An answer, or a stored object, does not have the form that the specification prescribes.
    case malformed(TPMOperation)
    /// No memory that can be locked is available, or a value has a size that is not allowed.
    case memory
    /// Cryptography in this process failed.
    case crypto(CryptoFault)
}

/// A command of TPM 2.0 part 3 or a call of tpm2-tss; the raw value is its name, for messages.
package enum TPMOperation: String, Sendable {
    case connect = "Tss2_TctiLdr_Initialize"
    case initialize = "Esys_Initialize"
    case prepare = "Esys_TR"
    case marshal = "Tss2_MU"
    case startup = "TPM2_Startup"
    case getCapability = "TPM2_GetCapability"
    case readPublic = "TPM2_ReadPublic"
    case createPrimary = "TPM2_CreatePrimary"
    case evictControl = "TPM2_EvictControl"
    case startAuthSession = "TPM2_StartAuthSession"
    case create = "TPM2_Create"
    case load = "TPM2_Load"
    case sign = "TPM2_Sign"
    case unseal = "TPM2_Unseal"
    case objectChangeAuth = "TPM2_ObjectChangeAuth"
    case policyPCR = "TPM2_PolicyPCR"
    case policyAuthValue = "TPM2_PolicyAuthValue"
    case readRegisters = "TPM2_PCR_Read"
    case readPublicNV = "TPM2_NV_ReadPublic"
    case readNV = "TPM2_NV_Read"
    case policySecret = "TPM2_PolicySecret"
    case activateCredential = "TPM2_ActivateCredential"
    case certify = "TPM2_Certify"
    case quote = "TPM2_Quote"
    case flushContext = "TPM2_FlushContext"
}

extension TPMFault: CustomStringConvertible {
    /// A message of one line without a full stop.
    package var description: String {
        switch self {
        case .refused(let command, let code): "\(command.rawValue): \(code)"
        case .unreachable(let why), .notPermitted(let why): why
        case .unfitRoot(let why): "the TPM's storage root key cannot be used: \(why)"
        case .anotherRoot: "the TPM has another storage root key"
        case .unfitRegisters(let numbers):
            "the TPM has no SHA-256 value of PCR \(numbers.map { "\($0)" }.joined(separator: ", "))"
        case .malformed(let command): "\(command.rawValue): malformed answer"
        case .memory: "no memory could be locked"
        case .crypto(let fault): fault.description
        }
    }
}

/// Runs cryptography and converts its fault to a `TPMFault`.
func crypto<Result>(_ body: () throws(CryptoFault) -> Result) throws(TPMFault) -> Result {
    do throws(CryptoFault) {
        return try body()
    } catch { throw .crypto(error) }
}
