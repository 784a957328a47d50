// SPDX-License-Identifier: Apache-2.0
import CTSS

/// A TSS2_RC: which layer it comes from, and what it means; TPM 2.0 part 2, 6.6.
package struct ReturnCode: Equatable, Sendable {
    /// The number as it came.
    package let value: UInt32

    /// Wraps a number.
    package init(_ value: UInt32) {
        self.value = value
    }

    /// What is to be done about it; every code has exactly one meaning.
    package enum Meaning: Equatable, Sendable {
        /// The authorisation value is wrong.
        case wrongAuthorisation
        /// The object or the session does not allow this kind of authorisation.
        case forbidden
        /// The policy is not met.
        case policyFailed
        /// A private part does not belong to this public part or this parent.
        case notIntact
        /// A value is out of range; for PolicyPCR: the registers are not as expected.
        case wrongValue
        /// The TPM refuses authorisations that count for a while.
        case lockout
        /// No memory or handle for an object or a session.
        case outOfSlots
        /// No memory for what shall stay.
        case outOfStorage
        /// A register changed while a policy was under way.
        case registersChanged
        /// A handle names nothing: the object or session is gone.
        case absent
        /// The TPM has not been started since its power came.
        case notStarted
        /// Nothing came back: the connection broke.
        case broken
        /// An answer is not from the TPM that was asked.
        case forged
        /// Something else.
        case other
    }

    /// Whether the TPM says that a parameter of the command is wrong.
    package var isAboutParameter: Bool {
        [0, 11, 12].contains(value >> 16) && value & 0xc0 == 0xc0
    }

    /// What it means, by layer and form.
    package var meaning: Meaning {
        let layer = value & 0xff_0000
        let code = value & 0xffff
        switch layer {
        // A resource manager hands on the TPM's codes, or uses them for itself.
        case 0, 11 << 16, 12 << 16: return ReturnCode.tpm(code)
        case 7 << 16: return code == 27 ? .forged : .other
        case 10 << 16: return .broken
        // Marshalling and SAPI: an answer that is no answer is that of a broken line.
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

    /// Codes about a handle, a parameter or a session; which one stands in the bits above.
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
    /// tpm2-tss's words and the number.
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
