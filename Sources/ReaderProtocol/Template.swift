// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// One enrolled finger as the reader's driver wrote it, in a form that libfprint can read safely.
package struct Template: Equatable, Sendable {
    /// The serialised print (`fp_print_serialize`).
    package let bytes: [UInt8]
    /// The finger.
    package let finger: Finger
    /// The driver of the reader that it was enrolled on.
    package let driver: String
    /// The id of the device that it was enrolled on.
    package let deviceID: String
    /// The account that it was enrolled for, as the template says; empty where it does not.
    package let account: String
    /// Whether the reader keeps the print, and the bytes only name it.
    package let isStoredOnReader: Bool
    /// Whether the bytes hold minutiae, which the process of the readers compares.
    package let holdsMinutiae: Bool
    /// What tells this print from others; that of the reader's own record of it is equal.
    package let identity: PrintIdentity

    /// The most bytes that one can have.
    package static let limit = TemplateForm.lengths.upperBound

    /// Takes over bytes that pass `isWellFormed`; throws `ReaderFault.invalidTemplate` otherwise.
    package init(bytes: [UInt8]) throws(ReaderFault) {
        guard let form = TemplateForm(bytes) else { throw .invalidTemplate }
        self.bytes = bytes
        finger = form.finger
        driver = form.driver
        deviceID = form.deviceID
        account = form.account
        isStoredOnReader = form.isStoredOnReader
        holdsMinutiae = form.holdsMinutiae
        identity = form.identity
    }

    /// Whether libfprint can read these bytes; never traps, whatever they are, on any thread.
    package static func isWellFormed(_ bytes: [UInt8]) -> Bool {
        TemplateForm(bytes) != nil
    }
}
