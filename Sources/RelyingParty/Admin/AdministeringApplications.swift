// SPDX-License-Identifier: Apache-2.0
import Crypto
import SQL

extension AdminVerbs {
    private static let policy = [
        AdminOption("--devices", "one|several"), AdminOption("--commit", "yes|no"),
        AdminOption("--biometrics", "yes|no"), AdminOption("--keys", "any|tpm"),
        AdminOption("--secure-boot", "any|on"), AdminOption("--max-failures", "NUMBER"),
        AdminOption("--access-seconds", "NUMBER"), AdminOption("--refresh-seconds", "NUMBER"),
    ]

    /// Applications and their API keys.
    static let applications: [AdminVerb] = [
        AdminVerb(
            "application add", ["NAME"], [AdminOption("--audience", "URL")] + policy,
            "makes an application"
        ) { admin, words throws(AdminFault) in try await admin.addApplication(words) },
        AdminVerb("application list", [], [], "shows all applications with their policies") {
            admin, _ throws(AdminFault) in try await admin.listApplications()
        },
        AdminVerb(
            "application set", ["NAME"], policy,
            "changes the policy; what is registered already stays"
        ) { admin, words throws(AdminFault) in try await admin.setApplication(words) },
        AdminVerb(
            "application remove", ["NAME"], [AdminOption("--devices", "refuse|remove")],
            "removes an application and all of it but its audit trail, for good"
        ) { admin, words throws(AdminFault) in try await admin.removeApplication(words) },
        AdminVerb(
            "application pam-file", ["NAME"], [],
            "prints the file by which machines ask this server at their logins"
        ) { admin, words throws(AdminFault) in try await admin.showLoginFile(words) },
        AdminVerb(
            "key add", ["APPLICATION", "NAME"], [],
            "makes an API key of an application, and shows it once"
        ) { admin, words throws(AdminFault) in try await admin.addKey(words) }
        .unseen { words in
            """
            the key '\(words[1])' holds, and nobody has seen it: \
            end it by 'key revoke \(words[0]) \(words[1])'
            """
        },
        AdminVerb("key list", ["APPLICATION"], [], "shows the names of an application's API keys") {
            admin, words throws(AdminFault) in try await admin.listKeys(words)
        },
        AdminVerb("key revoke", ["APPLICATION", "NAME"], [], "ends an API key, at once") {
            admin, words throws(AdminFault) in try await admin.revokeKey(words)
        },
    ]
}

extension AdminArguments {
    /// Applies the options to a policy; those that are absent change nothing.
    func policy(_ start: ApplicationPolicy) throws(AdminFault) -> ApplicationPolicy {
        var policy = start
        if let several = try choice("--devices", "one", "several") {
            policy.severalDevices = several
        }
        if let commit = try choice("--commit", "no", "yes") { policy.commitRequired = commit }
        if let fingers = try choice("--biometrics", "no", "yes") { policy.biometrics = fingers }
        if let tpm = try choice("--keys", "any", "tpm") { policy.needsTPM = tpm }
        if let boot = try choice("--secure-boot", "any", "on") { policy.needsSecureBoot = boot }
        if let most = try count("--max-failures", 1...100) { policy.maximumFailures = most }
        if let seconds = try count("--access-seconds", 30...86_400) {
            policy.accessSeconds = seconds
        }
        if let seconds = try count("--refresh-seconds", 60...31_536_000) {
            policy.refreshSeconds = seconds
        }
        return policy
    }
}

extension Administration {
    fileprivate func addApplication(_ words: AdminArguments) async throws(AdminFault) {
        let name = try words.name(0)
        let audience = words.options["--audience"] ?? "\(service.issuer)/\(name.text)"
        guard Name(audience) != nil else {
            throw .usage("an audience has 1 to 128 bytes and no control characters")
        }
        let policy = try words.policy(ApplicationPolicy())
        let made = try await change("application add \(name.text)", of: name.text) {
            store, now throws(DatabaseFault) -> Result<ApplicationRecord, AdminFault> in
            guard
                let made = try store.applications.makeApplication(
                    name, audience: audience, policy, at: now)
            else {
                let left = try store.applications.unfinishedRemoval(
                    name: name.text, audience: audience)
                return .failure(.taken(left))
            }
            return .success(made)
        }
        output.show(
            ListedApplication(made),
            [
                "application '\(made.name)' is there; its audience is \(made.audience)",
                "next: 'key add \(made.name) NAME' for its back end, 'activation add' for a person",
            ])
    }

    fileprivate func listApplications() async throws(AdminFault) {
        let all = try await read { store throws(DatabaseFault) in try store.applications.list() }
        output.list(all.map(ListedApplication.init))
    }

    fileprivate func setApplication(_ words: AdminArguments) async throws(AdminFault) {
        let name = words[0]
        // Validated before anything is read; applied again in the transaction that writes.
        _ = try words.policy(ApplicationPolicy())
        guard !words.options.isEmpty else {
            throw .usage("nothing is to be changed: give an option")
        }
        let changes = words.options.map { "\($0.key) \($0.value)" }.sorted().joined(separator: " ")
        try await changeApplication("application set \(changes)", name) {
            store, record, _ throws(DatabaseFault) -> Result<Void, AdminFault> in
            let policy: ApplicationPolicy
            do throws(AdminFault) {
                policy = try words.policy(record.policy)
            } catch { return .failure(error) }
            try store.applications.setPolicy(of: record.id, policy)
            return .success(())
        }
        output.done("the policy of '\(name)' is changed; it holds from the next request on")
    }

    fileprivate func addKey(_ words: AdminArguments) async throws(AdminFault) {
        let (application, name) = (words[0], try words.name(1))
        let key = try await serve { service throws(Problem) in
            try service.core.made { () throws(CryptoFault) in try BearerSecret.apiKey.generate() }
        }
        let digest = key.digest
        try await changeApplication("key add \(name.text)", application) {
            store, record, now throws(DatabaseFault) -> Result<Void, AdminFault> in
            guard try store.applications.keepAPIKey(digest, name: name, of: record.id, at: now)
            else {
                return .failure(
                    .refused(
                        """
                        '\(application)' has, or had, a key '\(name.text)': take another name, \
                        and revoke the old one when nobody uses it any more
                        """))
            }
            return .success(())
        }
        let text = String(decoding: key.text, as: UTF8.self)
        output.show(["key": text], [text])
    }

    fileprivate func listKeys(_ words: AdminArguments) async throws(AdminFault) {
        let application = try await application(words[0])
        output.list(
            try await read { store throws(DatabaseFault) in
                try store.applications.apiKeys(of: application.id)
            })
    }

    fileprivate func revokeKey(_ words: AdminArguments) async throws(AdminFault) {
        let (application, name) = (words[0], words[1])
        try await changeApplication("key revoke \(name)", application) {
            store, record, now throws(DatabaseFault) -> Result<Void, AdminFault> in
            guard try store.applications.revokeAPIKey(name, of: record.id, at: now) else {
                return .failure(
                    .missing(
                        "'\(application)' has no key '\(name)' that holds: 'key list' shows all"))
            }
            return .success(())
        }
        output.done("the key '\(name)' of '\(application)' holds no more")
    }
}

extension AdminFault {
    /// Another application has the name or audience; `left` names one under removal.
    fileprivate static func taken(_ left: String?) -> AdminFault {
        guard let left else {
            return .refused("the name or the audience is taken: 'application list' shows all")
        }
        return .refused(
            """
            '\(left)', which has the name or the audience, is being removed: if nobody does that \
            now, 'application remove \(left)' goes on with it
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
    let keys: String
    let secureBoot: String
    let maximumFailures: Int64
    let accessSeconds: Int64
    let refreshSeconds: Int64

    init(_ record: ApplicationRecord) {
        let policy = record.policy
        name = record.name
        audience = record.audience
        devices = policy.severalDevices ? "several" : "one"
        commit = policy.commitRequired
        biometrics = policy.biometrics
        keys = policy.needsTPM ? "tpm" : "any"
        secureBoot = policy.needsSecureBoot ? "on" : "any"
        maximumFailures = policy.maximumFailures
        accessSeconds = policy.accessSeconds
        refreshSeconds = policy.refreshSeconds
    }

    static let columns = [
        "NAME", "AUDIENCE", "DEVICES", "COMMIT", "BIOMETRICS", "KEYS", "SECURE-BOOT",
        "MAX-FAILURES", "ACCESS-SECONDS", "REFRESH-SECONDS",
    ]

    var cells: [String] {
        [
            name, audience, devices, commit ? "yes" : "no", biometrics ? "yes" : "no", keys,
            secureBoot, "\(maximumFailures)", "\(accessSeconds)", "\(refreshSeconds)",
        ]
    }
}

extension ListedKey: AdminListed {
    static let columns = ["NAME", "CREATED", "REVOKED"]
    var cells: [String] { [name, shown(created), shown(revoked)] }
}
