// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Shows what a reader reports, without an account: `reader`, then a `notice` for each event, until
/// the client cancels it.
///
/// `touch`: the reader is ready; `fingerPresent`; `retry`: a scan was poor, or the reader was
/// unplugged or restarted; `noMatch`: a scan was good, it is compared with no print; `waiting`:
/// another request uses the reader.
package struct WatchReaderRequest: MachineRequest {
    package static let verb = Verb(46, name: "watchReader")
    // It occupies the reader, and shows when a finger is on it.
    package static let rule = VerbRule(.root)

    /// The reader; nil for the first one.
    package let readerID: Bytes?

    /// Creates a request.
    package init(readerID: Bytes?) { self.readerID = readerID }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.readerID, ifPresent: readerID)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        readerID = try frame.bytesIfPresent(.readerID)
    }
}

extension Request {
    package static func watchReader(_ readerID: Bytes?) -> Request {
        Request(WatchReaderRequest(readerID: readerID))
    }
}
