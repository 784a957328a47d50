// SPDX-License-Identifier: Apache-2.0
import Posix

/// A socket that several closures use, such as that of a `FileWatch` and that of a timer.
///
/// It is closed when the last of them has gone. A watch of its descriptor must end before.
package final class SharedSocket: Sendable {
    private let socket: PacketSocket

    /// Takes a socket over.
    package init(_ socket: consuming PacketSocket) {
        self.socket = socket
    }

    /// The descriptor to watch.
    package var number: Int32 { socket.descriptor.number }

    /// Receives a packet of at most `limit` bytes, if one is there.
    package func receive(limit: Int) throws(SystemFault) -> Received {
        try socket.receive(limit: limit)
    }

    /// Sends a packet, if there is room for it.
    package func send(_ packet: [UInt8]) throws(SystemFault) -> Sent { try socket.send(packet) }

    /// Ends the connection in both directions; who waits for it is woken.
    package func shutDown() { socket.shutDown() }
}
