// SPDX-License-Identifier: Apache-2.0
import CTSS

/// A TSS2_RC: a return code with the layer that it comes from, and its meaning; TPM 2.0 part 2,
/// 6.6.
///
/// Callers decide by `meaning`, which is the same whichever layer reports it. `description` is for
/// messages only.
package struct ReturnCode: Equatable, Sendable {
    /// The code as the library returned it.
    package let value: UInt32

    /// Creates a value from the code of a call.
    package init(_ value: UInt32) {
        self.value = value
    }

    /// The meaning of a code for the caller; every code has exactly one.
    package enum Meaning: Equatable, Sendable {
        /// The authorisation value is wrong.
        case wrongAuthorisation
        /// The object or session does not permit this kind of authorisation.
        case forbidden
        /// The policy is not satisfied.
        case policyFailed
        /// A private part does not belong to this public part or to this parent, or was altered.
        case notIntact
        /// A value is out of range; for PolicyPCR, the PCRs are not as expected.
        case wrongValue
        /// The TPM temporarily refuses authorisations that count towards the lockout.
        case lockout
        /// No memory or handle is left for an object or a session.
        case outOfSlots
        /// No memory is left for persistent objects.
        case outOfStorage
        /// A PCR changed while a policy session was in progress.
        case registersChanged
        /// A handle refers to nothing: the object or session is gone.
        case absent
        /// The TPM has not been started since power-on.
        case notStarted
        /// No answer arrived: the connection is broken.
        case broken
        /// The HMAC of the answer is wrong: it does not come from the TPM that was asked.
        case forged
        /// Any other code.
        case other
    }

    /// Whether the TPM reports that a parameter of the command, rather than a handle or session, is
    /// wrong.
    package var isAboutParameter: Bool {
        [0, 11, 12].contains(value >> 16) && value & 0xc0 == 0xc0
    }

    /// The meaning, derived from the layer and the format of the code.
    package var meaning: Meaning {
        let layer = value & 0xff_0000
        let code = value & 0xffff
        switch layer {
        // The TPM. A resource manager passes on the TPM's codes, or uses them for its own errors.
        case 0, 11 << 16, 12 << 16: return ReturnCode.tpm(code)
        case 7 << 16: return code == 27 ? .forged : .other
        case 10 << 16: return .broken
        // SAPI: an answer that is malformed or too short means that the connection is broken.
        case 8 << 16: return [17, 19].contains(code) ? .broken : .other
        default: return .other
        }
    }

    private static func tpm(_ code: UInt32) -> Meaning {
        if code & 0x80 != 0 { return formatOne(code & 0x3f) }
        switch code {
        case 0x100: return .notStarted
        case 0x128: return .registersChanged
        case 0x124, 0x125, 0x12f: return .forbidden
        case 0x14b: return .outOfStorage
        case 0x901: return .absent
        case 0x902...0x906: return .outOfSlots
        case 0x910...0x916, 0x918...0x91e: return .absent
        case 0x921: return .lockout
        default: return .other
        }
    }

    /// Returns the meaning of a code of format one; its other bits tell which handle, parameter or
    /// session it is about.
    private static func formatOne(_ number: UInt32) -> Meaning {
        switch number {
        case 0x04: return .wrongValue
        case 0x05: return .forbidden
        case 0x0b: return .absent
        case 0x0e, 0x22: return .wrongAuthorisation
        case 0x1d, 0x24: return .policyFailed
        case 0x1f, 0x25: return .notIntact
        default: return .other
        }
    }
}

extension ReturnCode: CustomStringConvertible {
    /// The description by tpm2-tss, and the number in hexadecimal.
    package var description: String {
        let text: String
        if let decoded = unsafe Tss2_RC_Decode(value) {
            text = unsafe String(cString: decoded)
        } else {
            text = "unknown"
        }
        return "\(text) (0x\(String(value, radix: 16)))"
    }
}
