// SPDX-License-Identifier: Apache-2.0
/// What a TPM command does, as its header says it (TPM 2.0 part 2, TPM_CC).
package struct TPMCommandCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the bus.
    package let rawValue: UInt32

    /// The command of a number, known here or not.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    private init(_ rawValue: UInt32) { self.rawValue = rawValue }

    package static let evictControl = Self(0x120)
    package static let clear = Self(0x126)
    package static let hierarchyChangeAuth = Self(0x129)
    package static let createPrimary = Self(0x131)
    package static let dictionaryAttackLockReset = Self(0x139)
    package static let pcrReset = Self(0x13D)
    package static let startup = Self(0x144)
    package static let shutdown = Self(0x145)
    package static let create = Self(0x153)
    package static let ecdhZGen = Self(0x154)
    package static let objectChangeAuth = Self(0x150)
    package static let load = Self(0x157)
    package static let sign = Self(0x15D)
    package static let unseal = Self(0x15E)
    package static let contextLoad = Self(0x161)
    package static let contextSave = Self(0x162)
    package static let flushContext = Self(0x165)
    package static let loadExternal = Self(0x167)
    package static let policyAuthValue = Self(0x16B)
    package static let readPublic = Self(0x173)
    package static let startAuthSession = Self(0x176)
    package static let getCapability = Self(0x17A)
    package static let getRandom = Self(0x17B)
    package static let hash = Self(0x17D)
    package static let pcrRead = Self(0x17E)
    package static let policyPCR = Self(0x17F)
    package static let policyRestart = Self(0x180)
    package static let pcrExtend = Self(0x182)
    package static let policyGetDigest = Self(0x189)
    package static let createLoaded = Self(0x191)

    /// The name in part 3; the number where the tests do not know it.
    package var description: String {
        Self.forms[self].map { "TPM2_\($0.name)" } ?? "TPM command 0x\(String(rawValue, radix: 16))"
    }

    /// How many handles follow the header of the command; nil where the tests do not know it.
    package var handleCount: Int? { Self.forms[self]?.handles }

    /// Whether the answer of a success begins with a handle.
    package var answersHandle: Bool { Self.forms[self]?.answersHandle ?? false }

    private struct Form {
        let name: String
        let handles: Int
        let answersHandle: Bool

        init(_ name: String, _ handles: Int, answersHandle: Bool = false) {
            self.name = name
            self.handles = handles
            self.answersHandle = answersHandle
        }
    }

    /// Part 3's tables of each command.
    private static let forms: [Self: Form] = [
        .evictControl: Form("EvictControl", 2),
        .clear: Form("Clear", 1),
        .hierarchyChangeAuth: Form("HierarchyChangeAuth", 1),
        .createPrimary: Form("CreatePrimary", 1, answersHandle: true),
        .dictionaryAttackLockReset: Form("DictionaryAttackLockReset", 1),
        .pcrReset: Form("PCR_Reset", 1),
        .startup: Form("Startup", 0),
        .shutdown: Form("Shutdown", 0),
        .create: Form("Create", 1),
        .ecdhZGen: Form("ECDH_ZGen", 1),
        .objectChangeAuth: Form("ObjectChangeAuth", 2),
        .load: Form("Load", 1, answersHandle: true),
        .sign: Form("Sign", 1),
        .unseal: Form("Unseal", 1),
        .contextLoad: Form("ContextLoad", 0, answersHandle: true),
        .contextSave: Form("ContextSave", 1),
        // Its handle stands among the parameters.
        .flushContext: Form("FlushContext", 0),
        .loadExternal: Form("LoadExternal", 0, answersHandle: true),
        .policyAuthValue: Form("PolicyAuthValue", 1),
        .readPublic: Form("ReadPublic", 1),
        .startAuthSession: Form("StartAuthSession", 2, answersHandle: true),
        .getCapability: Form("GetCapability", 0),
        .getRandom: Form("GetRandom", 0),
        .hash: Form("Hash", 0),
        .pcrRead: Form("PCR_Read", 0),
        .policyPCR: Form("PolicyPCR", 1),
        .policyRestart: Form("PolicyRestart", 1),
        .pcrExtend: Form("PCR_Extend", 1),
        .policyGetDigest: Form("PolicyGetDigest", 1),
        .createLoaded: Form("CreateLoaded", 1, answersHandle: true),
    ]
}
