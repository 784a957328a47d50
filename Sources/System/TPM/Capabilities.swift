// SPDX-License-Identifier: Apache-2.0
import CTSS
import TPMStructures

/// Properties of a TPM, as the TPM itself reports them; nothing authenticates them.
package struct TPMProperties: Equatable, Sendable {
    /// The manufacturer, up to four letters such as `INTC`, and the manufacturer's name of the
    /// model.
    package let maker: String
    /// The firmware's version, four numbers separated by dots.
    package let firmware: String
    /// Whether the TPM is in lockout after wrong authorisations; keys with noDA still work then.
    package let isLockedOut: Bool
    /// Whether the owner hierarchy has an authorisation value, which prevents creating a storage
    /// root key.
    package let isOwned: Bool
}

extension TPMConnection {
    /// A kind of handle; the raw value is the first handle of its range (TPM 2.0 part 2, table 28).
    package enum HandleKind: UInt32, Sendable {
        case loadedSessions = 0x0200_0000
        case transient = 0x8000_0000
        case persistent = 0x8100_0000
    }

    /// Reads manufacturer, firmware and state with two commands.
    ///
    /// Throws `.malformed` for an answer of another form. A property that the TPM does not report
    /// counts as zero.
    package func properties() throws(TPMFault) -> TPMProperties {
        let fixed = try properties(from: 0x105, count: 8)
        let permanent = try properties(from: 0x200, count: 1)[0x200] ?? 0
        let maker = text(fixed[0x105])
        let model = (0x106...0x109).map { text(fixed[$0]) }.joined()
        let versions = [fixed[0x10b] ?? 0, fixed[0x10c] ?? 0]
        return TPMProperties(
            maker: model.isEmpty ? maker : "\(maker) \(model)",
            firmware: versions.flatMap { ["\($0 >> 16)", "\($0 & 0xffff)"] }.joined(separator: "."),
            isLockedOut: permanent & 0x200 != 0, isOwned: permanent & 1 != 0)
    }

    /// Returns the handles of a kind, at most 254; with a resource manager, only the connection's
    /// own.
    package func handles(_ kind: HandleKind) throws(TPMFault) -> [UInt32] {
        let bytes = try capability(TPM2_CAP(TPM2_CAP_HANDLES), property: kind.rawValue, count: 254)
        var reader = WireReader(bytes)
        guard reader.uint32() == TPM2_CAP(TPM2_CAP_HANDLES), let count = reader.uint32(),
            count <= 254
        else { throw .malformed(.getCapability) }
        var handles: [UInt32] = []
        for _ in 0..<count {
            guard let handle = reader.uint32() else { throw .malformed(.getCapability) }
            handles.append(handle)
        }
        return handles
    }

    private func properties(
        from first: UInt32, count: UInt32
    ) throws(TPMFault) -> [UInt32: UInt32] {
        var reader = WireReader(
            try capability(TPM2_CAP(TPM2_CAP_TPM_PROPERTIES), property: first, count: count))
        guard reader.uint32() == TPM2_CAP(TPM2_CAP_TPM_PROPERTIES), let found = reader.uint32(),
            found <= 254
        else { throw .malformed(.getCapability) }
        var values: [UInt32: UInt32] = [:]
        for _ in 0..<found {
            guard let name = reader.uint32(), let value = reader.uint32() else {
                throw .malformed(.getCapability)
            }
            values[name] = value
        }
        return values
    }

    private func capability(
        _ capability: TPM2_CAP, property: UInt32, count: UInt32
    ) throws(TPMFault) -> [UInt8] {
        var more: TPMI_YES_NO = 0
        var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
        try run(.getCapability) {
            unsafe Esys_GetCapability(
                context, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, capability, property, count,
                &more, &data)
        }
        guard let answer = unsafe TPMAllocation(data) else { throw .malformed(.getCapability) }
        return try unsafe answer.bytes(Tss2_MU_TPMS_CAPABILITY_DATA_Marshal)
    }
}

/// Returns the up to four characters of a number that are printable ASCII.
private func text(_ number: UInt32?) -> String {
    let bytes = bigEndian(number ?? 0).filter { (0x21...0x7e).contains($0) }
    return String(decoding: bytes, as: UTF8.self)
}
