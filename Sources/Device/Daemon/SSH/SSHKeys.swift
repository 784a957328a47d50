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

/// An account's ssh keys, for OpenSSH's security key provider `libsk-signet.so` and for
/// `signet ssh`.
///
/// Each key is sealed to the fingers and to its application, and signs only after a touch for
/// exactly this signature, which leaves a receipt that names it. It signs what the daemon has parsed
/// itself, and nothing else: a login at a server with this very key, or the SSHSIG of a file. The
/// key handle that OpenSSH stores is checked part by part, and proves nothing.
@ServiceActor
final class SSHKeys: RequestService {
    let grants: SSHGrants
    let journal: DecisionJournal
    let settings: Configuration
    let state: StateDirectory
    let vaults: Vaults
    let accounts: Accounts
    let credentials: Credentials
    let guards: TouchGuards
    let holding: SSHKeyHolding
    let templates: TemplateKeyOpener
    let touches: Touches

    init(_ parts: Collaborators) {
        grants = SSHGrants(clock: parts.clock, examiner: parts.examiner)
        journal = parts.journal
        settings = parts.settings
        state = parts.state
        vaults = parts.vaults
        accounts = parts.accounts
        credentials = parts.credentials
        guards = parts.guards
        holding = parts.holdings.only(SSHKeyHolding.self)
        templates = parts.templates
        touches = parts.touches
    }
}

extension SSHKeys {
    /// The handlers for making, using, listing and removing ssh keys.
    var handlers: [RequestHandler] {
        [
            RequestHandler(create), RequestHandler(sign), RequestHandler(list),
            RequestHandler(remove).checkingFirst(checkRemoving), RequestHandler(allow),
        ]
    }

    /// Lists the account's keys, each in the state that the next request would put it in.
    ///
    /// Changes nothing.
    func list(
        _: SSHListRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let keys = try await allKeys(of: account)
        let listed = keys.filter { $0.application != .agent }
        for key in listed { await client.send(.of(SSHKeyAnswer(content(key, account: account)))) }
        return .of(SSHKeyCountAnswer(count: UInt32(clamping: listed.count)))
    }

    /// All keys of an account, of both kinds, each in the state that the next request would put it in.
    func allKeys(of account: Account) async throws(Denial) -> [StoredSSHKey] {
        await templates.openTemplates(of: account)
        return try accounts.reading(account) { () throws(StoreFault) -> [StoredSSHKey] in
            guard let kept = try accounts.kept(account) else { return [] }
            let enrolment = try kept.prints.enrolment()
            let isRevoked =
                switch try kept.credential.judgement(on: enrolment) {
                case .unfit: true
                case .none, .issued, .disabled, .destroyed, .damaged: false
                }
            return try kept.sshKeys.list().map {
                $0.shown(fitting: isRevoked ? nil : enrolment.state)
            }
        }
    }

    /// Throws `unknownSshKey`.
    func checkRemoving(
        _ request: SSHRemoveRequest, account: Account, client _: any Client
    ) async throws(Denial) {
        let key = try accounts.reading(account) { () throws(StoreFault) in
            try accounts.kept(account)?.sshKeys.key(request.key)
        }
        guard key != nil else { throw Denial(.unknownSshKey) }
    }

    /// Destroys a key, without a touch; throws `unknownSshKey` if there is none with this id.
    func remove(
        _ request: SSHRemoveRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        try await accounts.answering(account) {
            let keys = try accounts.kept(account)?.sshKeys
            guard let keys, let key = try keys.key(request.key) else {
                throw Denial(.unknownSshKey)
            }
            try keys.remove(key.identifier)
            journal.credential(of: account, change: "destroyed", because: "\(key.journalText)")
            return .done(DoneAnswer())
        }
    }

    /// A key as clients see it.
    func content(_ key: StoredSSHKey, account: Account) -> SSHKeyContent {
        SSHKeyContent(
            since: key.created.seconds, vault: key.vault.name,
            publicKey: key.publicKey.key.point, application: key.application,
            handle: SSHKeyHandle(device: self.state.device, uid: account.uid, key: key.identifier),
            name: key.name, state: key.shownState)
    }

    /// The application that a client names; throws `sshApplicationRefused` unless it is one of ssh.
    func application(_ typed: Bytes) throws(Denial) -> SSHApplication {
        guard let application = SSHApplication(typed) else {
            throw Denial(.sshApplicationRefused)
        }
        return application
    }

    /// The plan of a touch for a purpose that the user and the queue are shown, and the matter that
    /// its receipt states.
    ///
    /// The names of the requesting programs are added to the purpose, which goes to the journal as
    /// well. A note of the daemon's own comes last. Throws `badRequest` for a purpose that is too
    /// long to be shown whole.
    func plan(
        for request: any DaemonRequest.Type, account: Account, milliseconds: UInt32,
        purpose: Bytes, note: Bytes = [], client: any Client
    ) throws(Denial) -> (TouchPlan, SignedMatter) {
        let programs = Bytes(
            guards.programs(of: client).joined(separator: Bytes(" of ".utf8)))
        let whole =
            (programs.isEmpty ? purpose : purpose + Bytes(", by ".utf8) + programs) + note
        guard whole.count <= Limit.purpose else { throw Denial(.badRequest) }
        client.purpose = whole
        var plan = guards.plan(for: request, account: account, milliseconds: milliseconds)
        plan.confirmed = whole
        let matter = try accounts.reading(account) { () throws(SystemFault) in
            SignedMatter(
                purpose: whole, challenge: Challenge(random: try randomBytes(Challenge.count)))
        }
        return (plan, matter)
    }
}

extension StoredSSHKey {
    /// The state as clients see it.
    var shownState: SSHKeyState {
        switch state {
        case .good: .good
        case .invalidated: .invalidated
        }
    }
}
