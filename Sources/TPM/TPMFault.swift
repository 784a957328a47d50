// SPDX-License-Identifier: Apache-2.0
import CTSS
import Crypto
import Posix

/// Why the TPM did not do what it was asked for.
package enum TPMFault: Error, Equatable, Sendable {
    /// The TPM, or what stands before it, answered with a code.
    case refused(TPMOperation, ReturnCode)
    /// There is no way to the TPM: what was tried and why it failed.
    case unreachable(String)
    /// There is one, but not for this process.
    case notPermitted(String)
    /// The storage root key is not one that may hold our keys, and why.
    case unfitRoot(String)
    /// The storage root key has another Name than the one that was expected.
    case anotherRoot
    /// The TPM has no SHA-256 bank with these registers.
    case unfitRegisters([Int])
    /// An answer had another form than the specification gives it.
    case malformed(TPMOperation)
    /// No memory, or not the secret kind.
    case memory
    /// Cryptography on this side failed.
    case crypto(CryptoFault)
}

/// What was tried: commands of TPM 2.0 part 3, and calls of tpm2-tss; the raw value is its name.
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
    case flushContext = "TPM2_FlushContext"
}

extension TPMFault: CustomStringConvertible {
    /// One line without a full stop.
    package var description: String {
        switch self {
        case .refused(let command, let code): "\(command.rawValue): \(code)"
        case .unreachable(let why), .notPermitted(let why): why
        case .unfitRoot(let why): "the TPM's storage root key cannot be used: \(why)"
        case .anotherRoot: "the TPM has another storage root key"
        case .unfitRegisters(let numbers):
            "the TPM has no SHA-256 value of PCR \(numbers.map { "\($0)" }.joined(separator: ", "))"
        case .malformed(let command): "\(command.rawValue): an answer of another form"
        case .memory: "no memory that can be locked"
        case .crypto(let fault): fault.description
        }
    }
}

/// Runs cryptography of this side in the words of this layer.
func crypto<Result>(_ body: () throws(CryptoFault) -> Result) throws(TPMFault) -> Result {
    do throws(CryptoFault) {
        return try body()
    } catch { throw .crypto(error) }
}
