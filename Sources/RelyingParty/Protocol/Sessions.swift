// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI

/// Sessions of tokens as people see them: each device lists those of its account, and ends them.
///
/// The device authenticates as it does to read operations, so a MAC token suffices. Ending a session
/// only takes access away: the holder of such a token could at worst have people log in again. An
/// account's device sees and ends the sessions of the account's other devices, too, since a lost
/// device cannot end its own.
struct Sessions: Sendable {
    /// The maximum number of sessions in a list.
    static let most: Int64 = 50

    let core: ServerCore
}

extension Sessions {
    /// `GET /v1/device/sessions`: lists the newest sessions of the calling device's account that
    /// have not ended, and says how many there are.
    func listSessions(_ call: Call) async throws(Problem) -> DeviceSessions {
        let signer = try call.deviceSigner()
        let policy = signer.application.policy
        let live = LiveSessions(of: signer.account, policy: policy, at: core.now)
        let (records, total) = try await core.read { store throws(DatabaseFault) in
            (
                try store.sessions.list(live, most: Self.most), try store.sessions.count(live)
            )
        }
        return DeviceSessions(
            sessions: records.map { DeviceSession($0, for: signer, policy: policy) }, total: total)
    }

    /// `POST /v1/device/sessions/{id}/revoke`: ends one session of the calling device's account.
    ///
    /// - Throws: `.notFound` for a session of another account, or none, and `.conflict` if it has
    ///   ended already.
    func endSession(_ call: Call) async throws(Problem) -> EndedSessions {
        try call.emptyBody()
        let id: SessionID = try call.id()
        let signer = try call.deviceSigner()
        let now = core.now
        return try await core.write { store throws(DatabaseFault) in
            try store.accounts.lockAccount(signer.account.id)
            guard let session = try store.sessions.tokenSession(id),
                let registration = try store.registrations.registration(session.registration),
                registration.account == signer.account.id
            else { return .failure(.notFound) }
            var isEnded = false
            if session.end(by: signer.application.policy) > now {
                isEnded = try store.sessions.revoke(session: id, reason: SessionEnd.device, at: now)
            }
            let problem: Problem? = isEnded ? nil : .conflict("the session has already ended")
            var line = entry(.revocation, signer: signer, problem: problem)
            line.detail = """
                session \(id.text) of registration \(session.registration.text), by its account's \
                device
                """
            try store.auditTrail.note(line, from: call.origin, at: now)
            if let problem { return .failure(problem) }
            return .success(EndedSessions(ended: 1))
        }
    }

    /// `POST /v1/device/sessions/revoke`: ends all sessions of the calling device's account, also
    /// those of the device itself.
    ///
    /// A login that is accepted at the same time may begin one that stays.
    func endAllSessions(_ call: Call) async throws(Problem) -> EndedSessions {
        try call.emptyBody()
        let signer = try call.deviceSigner()
        let now = core.now
        return try await core.write { store throws(DatabaseFault) in
            // A refresh reads its session behind this lock, so none revives a session.
            try store.accounts.lockAccount(signer.account.id)
            let count = try store.sessions.revokeSessions(
                ofAccount: signer.account.id, reason: SessionEnd.device, at: now)
            var line = entry(.revocation, signer: signer, problem: nil)
            line.detail = "all \(count) sessions of the account, by its device"
            try store.auditTrail.note(line, from: call.origin, at: now)
            return .success(EndedSessions(ended: count))
        }
    }
}

extension DeviceSession {
    fileprivate init(_ record: AccountSession, for signer: Signer, policy: ApplicationPolicy) {
        self.init(
            session: record.id, own: record.registration == signer.registration.id,
            registration: record.registration, device: record.device,
            deviceName: record.deviceName, factor: AuthenticationFactor.shown(record.factor),
            created: record.created, refreshed: record.refreshed,
            expires: min(record.expires, record.created + policy.refreshSeconds),
            address: record.origin.address.isEmpty ? nil : record.origin.address,
            agent: record.origin.agent.isEmpty ? nil : record.origin.agent)
    }
}
