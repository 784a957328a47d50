// SPDX-License-Identifier: Apache-2.0
/// Which reader it is: the same over replugging and reboots, another for another unit where the
/// driver or the bus can tell them apart.
///
/// Not the reader's id: which of two equal readers is `driver:0#2` changes with the order of finding.
package struct ReaderIdentity: Hashable, Sendable {
    /// libfprint's name of the driver.
    package let driver: String
    /// libfprint's id of the device; for many drivers `0`.
    package let deviceID: String
    /// The serial number that the unit has on its bus; nil where it has none, as all readers that
    /// are on no USB.
    package let serial: String?

    /// Describes a reader by its values.
    package init(driver: String, deviceID: String, serial: String?) {
        self.driver = driver
        self.deviceID = deviceID
        self.serial = serial
    }
}
