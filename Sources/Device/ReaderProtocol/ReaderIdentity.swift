// SPDX-License-Identifier: Apache-2.0
/// The identity of a reader, which survives replugging and reboots.
///
/// Two units have different identities only if the driver or the bus can tell them apart. It is not
/// the reader's id: which of two like readers is `driver:0#2` depends on the order in which they
/// were found.
package struct ReaderIdentity: Hashable, Sendable {
    /// libfprint's name of the driver.
    package let driver: String
    /// libfprint's id of the device; for many drivers `0`.
    package let deviceID: String
    /// The device's USB serial number; nil if it has none or is not on USB.
    package let serial: String?
}
