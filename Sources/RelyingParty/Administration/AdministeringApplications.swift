// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages
import SQL
import ServerAPI

// Creates applications and sets their policies. A policy that contradicts itself or the
// application's templates, or that no device could satisfy, is refused as a whole. Existing
// registrations stay, and are judged by the new policy from the next call on.
extension AdminVerbs {
    private static let policy: [OptionSyntax] = [
        .devices, .commit, .biometrics, .passwords, .keys, .secureBoot, .maximumFailures,
        .accessSeconds, .refreshSeconds, .roles,
    ]

    /// The commands for applications.
    static let applications: [AdminVerb] = [
        AdminVerb(
            "application add", operands: ["NAME"], options: [.audience] + policy,
            summary: "create an application"
        ) { admin, words throws(AdminFault) in try await admin.addApplication(words) }
        .overHTTP(.server),
        AdminVerb(
            "application list", operands: [], options: [],
            summary: "list all applications with their policies"
        ) {
            admin, _ throws(AdminFault) in try await admin.listApplications()
        }
        .overHTTP(.server),
        AdminVerb(
            "application set", operands: ["NAME"], options: policy,
            summary: "change the policy of an application; existing registrations stay"
        ) { admin, words throws(AdminFault) in try await admin.setApplication(words) }
        .overHTTP(.application),
        AdminVerb(
            "application remove", operands: ["NAME"], options: [.registeredDevices],
            summary: "remove an application permanently; its audit trail stays"
        ) { admin, words throws(AdminFault) in try await admin.removeApplication(words) }
        .overHTTP(.server),
        AdminVerb(
            "application pam-file", operands: ["NAME"], options: [],
            summary: "print the file for machines that ask this server when users log in"
        ) { admin, words throws(AdminFault) in try await admin.showLoginFile(words) }
        .overHTTP(.application),
    ]
}

extension AdminArguments {
    /// Applies the policy options to a policy; options that are absent change nothing.
    func policy(_ start: ApplicationPolicy) -> ApplicationPolicy {
        var policy = start
        if let several = choice(.devices, yes: "several") { policy.severalDevices = several }
        if let commit = choice(.commit, yes: "yes") { policy.commitRequired = commit }
        if let fingers = choice(.biometrics, yes: "yes") { policy.biometrics = fingers }
        if let passwords = choice(.passwords, yes: "yes") { policy.passwords = passwords }
        if let keys = text(.keys).flatMap(KeyRequirement.init) { policy.keys = keys }
        if let boot = text(.secureBoot).flatMap(BootRequirement.init) { policy.secureBoot = boot }
        if let most = count(.maximumFailures) { policy.maximumFailures = most }
        if let seconds = count(.accessSeconds) { policy.accessSeconds = seconds }
        if let seconds = count(.refreshSeconds) { policy.refreshSeconds = seconds }
        return policy
    }
}

extension Administration {
    fileprivate func addApplication(_ words: AdminArguments) async throws(AdminFault) {
        let name = try words.label(0)
        let audience = words.text(.audience) ?? "\(service.issuer)/\(name.text)"
        guard Name(audience) != nil else {
            throw .usage("an audience must have 1 to 128 bytes and no control characters")
        }
        let policy = words.policy(ApplicationPolicy())
        let roles = try words.words(.roles)
        try requireAuthorities(for: words)
        if let fault = Self.objection(to: policy, templatesAcceptPasswords: false) { throw fault }
        let made = try await change("application add \(name.text)", of: name.text) {
            store, now throws(DatabaseFault) -> Result<ApplicationRecord, AdminFault> in
            guard
                let made = try store.applications.makeApplication(
                    name, audience: audience, policy: policy, at: now)
            else {
                let left = try store.applications.unfinishedRemoval(
                    name: name.text, audience: audience)
                return .failure(.taken(left))
            }
            guard let roles else { return .success(made) }
            try store.applications.setRoles(of: made.id, to: roles)
            return .success(try store.applications.application(name: made.name) ?? made)
        }
        output.show(
            ListedApplication(made),
            lines: [
                "application '\(made.name)' was created; its audience is \(made.audience)",
                "next: 'key add \(made.name) NAME' for its back end, 'activation add' for each user",
            ])
    }

    /// Refuses a policy that no device could fulfil, because this server names no authorities.
    private func requireAuthorities(for words: AdminArguments) throws(AdminFault) {
        let isNeeded =
            words.text(.keys) == KeyRequirement.attested.rawValue
            || words.text(.secureBoot) == BootRequirement.attested.rawValue
        guard isNeeded, !service.attestations.isOffered else { return }
        throw .refused(
            """
            no device could be registered: name those who certify TPMs in attestation.authorities \
            of server.conf, and restart the server
            """)
    }

    /// Why a policy contradicts itself or the application's templates; nil if it does not.
    private static func objection(
        to policy: ApplicationPolicy, templatesAcceptPasswords: Bool
    ) -> AdminFault? {
        guard policy.needsAttestation else { return nil }
        if policy.passwords {
            return .refused(
                """
                nothing is attested of a key for a password: choose either --passwords no, or \
                neither --keys attested nor --secure-boot attested
                """)
        }
        guard templatesAcceptPasswords else { return nil }
        return .refused(
            """
            nothing is attested of a key for a password, and some templates accept passwords: \
            'template list' shows them, 'template remove' removes them
            """)
    }

    fileprivate func listApplications() async throws(AdminFault) {
        let all = try await read { store throws(DatabaseFault) in try store.applications.list() }
        output.list(all.map(ListedApplication.init))
    }

    fileprivate func setApplication(_ words: AdminArguments) async throws(AdminFault) {
        let name = words[0]
        let changes = words.changes
        guard !changes.isEmpty else {
            throw .usage("nothing to change: give an option")
        }
        let roles = try words.words(.roles)
        try requireAuthorities(for: words)
        try await changeApplication("application set \(changes)", application: name) {
            store, record, _ throws(DatabaseFault) -> Result<Void, AdminFault> in
            let policy = words.policy(record.policy)
            let fault = Self.objection(
                to: policy,
                templatesAcceptPasswords: try store.templates.acceptPasswords(of: record.id))
            if let fault { return .failure(fault) }
            try store.applications.setPolicy(of: record.id, policy: policy)
            if let roles { try store.applications.setRoles(of: record.id, to: roles) }
            return .success(())
        }
        output.done("the policy of '\(name)' was changed; it applies from the next request")
    }
}

extension AdminFault {
    /// The name or the audience is taken; `left` names the application that has it and is being
    /// removed.
    fileprivate static func taken(_ left: String?) -> AdminFault {
        guard let left else {
            return .refused(
                "the name or the audience is already in use: 'application list' shows all")
        }
        return .refused(
            """
            '\(left)', which has this name or audience, is being removed: if no removal is \
            running, run 'application remove \(left)' to finish it
            """)
    }
}

/// An application in a list.
struct ListedApplication: AdminListed {
    let name: String
    let audience: String
    let devices: String
    let commit: Bool
    let biometrics: Bool
    let passwords: Bool
    let keys: String
    let secureBoot: String
    let maximumFailures: Int64
    let accessSeconds: Int64
    let refreshSeconds: Int64
    let roles: [String]

    init(_ record: ApplicationRecord) {
        let policy = record.policy
        name = record.name
        audience = record.audience
        devices = policy.severalDevices ? "several" : "one"
        commit = policy.commitRequired
        biometrics = policy.biometrics
        passwords = policy.passwords
        keys = policy.keys.rawValue
        secureBoot = policy.secureBoot.rawValue
        maximumFailures = policy.maximumFailures
        accessSeconds = policy.accessSeconds
        refreshSeconds = policy.refreshSeconds
        roles = record.roles
    }

    static let columns = [
        "NAME", "AUDIENCE", "DEVICES", "COMMIT", "BIOMETRICS", "PASSWORDS", "KEYS", "SECURE-BOOT",
        "MAX-FAILURES", "ACCESS-SECONDS", "REFRESH-SECONDS", "ROLES",
    ]

    var cells: [String] {
        [
            name, audience, devices, commit ? "yes" : "no", biometrics ? "yes" : "no",
            passwords ? "yes" : "no", keys, secureBoot, "\(maximumFailures)", "\(accessSeconds)",
            "\(refreshSeconds)", shown(roles),
        ]
    }
}

extension OptionSyntax {
    fileprivate static let audience = OptionSyntax(
        "audience", ValueSyntax("URL"),
        summary: "the name that each signed statement for it contains")
    fileprivate static let devices = OptionSyntax(
        "devices", .choice("one", "several"),
        summary: "whether a new device replaces the old one of an account")
    fileprivate static let commit = OptionSyntax(
        "commit", .choice("yes", "no"),
        summary: "whether someone must compare the fingerprint of a new key")
    fileprivate static let biometrics = OptionSyntax(
        "biometrics", .choice("yes", "no"), summary: "whether touches are accepted")
    fileprivate static let passwords = OptionSyntax(
        "passwords", .choice("yes", "no"),
        summary: "whether the account's password on the device is accepted in place of a touch")
    fileprivate static let keys = OptionSyntax(
        "keys", .choice("any", "tpm", "attested"),
        summary: "whether keys must be in a TPM, by the device's word or proven")
    fileprivate static let secureBoot = OptionSyntax(
        "secure-boot", .choice("any", "on", "attested"),
        summary: "whether Secure Boot must be on, by the device's word or proven")
    fileprivate static let maximumFailures = OptionSyntax(
        "max-failures", .number(1...100),
        summary: "how many logins in a row with an old counter block a device")
    fileprivate static let accessSeconds = OptionSyntax(
        "access-seconds", .number(30...86_400), summary: "the lifetime of an access token")
    fileprivate static let refreshSeconds = OptionSyntax(
        "refresh-seconds", .number(60...31_536_000), summary: "the lifetime of its session")
    fileprivate static let roles = OptionSyntax(
        "roles", ValueSyntax("WORDS", kind: .words),
        summary: "what the application itself is, separated by commas; verifications state it")
    /// The option of `application remove`.
    static let registeredDevices = OptionSyntax(
        "devices", .choice("refuse", "remove"),
        summary: "what happens if it has registrations; the default is refuse")
}
