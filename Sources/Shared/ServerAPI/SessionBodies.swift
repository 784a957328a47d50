// SPDX-License-Identifier: Apache-2.0
import Domain

/// A session of tokens that a login began, as reported to a device of its account.
package struct DeviceSession: Codable, Sendable {
    /// The session's id.
    package let session: SessionID
    /// Whether the device that asks began it.
    package let own: Bool
    /// The registration whose touch or password began it.
    package let registration: RegistrationID
    /// The id of that registration's device.
    package let device: DeviceID
    /// What that device calls itself; nil if it has given no name.
    package let deviceName: DeviceName?
    /// How the login was confirmed: `fingerprint`, `password` or `both`.
    package let factor: String
    /// When it began, in seconds since 1970.
    package let created: Int64
    /// When its tokens were last refreshed, in seconds since 1970; nil if never.
    package let refreshed: Int64?
    /// When it ends by itself, in seconds since 1970.
    package let expires: Int64
    /// From which address it was begun; nil if that is not known.
    package let address: String?
    /// The program that began it, as that calls itself; nil if it is not known.
    package let agent: String?
}

/// The sessions of an account, the newest first.
package struct DeviceSessions: Codable, Sendable {
    /// The newest of them.
    package let sessions: [DeviceSession]
    /// How many there are, with those that are not listed.
    package let total: Int64
}

/// How many sessions were ended.
package struct EndedSessions: Codable, Sendable {
    /// The number of them.
    package let ended: Int64
}
