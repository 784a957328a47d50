// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// A reader and its abilities, as its driver describes them to the reader process.
package struct ReaderDescription: Equatable, Sendable, Identifiable {
    /// How close the reader is to having to cool down before it can be used again.
    package enum Temperature: UInt8, Sendable {
        case cold = 1
        case warm = 2
        case hot = 3
    }

    /// The reader's optional abilities; the raw value is part of the protocol.
    package struct Features: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Compares a finger with several prints at once.
        package static let identify = Features(rawValue: 1)
        /// Compares a finger with one print.
        package static let verify = Features(rawValue: 2)
        /// Refuses to enrol a finger that is already in its own storage.
        package static let duplicateCheck = Features(rawValue: 4)
        /// Stores prints itself.
        package static let storage = Features(rawValue: 8)
        /// Lists the prints in its storage.
        package static let list = Features(rawValue: 16)
        /// Deletes a single print from its storage.
        package static let delete = Features(rawValue: 32)
        /// Deletes all prints from its storage.
        package static let clear = Features(rawValue: 64)
        /// May improve a print while it is used.
        package static let updatePrint = Features(rawValue: 128)
    }

    /// The id, `driver:deviceID`, with a number added if several readers are alike, as in
    /// `driver:0#2`.
    ///
    /// The numbers depend on the order in which the readers were found, so the id of a reader may
    /// change when they are enumerated again.
    package let id: String
    /// The name to show to people.
    package let name: String
    /// libfprint's name of the driver.
    package let driver: String
    /// libfprint's id of the device; a print can be used on readers with its driver and device id.
    package let deviceID: String
    /// The device's USB serial number, if it has one.
    package let serial: String?
    /// The seat that the reader was attached to when it was found; `seat0` by default.
    package let seat: String
    /// Whether the finger is pressed or swiped.
    package let scanType: ScanType
    /// The number of good scans that an enrolment takes.
    package let enrolStages: Int
    /// The reader's abilities.
    package let features: Features
    /// Whether the reader process compares prints itself, which takes up to 80 ms per print.
    package let matchesOnHost: Bool
    /// How close the reader is to having to cool down.
    package let temperature: Temperature

    /// The identity of the reader, which survives replugging and reboots.
    package var identity: ReaderIdentity {
        ReaderIdentity(driver: driver, deviceID: deviceID, serial: serial)
    }

    /// The maximum number of prints that one scan is compared with; a larger gallery takes several
    /// scans.
    package var galleryCap: Int {
        if !features.contains(.identify) { return 1 }
        return matchesOnHost ? 10 : Int.max
    }
}
