// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Domain
import JSONFormat
import LoginMessages
import SQL
import ServerAPI

// Lists, confirms, blocks and removes registrations. The rules of each change are those of the call
// that an application makes (`Registrations`); the audit trail names the administrator.
extension AdminVerbs {
    /// The commands for registrations of devices.
    static let registrations: [AdminVerb] = [
        AdminVerb(
            "registration list", operands: ["APPLICATION"],
            options: [.account, .status, .limit],
            summary: "list the registrations of an application, newest first"
        ) { admin, words throws(AdminFault) in try await admin.listRegistrations(words) },
        AdminVerb(
            "registration show", operands: ["ID"], options: [],
            summary: "show all data of a registration"
        ) {
            admin, words throws(AdminFault) in try await admin.showRegistration(words)
        },
        AdminVerb(
            "registration attestation", operands: ["ID"], options: [],
            summary: "show what proves an attested key, as JSON"
        ) {
            admin, words throws(AdminFault) in
            let evidence = try await admin.evidence(of: try words.id(0))
            admin.output.show(
                evidence, lines: [String(decoding: JSON.encode(evidence), as: UTF8.self)])
        },
        AdminVerb(
            "registration commit", operands: ["ID", "FINGERPRINT"], options: [],
            summary: "confirm that someone has compared the key's fingerprint, SHA256:…"
        ) { admin, words throws(AdminFault) in try await admin.commitRegistration(words) },
        AdminVerb(
            "registration set", operands: ["ID"], options: [.flags],
            summary: "replace the flags of a registration"
        ) { admin, words throws(AdminFault) in try await admin.setRegistration(words) },
        AdminVerb(
            "registration block", operands: ["ID"], options: [],
            summary: "block a device and end its sessions"
        ) {
            admin, words throws(AdminFault) in try await admin.change(words, to: .blocked)
        },
        AdminVerb(
            "registration unblock", operands: ["ID"], options: [],
            summary: "unblock a device and clear its failures"
        ) {
            admin, words throws(AdminFault) in try await admin.change(words, to: .active)
        },
        AdminVerb(
            "registration remove", operands: ["ID"], options: [],
            summary:
                "remove a registration permanently; the device destroys its key when it learns of it"
        ) { admin, words throws(AdminFault) in try await admin.change(words, to: .removed) },
    ].map { $0.overHTTP(.application) }
}

extension Administration {
    fileprivate func listRegistrations(_ words: AdminArguments) async throws(AdminFault) {
        let application = try await application(words[0])
        let account = words.text(.account) ?? ""
        let status = words.text(.status)?.uppercased() ?? ""
        guard status.isEmpty || RegistrationStatus(rawValue: status) != nil else {
            throw .usage(
                "--status takes CREATED, PENDING_COMMIT, ACTIVE, BLOCKED or REMOVED")
        }
        let most = words.limit
        output.list(
            try await read { store throws(DatabaseFault) in
                try store.registrations.list(
                    of: application.id, account: account, status: status, most: most
                ).map {
                    ListedRegistration(RegistrationState($0.registration, account: $0.account))
                }
            })
    }

    fileprivate func showRegistration(_ words: AdminArguments) async throws(AdminFault) {
        let (_, state) = try await registration(try words.id(0))
        output.show(
            state,
            lines: [
                "registration  \(state.registration.text)", "account       \(state.account)",
                "device        \(state.device.text)",
                "credential    \(state.credential?.text ?? "-")",
                "device name   \(state.deviceName?.text ?? "-")",
                "status        \(state.status.rawValue)",
                "reason        \(state.reason ?? "-")",
                "fingerprint   \(state.fingerprint ?? "-")", "key           \(state.key ?? "-")",
                "secure boot   \(state.secureBoot ?? "-")",
                "attested      \(shown((state.attested ?? []).map(\.rawValue)))",
                "flags         \(shown(state.flags))", "failures      \(state.failures)",
                "created       \(shown(state.created))",
                "last used     \(shown(state.lastUsed))",
            ])
    }

    fileprivate func commitRegistration(_ words: AdminArguments) async throws(AdminFault) {
        let id: RegistrationID = try words.id(0)
        let (application, _) = try await registration(id)
        let state = try await serve { service throws(Problem) in
            try await service.registrations.commit(
                id, of: application, fingerprint: words[1], from: origin)
        }
        output.show(state, lines: ["the device of '\(state.account)' is \(state.status.rawValue)"])
    }

    fileprivate func setRegistration(_ words: AdminArguments) async throws(AdminFault) {
        let id: RegistrationID = try words.id(0)
        guard let flags = try words.words(.flags) else {
            throw .usage("nothing to change: give --flags")
        }
        let (application, before) = try await registration(id)
        let what = "registration set --flags \(flags.joined(separator: ","))"
        try await changeApplication(
            what, application: application.name, account: before.account, registration: id
        ) {
            store, _, _ throws(DatabaseFault) -> Result<Void, AdminFault> in
            try store.registrations.setFlags(flags, of: id)
            return .success(())
        }
        let (_, state) = try await registration(id)
        output.show(
            state,
            lines: [
                "the device of '\(state.account)' was changed; new tokens will show it"
            ])
    }

    fileprivate func change(
        _ words: AdminArguments, to status: RegistrationStatus
    ) async throws(AdminFault) {
        let id: RegistrationID = try words.id(0)
        let (application, _) = try await registration(id)
        let state = try await serve { service throws(Problem) in
            try await service.registrations.change(
                id, of: application, to: status, because: RemovalReason.administrator,
                from: origin)
        }
        output.show(state, lines: ["the device of '\(state.account)' is \(state.status.rawValue)"])
    }

    /// Returns the registration and its application; throws `.missing` if there is none, or if
    /// commands may not concern it.
    /// Returns what proves that a registration's key is attested.
    ///
    /// - Throws: `.missing` if there is no such registration, or none that commands may concern, or
    ///   its key is not attested.
    func evidence(of id: RegistrationID) async throws(AdminFault) -> AttestationEvidence {
        _ = try await registration(id)
        let text = try await read { store throws(DatabaseFault) in
            try store.attestations.evidence(of: id)
        }
        guard let text else { throw .missing("the key of this registration is not attested") }
        return try await serve { _ throws(Problem) in try AttestationEvidence(stored: text) }
    }

    private func registration(
        _ id: RegistrationID
    ) async throws(AdminFault) -> (ApplicationRecord, RegistrationState) {
        let found = try await read {
            store throws(DatabaseFault) -> (ApplicationRecord, RegistrationState)? in
            guard let registration = try store.registrations.registration(id),
                let account = try store.accounts.account(registration.account),
                let application = try store.applications.application(ofAccount: account.id)
            else { return nil }
            return (application, RegistrationState(registration, account: account))
        }
        guard let found, reaches(found.0) else {
            throw .missing("there is no registration with this id: 'registration list' shows all")
        }
        return found
    }
}

/// A registration in a list; `registration show` prints its other fields.
private struct ListedRegistration: AdminListed {
    let state: RegistrationState

    init(_ state: RegistrationState) {
        self.state = state
    }

    func encode(to encoder: any Encoder) throws { try state.encode(to: encoder) }

    static let columns = [
        "REGISTRATION", "ACCOUNT", "DEVICE-NAME", "STATUS", "REASON", "KEY", "LAST-USED",
    ]
    var cells: [String] {
        [
            state.registration.text, state.account, state.deviceName?.text ?? "-",
            state.status.rawValue, state.reason ?? "-", state.key ?? "-", shown(state.lastUsed),
        ]
    }
}

extension OptionSyntax {
    fileprivate static let status = OptionSyntax(
        "status", ValueSyntax("STATUS"), summary: "only those in this state")
}
