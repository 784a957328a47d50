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

/// Cancels the request in progress.
package struct CancelRequest: ContinuingRequest {
    package static let verb = Verb(15, name: "cancel")
}

/// Reports that the client has shown a notice that must be acknowledged.
package struct ShownRequest: ContinuingRequest {
    package static let verb = Verb(.shown, name: "shown")
}

extension Request {
    package static func password(_ password: Bytes) -> Request {
        Request(PasswordRequest(password: password))
    }
}
