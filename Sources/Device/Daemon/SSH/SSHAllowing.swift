// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import SSHProtocol
import SignedFormats
import State

extension SSHKeys {
    /// How often it is looked whether a grant may still hold.
    private static let examination = Duration.milliseconds(250)

    /// Has one touch allow a few signatures, and holds the grant until it ends.
    ///
    /// Throws `sshGrantsOff` unless the administrator has turned grants on, `unknownSshKey`,
    /// `sshKeyInvalidated`, the denials of the touch, and the denial of what ends the grant before
    /// its time: a closed lid, a session that is no longer in front, a lockout, changed fingers.
    func allow(
        _ request: SSHAllowRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        guard settings.word(Settings.sshGrants) == Settings.allow else {
            throw Denial(.sshGrantsOff)
        }
        let key = try await usableKey(request.key, account: account)
        // signet-agent is not among the programs that the client starts, so no grant would serve.
        guard key.application != .agent else { throw Denial(.sshApplicationRefused) }
        let (plan, matter) = try plan(
            for: SSHAllowRequest.self, account: account,
            milliseconds: request.timeoutMilliseconds, purpose: request.purpose, client: client)
        var earlier: GrantingTouch?
        _ = try await touches.afterTouch(plan, matter: matter, client: client) {
            (snapshot, touch) throws(Denial) in
            earlier = GrantingTouch(touch: touch, snapshot: snapshot)
            return .done(DoneAnswer())
        }
        guard let earlier else { throw Denial(.cancelled) }
        let grant = try grants.begin(request, account: account, earlier: earlier, client: client)
        defer { grants.end(grant, isCancelled: Task.isCancelled) }
        await client.send(
            .of(SSHAllowedAnswer(signatures: request.signatures, seconds: request.seconds)))
        while !Task.isCancelled {
            let left = grants.timeLeft(of: grant)
            guard left > .zero else { break }
            _ = await interruptible(by: grant.ending) {
                await limited(to: min(left, Self.examination)) { await untilCancelled() }
            }
            guard grants.timeLeft(of: grant) > .zero else { break }
            try await examine(grant, plan: plan, account: account)
        }
        if let denial = grant.denial { throw denial }
        if Task.isCancelled { throw Denial(.cancelled) }
        return .done(DoneAnswer())
    }

    /// Throws, and ends the grant, unless everything still holds that a touch needs.
    private func examine(
        _ grant: SSHGrant, plan: TouchPlan, account: Account
    ) async throws(Denial) {
        do throws(Denial) {
            try grants.checkHolds(grant)
            let earlier = grant.earlier
            try await guards.checkStillHolds(earlier.touch)
            if let lockout = try await credentials.guardedFingers(of: account, for: .report).lockout
            {
                throw lockout
            }
            guard earlier.isOf(try credentials.snapshot(of: account)) else {
                throw Denial(.changedMeanwhile)
            }
        } catch {
            grant.end(because: error)
            throw error
        }
    }

    /// Signs without a touch of its own what a grant covers; nil if none does.
    ///
    /// Everything that must hold before a finger is asked for must hold for this signature as well,
    /// and a guard that does not pass ends the grant. The signature states that the user was
    /// present, and not that the user was verified, since the finger matched for the grant. It
    /// leaves a receipt of its own, which says so.
    func granted(
        _ request: SSHSignRequest, _ signable: SSHSignable, by key: StoredSSHKey,
        account: Account, client: any Client
    ) async throws(Denial) -> Answer? {
        guard !request.wantsVerification,
            let grant = grants.covering(
                signable.content, by: key.identifier, account: account, client: client,
                fingerprint: { Self.fingerprint(ofKey: $0) })
        else { return nil }
        let purpose = signable.content.purpose { Self.fingerprint(ofKey: $0) }
        let plan = guards.plan(
            for: SSHSignRequest.self, account: account, milliseconds: request.timeoutMilliseconds)
        do throws(Denial) {
            _ = try await guards.admit(plan, client: client)
            try await examine(grant, plan: plan, account: account)
        } catch {
            grant.end(because: error)
            throw error
        }
        guard let granted = grants.use(grant) else { return nil }
        let (_, matter) = try self.plan(
            for: SSHSignRequest.self, account: account,
            milliseconds: request.timeoutMilliseconds, purpose: purpose, note: granted.note,
            client: client)
        // A touch for something else may hold up the receipt; the grant must hold after that as well.
        let snapshot = try await touches.addReceipt(
            matter, account: account, for: granted.earlier, within: plan.timeout
        ) { () throws(Denial) in try await self.examine(grant, plan: plan, account: account) }
        try await examine(grant, plan: plan, account: account)
        return .of(
            try await signature(
                signable, by: key, flags: SSHSecurityKey.presenceFlags, account: account,
                snapshot: snapshot, for: granted.earlier.touch))
    }
}
