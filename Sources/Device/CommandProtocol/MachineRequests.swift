// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Lists the readers of this machine: answered by `reader` for each, then `done`.
package struct ReadersRequest: MachineRequest {
    package static let verb = Verb(10, name: "readers")
    package static let rule = VerbRule(.anyone)
}

/// A reader's capabilities, as bits on the wire.
package struct ReaderFeatures: OptionSet, Equatable, Sendable {
    package let rawValue: UInt32

    /// Creates a set from the bits on the wire.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The reader identifies a finger among several in one scan.
    package static let identify = ReaderFeatures(rawValue: 1)
    /// The reader stores prints itself.
    package static let storage = ReaderFeatures(rawValue: 2)
    /// The reader can list the prints that it stores.
    package static let storageList = ReaderFeatures(rawValue: 4)
    /// The reader improves prints when they match.
    package static let update = ReaderFeatures(rawValue: 8)
    /// Images are compared on this machine and not in the reader.
    package static let hostMatching = ReaderFeatures(rawValue: 16)
}

/// One reader.
package struct ReaderAnswer: FrameContent {
    /// The id, which changes only if the reader is plugged in elsewhere.
    package var readerID: Bytes
    /// How it scans a finger.
    package var scan: ScanType
    /// The number of stages of an enrolment.
    package var total: UInt8
    /// The name that its driver reports.
    package var name: Bytes
    /// The name of the driver.
    package var driver: Bytes  // .value
    /// The capabilities.
    package var features: ReaderFeatures
}

/// Lists the effective configuration: answered by `setting` for each, then `done`.
package struct ConfigurationRequest: MachineRequest {
    package static let verb = Verb(12, name: "configuration")
    package static let rule = VerbRule(.anyone)
}

/// One effective setting.
package struct SettingAnswer: DaemonAnswer {
    package static let kind = AnswerKind(138, name: "setting")

    /// The name, `section.key`.
    package var name: Bytes
    /// The value as it is written in a file.
    package var value: Bytes
    /// `default`, or the file and line that set it.
    package var origin: Bytes
}

/// Reports which vault holds keys: answered by `vault` for each, then `done`.
package struct VaultRequest: MachineRequest {
    package static let verb = Verb(21, name: "vault")
    package static let rule = VerbRule(.anyone)
}

/// Trusts the TPM in its present state as the one in which keys are made.
package struct TrustVaultRequest: MachineRequest {
    package static let verb = Verb(23, name: "trustVault")
    package static let rule = VerbRule(.root)
}

/// A vault, as described to the administrator.
package struct VaultAnswer: DaemonAnswer {
    package static let kind = AnswerKind(142, name: "vault")

    /// `file` or `tpm`.
    package var vault: Bytes
    /// Whether it is the vault in which new keys are made.
    package var isChosen: Bool  // .done stated
    /// The TPM's manufacturer and firmware, or the library; empty if the vault is not usable.
    package var maker: Bytes = []  // .name
    /// What is required to open a key, in words.
    package var policy: Bytes = []  // .value
    /// The PCRs that new keys are bound to, such as `7,11`; empty for none.
    package var registers: Bytes = []  // .origin
    /// The Name of the storage root key (TPM 2.0 part 1, 16); empty if there is none.
    package var root: Bytes = []  // .rootName
    /// Why the vault is not usable at present; nil if it is.
    package var trouble: Bytes? = nil  // .subject
}

extension Field {
    package static var features: Field { Field(51, size: 4) }
    package static var rootName: Field { Field(56, size: 0...Limit.rootName) }
}
