// SPDX-License-Identifier: Apache-2.0
/// The reason why an operation on a reader failed; a finger that does not match is a result
/// instead.
///
/// Most cases translate libfprint's `FpDeviceError`. `cancelled`, `timedOut` and `suspended` come
/// from the code that drives the readers, and `processEnded` from signetd, when the reader process
/// has gone.
package enum ReaderFault: Error, Equatable, Sendable {
    /// No reader has this id, or none can use the templates.
    case noReader
    /// The reader was unplugged.
    case removed
    /// The reader must cool down before it can be used again.
    case tooHot
    /// The reader is in use.
    case busy
    /// The reader does not have this ability.
    case notSupported
    /// The reader sent something that its driver did not expect.
    case protocolError
    /// The reader's own storage does not contain the print.
    case notFound
    /// The reader's own storage is full.
    case full
    /// The reader's own storage already contains this finger.
    case duplicate
    /// The reader or libfprint rejected the data of a print.
    case invalidTemplate
    /// The task was cancelled.
    case cancelled
    /// The time limit was reached.
    case timedOut
    /// The machine is about to sleep, or is asleep.
    case suspended
    /// The reader process has ended, or does not answer.
    case processEnded
    /// Any other fault, in libfprint's words, for the journal.
    case general(String)
}

extension ReaderFault {
    /// Whether this fault may mean that the reader slept or was replugged since it was found.
    ///
    /// The readers may then be enumerated again and the operation repeated once.
    package var mayBeOfStaleReader: Bool {
        switch self {
        case .removed, .protocolError, .notFound, .general: true
        case .noReader, .tooHot, .busy, .notSupported, .full, .duplicate, .invalidTemplate,
            .cancelled, .timedOut, .suspended, .processEnded:
            false
        }
    }
}
