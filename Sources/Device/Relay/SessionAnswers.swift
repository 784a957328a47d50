// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import ServerAPI

// How the server's answers about sessions become frames.

extension RelayAnswer {
    /// One answer for each session, and one with the number of all; nil for a list that is too long
    /// or does not fit its frames.
    static func sessions(from body: Bytes) -> [RelayAnswer]? {
        guard let list = value(DeviceSessions.self, of: body),
            list.sessions.count <= Limit.sessions, let total = UInt32(exactly: list.total)
        else { return nil }
        var answers: [RelayAnswer] = []
        for told in list.sessions {
            guard let content = SessionContent(told) else { return nil }
            answers.append(.session(content))
        }
        return answers + [.sessionsListed(count: UInt32(answers.count), total: total)]
    }

    static func sessionsEnded(from body: Bytes) -> RelayAnswer? {
        guard let told = value(EndedSessions.self, of: body),
            let count = UInt32(exactly: told.ended)
        else { return nil }
        return .sessionsEnded(count: count)
    }
}

extension SessionContent {
    /// Returns nil if a time is before 1970, or the factor is unknown.
    fileprivate init?(_ told: DeviceSession) {
        guard let created = UInt64(exactly: told.created),
            let expires = UInt64(exactly: told.expires), let factor = SessionFactor(told.factor)
        else { return nil }
        var refreshed: UInt64?
        if let seconds = told.refreshed {
            guard let seconds = UInt64(exactly: seconds) else { return nil }
            refreshed = seconds
        }
        self.init(
            session: told.session, device: told.device, deviceName: told.deviceName,
            isOwn: told.own, factor: factor, created: created, refreshed: refreshed,
            expires: expires, address: Bytes((told.address ?? "").utf8),
            agent: Bytes((told.agent ?? "").utf8))
    }
}

extension SessionFactor {
    fileprivate init?(_ word: String) {
        switch AcceptedFactors(rawValue: word) {
        case .fingerprint: self = .fingerprint
        case .password: self = .password
        case .both: self = .both
        case .either, nil: return nil
        }
    }
}
