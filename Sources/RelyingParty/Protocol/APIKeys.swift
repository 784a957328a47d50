// SPDX-License-Identifier: Apache-2.0
import Posix
import SQL

/// Authenticates applications by their API keys, and records who used one that is not valid.
///
/// A key is valid if it is not revoked, its application is not being removed, it has not expired,
/// and it has a scope that the call requires. Someone who presents a key that was never issued
/// learns only that it is refused. Someone who has the secret of a key learns what is wrong with
/// it, and leaves a line in the audit trail: the first of its kind in a minute, and a count of the
/// others (`AuditQuota`).
struct APIKeys: Sendable {
    /// The keys that were recently valid.
    let cache = APIKeyCache()
    /// When keys were used, as far as that is not stored yet.
    let uses = APIKeyUses()
    let refusals: AuditQuota
    let core: ServerCore
}

extension APIKeys {
    /// Returns the application of an API key that permits the call.
    ///
    /// With `isRemembered`, a cached key is not looked up again: the call must then check the key
    /// in its own transaction (`Transaction.objection`).
    ///
    /// - Parameters:
    ///   - hash: the digest of the key that was presented.
    ///   - what: the call, as the audit trail names it.
    /// - Throws: `.apiKeyRefused`, `.apiKeyRevoked`, `.apiKeyExpired` or `.scopeMissing`.
    func admit(
        _ hash: [UInt8], to required: RequiredScopes, isRemembered: Bool = false,
        for what: String, from origin: Origin
    ) async throws(Problem) -> AskingApplication {
        let now = core.now
        if isRemembered, let known = cache.key(of: hash),
            known.state.objection(to: required, at: now) == nil
        {
            uses.note(hash, at: now)
            return AskingApplication(known, hash: hash, required: required)
        }
        let found = try await core.read { store throws(DatabaseFault) in
            try store.applications.apiKey(hash)
        }
        guard let key = found else {
            cache.forget(hash)
            throw .apiKeyRefused
        }
        if let objection = key.state.objection(to: required, at: now) {
            cache.forget(hash)
            // The key itself is valid, so this is a use of it.
            if objection.status == 403 { uses.note(hash, at: now) }
            try await write(
                objection, application: key.application.name, key: key.name, for: what,
                from: origin)
            throw objection
        }
        cache.keep(key, of: hash)
        uses.note(hash, at: now)
        return AskingApplication(key, hash: hash, required: required)
    }

    /// Records that a key which was valid when the call began does not permit it after all.
    ///
    /// - Throws: `.unavailable` if that could not be written down.
    func note(
        _ problem: Problem, by application: AskingApplication, for what: String,
        from origin: Origin
    ) async throws(Problem) {
        cache.forget(application.apiKey)
        try await write(
            problem, application: application.record.name, key: application.name, for: what,
            from: origin)
    }

    private func write(
        _ problem: Problem, application: String, key: String, for what: String,
        from origin: Origin
    ) async throws(Problem) {
        let origin = origin.with(apiKey: key)
        let source = AuditQuota.Source(
            application: application, apiKey: key,
            kind: .refusedKey(code: problem.code, title: problem.title))
        guard refusals.hasLine(for: source, from: origin) else { return }
        let now = core.now
        let entry = AuditEntry(
            event: .apiKey, outcome: problem.code, application: application,
            detail: "\(problem.title): \(what)")
        do throws(Problem) {
            try await core.write { store throws(DatabaseFault) -> Result<Void, Problem> in
                try store.auditTrail.note(entry, from: origin, at: now)
                return .success(())
            }
        } catch {
            // Counted instead, so that it is not forgotten.
            refusals.putBack([AuditQuota.Unwritten(source: source, count: 1, origin: origin)])
            throw error
        }
    }

    /// Stores when keys were last used, in one transaction; called once a minute.
    ///
    /// If the database fails, the times are kept for the next attempt.
    func writeUses() async {
        let taken = uses.take()
        guard !taken.isEmpty else { return }
        do throws(DatabaseFault) {
            try await core.database.write { store throws(DatabaseFault) in
                // In one order at all servers, so that none waits for another in a circle.
                for use in taken { try store.applications.noteUse(ofAPIKey: use.key, at: use.last) }
            }
        } catch {
            uses.putBack(taken)
            report("the last uses of API keys could not be written down: \(error)")
        }
    }
}

extension APIKeyState {
    /// Why a key does not permit a call at a time; nil if it does.
    func objection(to required: RequiredScopes, at now: Int64) -> Problem? {
        if isRevoked { return .apiKeyRevoked }
        if let expires, expires <= now { return .apiKeyExpired }
        return required.isMet(by: scopes) ? nil : .scopeMissing(required.first)
    }
}

extension Transaction {
    /// Why the caller's API key no longer permits the call; nil if it still does, and for a
    /// device's own call.
    func objection(
        to application: AskingApplication?, at now: Int64
    ) throws(DatabaseFault) -> Problem? {
        guard let application else { return nil }
        guard let state = try applications.apiKey(application.apiKey)?.state else {
            return .apiKeyRefused
        }
        return state.objection(to: application.required, at: now)
    }
}
