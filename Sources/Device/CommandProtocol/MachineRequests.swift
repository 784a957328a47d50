// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Lists the readers of this machine: answered by `reader` for each, then `done`.
package struct ReadersRequest: MachineRequest, PlainRequest {
    package static let verb = Verb(10, name: "readers")
    package static let rule = VerbRule(.anyone)

    package init() {}
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
package struct ReaderAnswer: Equatable, Sendable {
    /// The id, which changes only if the reader is plugged in elsewhere.
    package var readerID: Bytes
    /// How it scans a finger.
    package var scan: ScanType
    /// The number of stages of an enrolment.
    package var total: UInt8
    /// The name that its driver reports.
    package var name: Bytes
    /// The name of the driver.
    package var driver: Bytes
    /// The capabilities.
    package var features: ReaderFeatures

    /// Creates an answer.
    package init(
        readerID: Bytes, scan: ScanType, total: UInt8, name: Bytes, driver: Bytes,
        features: ReaderFeatures
    ) {
        self.readerID = readerID
        self.scan = scan
        self.total = total
        self.name = name
        self.driver = driver
        self.features = features
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.readerID, readerID)
        try frame.put(.scan, number: scan.rawValue)
        try frame.put(.total, number: total)
        try frame.put(.name, name)
        try frame.put(.value, driver)
        try frame.put(.features, number: features.rawValue)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        self.init(
            readerID: try frame.bytes(.readerID),
            scan: try frame.choice(.scan),
            total: try frame.number(.total),
            name: try frame.bytes(.name),
            driver: try frame.bytes(.value),
            features: ReaderFeatures(rawValue: try frame.number(.features)))
    }
}

/// Lists the effective configuration: answered by `setting` for each, then `done`.
package struct ConfigurationRequest: MachineRequest, PlainRequest {
    package static let verb = Verb(12, name: "configuration")
    package static let rule = VerbRule(.anyone)

    package init() {}
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

    /// Creates an answer.
    package init(name: Bytes, value: Bytes, origin: Bytes) {
        self.name = name
        self.value = value
        self.origin = origin
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.name, name)
        try frame.put(.value, value)
        try frame.put(.origin, origin)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        name = try frame.bytes(.name)
        value = try frame.bytes(.value)
        origin = try frame.bytes(.origin)
    }
}

/// Reports which vault holds keys: answered by `vault` for each, then `done`.
package struct VaultRequest: MachineRequest, PlainRequest {
    package static let verb = Verb(21, name: "vault")
    package static let rule = VerbRule(.anyone)

    package init() {}
}

/// Trusts the TPM in its present state as the one in which keys are made.
package struct TrustVaultRequest: MachineRequest, PlainRequest {
    package static let verb = Verb(23, name: "trustVault")
    package static let rule = VerbRule(.root)

    package init() {}
}

/// A vault, as described to the administrator.
package struct VaultAnswer: DaemonAnswer {
    package static let kind = AnswerKind(142, name: "vault")

    /// `file` or `tpm`.
    package var vault: Bytes
    /// Whether it is the vault in which new keys are made.
    package var isChosen: Bool
    /// The TPM's manufacturer and firmware, or the library; empty if the vault is not usable.
    package var maker: Bytes
    /// What is required to open a key, in words.
    package var policy: Bytes
    /// The PCRs that new keys are bound to, such as `7,11`; empty for none.
    package var registers: Bytes
    /// The Name of the storage root key (TPM 2.0 part 1, 16); empty if there is none.
    package var root: Bytes
    /// Why the vault is not usable at present; nil if it is.
    package var trouble: Bytes?

    /// Creates an answer.
    package init(
        vault: Bytes, isChosen: Bool, maker: Bytes = [], policy: Bytes = [],
        registers: Bytes = [], root: Bytes = [], trouble: Bytes? = nil
    ) {
        self.vault = vault
        self.isChosen = isChosen
        self.maker = maker
        self.policy = policy
        self.registers = registers
        self.root = root
        self.trouble = trouble
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.subject, ifPresent: trouble)
        try frame.put(.done, number: UInt8(isChosen ? 1 : 0))
        try frame.put(.name, maker)
        try frame.put(.value, policy)
        try frame.put(.origin, registers)
        try frame.put(.vault, vault)
        try frame.put(.rootName, root)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        let trouble = try frame.bytesIfPresent(.subject)
        guard let isChosen = try frame.flagIfPresent(.done) else { throw .unexpectedField }
        let maker = try frame.bytes(.name)
        let policy = try frame.bytes(.value)
        let registers = try frame.bytes(.origin)
        self.init(
            vault: try frame.bytes(.vault), isChosen: isChosen, maker: maker, policy: policy,
            registers: registers, root: try frame.bytes(.rootName), trouble: trouble)
    }
}

extension Request {
    package static let readers = Request(ReadersRequest())
    package static let configuration = Request(ConfigurationRequest())
    package static let vault = Request(VaultRequest())
    package static let trustVault = Request(TrustVaultRequest())
}

extension Field {
    package static var features: Field { Field(51, size: 4) }
    package static var rootName: Field { Field(56, size: 0...Limit.rootName) }
}
