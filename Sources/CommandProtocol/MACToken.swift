// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Gets a MAC token from a server, after a touch.
package struct MACTokenAddRequest: Equatable, Sendable {
    /// Whose finger.
    package var account: Bytes
    /// How long to wait for the touch.
    package var timeoutMilliseconds: UInt32
    /// The server's URL.
    package var server: Bytes
    /// What the token is called, here and at the server.
    package var name: Bytes

    /// All of it.
    package init(account: Bytes, timeoutMilliseconds: UInt32, server: Bytes, name: Bytes) {
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.server = server
        self.name = name
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
        try frame.put(.server, server)
        try frame.put(.tokenName, name)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.number(.timeoutMilliseconds)
        server = try frame.bytes(.server)
        name = try frame.bytes(.tokenName)
    }
}

/// Asks for the header of one HTTP request.
package struct MACTokenHeaderRequest: Equatable, Sendable {
    /// Whose token.
    package var account: Bytes
    /// The server that gave it.
    package var server: Bytes
    /// The token's name.
    package var name: Bytes
    /// The HTTP method.
    package var method: Bytes
    /// What is asked for, as the back end names it.
    package var resource: Bytes
    /// SHA-256 of the exact body.
    package var bodyDigest: Bytes

    /// All of it.
    package init(
        account: Bytes, server: Bytes, name: Bytes, method: Bytes, resource: Bytes,
        bodyDigest: Bytes
    ) {
        self.account = account
        self.server = server
        self.name = name
        self.method = method
        self.resource = resource
        self.bodyDigest = bodyDigest
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.server, server)
        try frame.put(.messageDigest, bodyDigest)
        try frame.put(.method, method)
        try frame.put(.resource, resource)
        try frame.put(.tokenName, name)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        server = try frame.bytes(.server)
        bodyDigest = try frame.bytes(.messageDigest)
        method = try frame.bytes(.method)
        resource = try frame.bytes(.resource)
        name = try frame.bytes(.tokenName)
    }
}

/// One MAC token, without its secret.
package struct MACTokenAnswer: Equatable, Sendable {
    /// Since when, in seconds since 1970.
    package var since: UInt64
    /// The server that gave it.
    package var server: Bytes
    /// Until when it is good, in seconds since 1970.
    package var expires: UInt64
    /// What it is called.
    package var name: Bytes
    /// Its id at the server, 16 bytes.
    package var token: Bytes

    /// All of it.
    package init(since: UInt64, server: Bytes, expires: UInt64, name: Bytes, token: Bytes) {
        self.since = since
        self.server = server
        self.expires = expires
        self.name = name
        self.token = token
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.since, number: since)
        try frame.put(.server, server)
        try frame.put(.expires, number: expires)
        try frame.put(.tokenName, name)
        try frame.put(.token, token)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        since = try frame.number(.since)
        server = try frame.bytes(.server)
        expires = try frame.number(.expires)
        name = try frame.bytes(.tokenName)
        token = try frame.bytes(.token)
    }
}

/// A MAC token as a server gives it.
package struct RelayMACToken: Equatable, Sendable {
    /// What the texts that it authenticates have to name.
    package var audience: Bytes
    /// Until when it is good, in seconds since 1970.
    package var expires: UInt64
    /// Its id, 16 bytes.
    package var token: Bytes
    /// Its secret, 32 bytes.
    package var secret: Bytes

    /// All of it.
    package init(audience: Bytes, expires: UInt64, token: Bytes, secret: Bytes) {
        self.audience = audience
        self.expires = expires
        self.token = token
        self.secret = secret
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.audience, audience)
        try frame.put(.expires, number: expires)
        try frame.put(.token, token)
        try frame.put(.tokenSecret, secret)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        audience = try frame.bytes(.audience)
        expires = try frame.number(.expires)
        token = try frame.bytes(.token)
        secret = try frame.bytes(.tokenSecret)
    }
}
