// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Reports the events of a reader without an account, until the client cancels the request.
///
/// It is answered by `reader`, then a `notice` for each event:
/// - `touch`: the reader is ready.
/// - `fingerPresent`: a finger is on the reader.
/// - `retry`: a scan was poor, or the reader was unplugged or restarted.
/// - `noMatch`: a scan was good; it is not compared with any print.
/// - `waiting`: another request uses the reader.
package struct WatchReaderRequest: MachineRequest {
    package static let verb = Verb(46, name: "watchReader")
    // Only root may, because it occupies the reader and reveals when a finger is on it.
    package static let rule = VerbRule(.root)

    /// The reader to watch; nil for the first one.
    package let readerID: Bytes?
}

extension Request {
    package static func watchReader(_ readerID: Bytes?) -> Request {
        Request(WatchReaderRequest(readerID: readerID))
    }
}
