// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

// The frames that belong to the request in progress; the daemon's `Connection` receives them.

/// Carries the password that the daemon requested; it is valid only after `passwordWanted`.
package struct PasswordRequest: ContinuingRequest {
    package static let verb = Verb(14, name: "password")

    /// The password.
    ///
    /// The daemon takes it out of the packet before decoding, so that it is all zeros there.
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

/// Reports that the client has shown a notice that must be acknowledged.
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
