// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

// The frames that belong to the request in progress. `Connection` of the daemon takes them.

/// Carries the password that the daemon asked for; follows `passwordWanted` only.
package struct PasswordRequest: ContinuingRequest {
    package static let verb = Verb(14, name: "password")

    /// The password. The daemon takes it out of the packet before it decodes it, and sees zeros
    /// here.
    package let password: Bytes
}

extension PasswordRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.password, password)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        password = try frame.bytes(.password)
    }
}

/// Cancels the request in progress.
package struct CancelRequest: ContinuingRequest, PlainRequest {
    package static let verb = Verb(15, name: "cancel")

    package init() {}
}

/// The client has shown a notice that asked for acknowledgement.
package struct ShownRequest: ContinuingRequest, PlainRequest {
    package static let verb = Verb(.shown, name: "shown")

    package init() {}
}

extension Request {
    package static func password(_ password: Bytes) -> Request {
        Request(PasswordRequest(password: password))
    }

    package static let cancel = Request(CancelRequest())
    package static let shown = Request(ShownRequest())
}
