// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix
import SQL

/// The server's protocol: its parts, assembled with the dependencies that each one uses.
///
/// Handlers in the table of routes receive this object. State that must outlive a restart is in the
/// database; the caches here never decide whether a device's key or an API key is still valid.
package final class Service: Sendable {
    let core: ServerCore
    let registrations: Registrations
    let attestations: Attestations
    let challenges: Challenges
    let logins: Logins
    let tokens: Tokens
    let requests: Requests
    let macTokens: MACTokens
    let operations: Operations
    let accountViews: AccountViews
    let sessions: Sessions
    let maintenance: Maintenance
    /// Answers `/health/ready`.
    let health: Health
    /// Public keys of devices that signed something recently, parsed.
    let publicKeys = KeyCache()
    /// Authenticates applications.
    let apiKeys: APIKeys
    /// Decides which refused request codes and API keys get an audit line.
    let refusals: AuditQuota
    /// Seals the audit trail.
    let auditChain: AuditChain
    /// Notifies applications.
    let callbacks: Callbacks

    var database: any Database { core.database }
    var keys: ServerSigningKeys { core.keys }
    var clock: Clock { core.clock }
    var issuer: String { core.issuer }

    /// Assembles the parts.
    ///
    /// - Parameters:
    ///   - auditDays: how many days audit lines are kept; 0 keeps them for ever.
    ///   - authorities: those that are trusted to certify TPMs; nil for none.
    ///   - refusals: how many refused request codes per API key and minute get an audit line.
    ///   - callbackNetworks: the addresses that callbacks may be sent to.
    ///   - callbackHours: after how many hours an event that was not delivered is dropped.
    init(
        database: any Database, keys: ServerSigningKeys, clock: Clock, issuer: String,
        auditDays: Int = 0,
        authorities: CertificateAuthorities? = nil, refusals: Int = 120,
        callbackNetworks: CallbackNetworks = CallbackNetworks(), callbackHours: Int = 72
    ) {
        core = ServerCore(database: database, keys: keys, clock: clock, issuer: issuer)
        health = Health(database, beat: heartbeat)
        self.refusals = AuditQuota(perMinute: refusals, clock: clock)
        apiKeys = APIKeys(refusals: self.refusals, core: core)
        auditChain = AuditChain(core: core)
        let signatures = SignatureVerification(publicKeys: publicKeys, core: core)
        challenges = Challenges(core: core, signatures: signatures)
        tokens = Tokens(issuer: issuer, keys: keys, core: core)
        accountViews = AccountViews(core: core)
        sessions = Sessions(core: core)
        operations = Operations(challenges: challenges, core: core)
        logins = Logins(
            keys: keys, challenges: challenges, operations: operations, core: core, tokens: tokens)
        registrations = Registrations(challenges: challenges, core: core)
        attestations = Attestations(authorities: authorities, core: core)
        macTokens = MACTokens(keys: keys, challenges: challenges, core: core)
        requests = Requests(
            database: database, keys: keys, refusals: self.refusals, core: core,
            signatures: signatures)
        callbacks = Callbacks(
            core: core, networks: callbackNetworks, keepHours: Int64(callbackHours),
            figures: CallbackFigures())
        maintenance = Maintenance(
            auditDays: auditDays, clock: clock, database: database, keys: keys, requests: requests,
            apiKeys: apiKeys, auditChain: auditChain, callbacks: callbacks, core: core)
    }
}

/// Writes what a health check writes, on fresh random bytes.
private func heartbeat(in store: any Transaction) throws(DatabaseFault) {
    let random: (padding: [UInt8], challenge: [UInt8])
    do throws(SystemFault) {
        random = (
            try randomBytes(HeartbeatRows.paddingCount), try randomBytes(Challenge.count)
        )
    } catch { throw .broken("no random bytes: \(error)") }
    try store.heartbeats.beat(
        padding: random.padding, challenge: Challenge(random: random.challenge))
}
