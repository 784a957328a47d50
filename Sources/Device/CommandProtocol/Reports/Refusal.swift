// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// Refused attempts of the same kind at an account, combined into one record for its owner.
package struct Refusal: Equatable, Sendable {
    /// The verb of the request.
    package var verb: Verb
    /// The PAM service; empty for a command.
    package var service: ServiceName
    /// The terminal, PAM_TTY; empty if there is none.
    package var terminal: Bytes
    /// The login name of the user who made the attempts.
    package var requester: AccountName
    /// The reason of the denial.
    package var reason: DenialReason
    /// The number of attempts, at least 1.
    package var count: UInt32
    /// When the first was refused, in seconds since 1970.
    package var since: UInt64
    /// When the last was refused, in seconds since 1970.
    package var until: UInt64

    /// Creates a record.
    package init(
        _ verb: Verb, service: ServiceName = .none, terminal: Bytes = [], requester: AccountName,
        reason: DenialReason, count: UInt32 = 1, since: UInt64, until: UInt64
    ) {
        self.verb = verb
        self.service = service
        self.terminal = terminal
        self.requester = requester
        self.reason = reason
        self.count = count
        self.since = since
        self.until = until
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.service, ifPresent: service.isEmpty ? nil : service.bytes)
        try frame.put(.terminal, terminal)
        try frame.put(.requester, name: requester)
        try frame.put(.count, number: count)
        try frame.put(.reason, number: reason.rawValue)
        try frame.put(.since, number: since)
        try frame.put(.verb, number: verb.rawValue)
        try frame.put(.until, number: until)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        service = ServiceName(try frame.bytesIfPresent(.service) ?? [])
        terminal = try frame.bytes(.terminal)
        requester = try frame.name(.requester)
        count = try frame.number(.count)
        reason = try frame.choice(.reason)
        since = try frame.number(.since)
        verb = try frame.choice(.verb)
        until = try frame.number(.until)
    }
}

extension Field {
    package static var verb: Field { Field(130, size: 1) }
    package static var until: Field { Field(131, size: 8) }
}
