// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// What a reader is and can do, as its driver says.
package struct ReaderDescription: Equatable, Sendable, Identifiable {
    /// How near the reader is to having to cool down.
    package enum Temperature: UInt8, Sendable {
        case cold = 1
        case warm = 2
        case hot = 3
    }

    /// What the reader can do beside scanning; the raw value crosses the socket.
    package struct Features: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Finds one print among many.
        package static let identify = Features(rawValue: 1)
        /// Compares with one print.
        package static let verify = Features(rawValue: 2)
        /// Refuses to enrol a finger that its own storage has.
        package static let duplicateCheck = Features(rawValue: 4)
        /// Keeps prints itself.
        package static let storage = Features(rawValue: 8)
        /// Lists the prints it keeps.
        package static let list = Features(rawValue: 16)
        /// Deletes one of the prints it keeps.
        package static let delete = Features(rawValue: 32)
        /// Deletes all the prints it keeps.
        package static let clear = Features(rawValue: 64)
        /// May improve a print as it is used.
        package static let updatePrint = Features(rawValue: 128)
    }

    /// The driver and the device's own id, numbered where two are alike: `driver:0`, `driver:0#2`.
    package let id: String
    /// The name to show.
    package let name: String
    /// libfprint's name of the driver.
    package let driver: String
    /// libfprint's id of the device; prints fit readers of equal driver and device id.
    package let deviceID: String
    /// The unit's serial number on its bus, where it has one.
    package let serial: String?
    /// The seat that it was attached to as it was found; `seat0` where nobody said otherwise.
    package let seat: String
    /// How a finger meets the reader.
    package let scanType: ScanType
    /// The scans that an enrolment takes.
    package let enrolStages: Int
    /// What the reader can do.
    package let features: Features
    /// Whether prints are compared by the reader's process, which takes up to 80 ms a print.
    package let matchesOnHost: Bool
    /// How near the reader is to having to cool down.
    package let temperature: Temperature

    /// Describes a reader by its values.
    package init(
        id: String, name: String, driver: String, deviceID: String, serial: String?, seat: String,
        scanType: ScanType, enrolStages: Int, features: Features, matchesOnHost: Bool,
        temperature: Temperature
    ) {
        self.id = id
        self.name = name
        self.driver = driver
        self.deviceID = deviceID
        self.serial = serial
        self.seat = seat
        self.scanType = scanType
        self.enrolStages = enrolStages
        self.features = features
        self.matchesOnHost = matchesOnHost
        self.temperature = temperature
    }

    /// Which reader it is, over replugging and reboots.
    package var identity: ReaderIdentity {
        ReaderIdentity(driver: driver, deviceID: deviceID, serial: serial)
    }

    /// The prints that one scan is compared with; a larger gallery takes a scan for each part.
    package var galleryCap: Int {
        if !features.contains(.identify) { return 1 }
        return matchesOnHost ? 10 : Int.max
    }
}
