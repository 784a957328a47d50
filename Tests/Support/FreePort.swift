// SPDX-License-Identifier: Apache-2.0
/// A port without a listener.
package func freePort() throws(TestFault) -> UInt16 {
    let listing = try Program(
        Command([
            "perl", "-MIO::Socket::INET", "-e",
            "print IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')->sockport",
        ])
    ).expectEnd()
    guard let port = UInt16(listing.output) else {
        throw .closed(awaited: "a port", transcript: listing.errors)
    }
    return port
}
