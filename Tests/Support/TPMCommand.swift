// SPDX-License-Identifier: Apache-2.0
/// Bytes as a TPM takes them: big endian (TPM 2.0 part 1, Marshaling).
extension [UInt8] {
    /// A number of 16 or 32 bits.
    package init(bigEndian number: some FixedWidthInteger) {
        self = stride(from: Int(number.bitWidth) - 8, through: 0, by: -8).map { shift in
            UInt8(truncatingIfNeeded: number >> shift)
        }
    }

    /// These bytes behind their size in 16 bits (TPM2B).
    package var sized: [UInt8] { [UInt8](bigEndian: UInt16(truncatingIfNeeded: count)) + self }
}

/// A command as bytes, made here and not by the library under test (TPM 2.0 part 3).
package struct TPMCommand: Sendable {
    /// What to do.
    package var code: TPMCommandCode
    /// To what.
    package var handles: [UInt32]
    /// The authorisation values of the first handles, given in clear (TPM_RS_PW).
    package var passwords: [[UInt8]]
    /// What follows handles and authorisations.
    package var parameters: [UInt8]

    /// A command of these parts.
    package init(
        _ code: TPMCommandCode, _ handles: [UInt32] = [], passwords: [[UInt8]] = [],
        parameters: [UInt8] = []
    ) {
        self.code = code
        self.handles = handles
        self.passwords = passwords
        self.parameters = parameters
    }

    /// As it goes over the bus.
    package var bytes: [UInt8] {
        var rest: [UInt8] = []
        for handle in handles { rest += [UInt8](bigEndian: handle) }
        if !passwords.isEmpty {
            var area: [UInt8] = []
            for password in passwords {
                // The nonce is empty, the only attribute is continueSession.
                area += [UInt8](bigEndian: TPMHandle.password) + [0, 0, 1] + password.sized
            }
            rest += [UInt8](bigEndian: UInt32(area.count)) + area
        }
        rest += parameters
        let tag: UInt16 = passwords.isEmpty ? 0x8001 : 0x8002
        var all = [UInt8](bigEndian: tag)
        all += [UInt8](bigEndian: UInt32(10 + rest.count))
        all += [UInt8](bigEndian: code.rawValue)
        return all + rest
    }
}

/// Handles that are the same on every TPM (TPM 2.0 part 2, TPM_RH), and where kinds of them begin.
package enum TPMHandle {
    /// Authorises what is made in the owner's hierarchy.
    package static let owner: UInt32 = 0x4000_0001
    /// No hierarchy, no key.
    package static let none: UInt32 = 0x4000_0007
    /// A password in place of a session.
    package static let password: UInt32 = 0x4000_0009
    /// Authorises the end of a lockout.
    package static let lockout: UInt32 = 0x4000_000A
    /// The firmware's hierarchy, open to the tests.
    package static let platform: UInt32 = 0x4000_000C
    /// Where the storage root key is kept by convention.
    package static let storageRootKey: UInt32 = 0x8100_0001
    // Where the kinds begin, for TPM2_GetCapability.
    package static let firstLoadedSession: UInt32 = 0x0200_0000
    package static let firstSavedSession: UInt32 = 0x0300_0000
    package static let firstTransient: UInt32 = 0x8000_0000
    package static let firstPersistent: UInt32 = 0x8100_0000
}

/// Response codes that the tests ask for by name (TPM 2.0 part 2, TPM_RC).
package enum TPMCode {
    package static let success: UInt32 = 0
    /// A wrong authorisation value, counted by the dictionary attack protection.
    package static let authorisationFailed: UInt32 = 0x08E
    /// A wrong authorisation value, not counted.
    package static let wrongPassword: UInt32 = 0x0A2
    /// No room for another object, or for another session.
    package static let objectMemory: UInt32 = 0x902
    package static let sessionMemory: UInt32 = 0x903
    /// The dictionary attack protection has closed.
    package static let lockout: UInt32 = 0x921
    /// Come again.
    package static let retry: UInt32 = 0x922

    /// A code without the number of the handle, session or parameter that it is about.
    package static func base(of code: UInt32) -> UInt32 {
        guard code & 0x80 != 0 else { return code }
        return code & 0xBF
    }
}

/// What came back for a command.
package struct TPMResponse: Sendable {
    /// The whole answer.
    package let bytes: [UInt8]
    /// TPM_RC_SUCCESS is 0.
    package let code: UInt32
    /// Of the object or session that was made.
    package let handle: UInt32?
    /// What follows, up to the sessions' part.
    package let parameters: [UInt8]
    /// What authenticates it.
    package let sessions: [TPMSession]

    /// Takes an answer to `command` apart; nil if it is none.
    package init?(_ bytes: [UInt8], to command: TPMCommandCode) {
        var rest = TPMReader(bytes)
        guard let tag = rest.number(UInt16.self), let size = rest.number(UInt32.self),
            let code = rest.number(UInt32.self), Int(size) == bytes.count
        else { return nil }
        self.bytes = bytes
        self.code = code
        guard code == TPMCode.success else {
            handle = nil
            parameters = []
            sessions = []
            return
        }
        if command.answersHandle {
            guard let number = rest.number(UInt32.self) else { return nil }
            handle = number
        } else {
            handle = nil
        }
        guard tag == 0x8002 else {
            parameters = rest.left
            sessions = []
            return
        }
        guard let count = rest.number(UInt32.self), let part = rest.take(Int(count)) else {
            return nil
        }
        parameters = part
        sessions = rest.sessions(withHandles: false)
    }
}

/// What a command or an answer says of one session in its part of authorisations.
package struct TPMSession: Sendable {
    /// Which one; nil in an answer.
    package let handle: UInt32?
    /// The caller's in a command, the TPM's in an answer.
    package let nonce: [UInt8]
    /// TPMA_SESSION
    package let attributes: UInt8
    /// The HMAC, or a password.
    package let proof: [UInt8]
}

/// Reads big endian fields from the front; every read is nil once there is not enough.
package struct TPMReader {
    private var rest: ArraySlice<UInt8>

    /// A reader of these bytes.
    package init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// What was not read yet.
    package var left: [UInt8] { Array(rest) }

    /// The next bytes.
    package mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// The next number.
    package mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        take(Number.bitWidth / 8)?.reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    /// The next bytes behind their size in 16 bits (TPM2B).
    package mutating func sized() -> [UInt8]? {
        guard let count = number(UInt16.self) else { return nil }
        return take(Int(count))
    }

    /// All sessions, to the end.
    package mutating func sessions(withHandles: Bool) -> [TPMSession] {
        var sessions: [TPMSession] = []
        while !rest.isEmpty {
            let handle = withHandles ? number(UInt32.self) : nil
            guard let nonce = sized(), let attributes = number(UInt8.self), let proof = sized()
            else { break }
            sessions.append(
                TPMSession(handle: handle, nonce: nonce, attributes: attributes, proof: proof))
        }
        return sessions
    }

    /// The size of a command or answer that its first ten bytes give; nil if it cannot be one.
    package static func size(ofHeader header: [UInt8]) -> Int? {
        var fields = TPMReader(header)
        guard fields.number(UInt16.self) != nil, let size = fields.number(UInt32.self),
            fields.number(UInt32.self) != nil, (10...4096).contains(size)
        else { return nil }
        return Int(size)
    }
}
