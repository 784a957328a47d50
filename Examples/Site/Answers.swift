// SPDX-License-Identifier: Apache-2.0
import JSONFormat

// The answers of signet-server, with the members that the site needs; others are ignored.

/// A login that awaits its approval, or was only pretended by the server.
struct PendingLogin: Equatable, Sendable {
    /// The operation's id.
    let operation: String
    /// The secret that confirms the login, which the browser never sees.
    let session: String
    /// The exact text that the device shows.
    let text: String
    /// When the login expires, in seconds since 1970.
    let expires: Int64
}

/// A login that was confirmed.
struct ConfirmedLogin: Sendable {
    let account: String
    let application: String
    /// The id of the registration whose touch approved the login.
    let registration: String
    let tokens: Tokens
}

/// The tokens of a session, which never leave this process.
struct Tokens: Equatable, Sendable {
    let access: String
    let refresh: String
    /// How long the access token is valid from its issue, in seconds.
    let seconds: Int64

    init(_ json: JSON) throws(CallFault) {
        access = try json.text("accessToken")
        refresh = try json.text("refreshToken")
        seconds = try json.number("expiresIn")
    }
}

/// A device that is or was registered for the account.
struct Device: Sendable {
    let registration: String
    let device: String
    let status: String
    /// Why the registration is BLOCKED or REMOVED.
    let reason: String?
    let fingerprint: String?
    /// `tpm` or `file`, as the device claims.
    let key: String?
    let secureBoot: String?
    let created: Int64
    let lastUsed: Int64?

    init(_ json: JSON) throws(CallFault) {
        registration = try json.text("registration")
        device = try json.text("device")
        status = try json.text("status")
        created = try json.number("created")
        reason = json["reason"]?.stringValue
        fingerprint = json["fingerprint"]?.stringValue
        key = json["key"]?.stringValue
        secureBoot = json["secureBoot"]?.stringValue
        lastUsed = json["lastUsed"]?.integerValue
    }
}

/// An operation or login that the person was asked to approve.
struct Operation: Sendable {
    let text: String
    let status: String
    /// `operation` or `login`.
    let purpose: String
    let created: Int64
    let decided: Int64?
    /// The registration whose touch decided it.
    let registration: String?
    /// The address of the machine that asked, as the application reported it.
    let address: String?

    init(_ json: JSON) throws(CallFault) {
        text = try json.text("data")
        status = try json.text("status")
        purpose = try json.text("purpose")
        created = try json.number("created")
        decided = json["decided"]?.integerValue
        registration = json["registration"]?.stringValue
        address = json["additional"]?["address"]?.stringValue
    }
}

/// A line of the account's audit trail.
struct Receipt: Sendable {
    let time: Int64
    let event: String
    let outcome: String
    let factor: String?
    let registration: String?
    let address: String?

    init(_ json: JSON) throws(CallFault) {
        time = try json.number("time")
        event = try json.text("event")
        outcome = try json.text("outcome")
        factor = json["factor"]?.stringValue
        registration = json["registration"]?.stringValue
        address = json["address"]?.stringValue
    }
}

extension JSON {
    /// A member that must be a string; throws `.unavailable` otherwise.
    func text(_ name: String) throws(CallFault) -> String {
        guard let text = self[name]?.stringValue else { throw .lacking(name) }
        return text
    }

    /// A member that must be an integer; throws `.unavailable` otherwise.
    func number(_ name: String) throws(CallFault) -> Int64 {
        guard let number = self[name]?.integerValue else { throw .lacking(name) }
        return number
    }
}

extension CallFault {
    /// An answer lacks a member, or has it in another form than documented.
    static func lacking(_ member: String) -> CallFault {
        .unavailable("an answer without '\(member)'")
    }
}
