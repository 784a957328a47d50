// SPDX-License-Identifier: Apache-2.0
/// Why a reader could not do what it was asked. A finger that does not match is no fault.
package enum ReaderFault: Error, Equatable, Sendable {
    /// No reader has this id, or none fits the templates.
    case noReader
    /// The reader was unplugged.
    case removed
    /// The reader must cool down before it is used again.
    case tooHot
    /// The reader does something else.
    case busy
    /// The reader cannot do this at all.
    case notSupported
    /// The reader said something that its driver did not expect.
    case protocolError
    /// The reader's own storage has no such print.
    case notFound
    /// The reader's own storage is full.
    case full
    /// The reader's own storage has this finger already.
    case duplicate
    /// The reader or the library refused the data of a print.
    case invalidTemplate
    /// The task was cancelled.
    case cancelled
    /// The time limit passed.
    case timedOut
    /// The machine is about to sleep.
    case suspended
    /// The process of the readers ended, or does not answer.
    case processEnded
    /// Anything else, in the library's words, for the journal.
    case general(String)
}

extension ReaderFault {
    /// Whether a reader that slept, or is not the one any more that was found, may fail like this.
    package var mayBeOfStaleReader: Bool {
        switch self {
        case .removed, .protocolError, .notFound, .general: true
        case .noReader, .tooHot, .busy, .notSupported, .full, .duplicate, .invalidTemplate,
            .cancelled, .timedOut, .suspended, .processEnded:
            false
        }
    }
}
