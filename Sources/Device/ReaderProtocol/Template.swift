// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// One enrolled finger as libfprint serialised it, checked so that libfprint can read it safely.
///
/// libfprint ends the process on many kinds of malformed data. A `Template` exists only for bytes
/// that `TemplateForm` accepts, so its bytes can be passed to libfprint in any process. Who made
/// them is not checked.
package struct Template: Equatable, Sendable {
    /// The serialised print (`fp_print_serialize`).
    package let bytes: [UInt8]
    /// The finger.
    package let finger: Finger
    /// The driver of the reader on which it was enrolled.
    package let driver: String
    /// The id of the device on which it was enrolled.
    package let deviceID: String
    /// The account for which it was enrolled, according to the template; empty if it does not say.
    package let account: String
    /// Whether the print is in the reader's storage and the bytes only refer to it.
    package let isStoredOnReader: Bool
    /// Whether the bytes contain minutiae, which the reader process compares itself.
    package let holdsMinutiae: Bool
    /// The identity of the print, equal to that of the reader's own record of it.
    package let identity: PrintIdentity

    /// The maximum number of bytes in a template.
    package static let limit = TemplateForm.lengths.upperBound

    /// Creates a template from bytes that pass `isWellFormed`.
    ///
    /// - Throws: `ReaderFault.invalidTemplate` for all other bytes.
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

    /// Whether libfprint can read these bytes safely; may be called with any bytes on any thread.
    package static func isWellFormed(_ bytes: [UInt8]) -> Bool {
        TemplateForm(bytes) != nil
    }
}
