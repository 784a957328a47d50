// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Crypto
import LoginMessages
import SQL

// Lists, rotates and retires the keys that sign tokens and verdicts. The signatures of a key that
// was replaced remain valid for a day, or until it is retired; the key that signs now cannot be
// retired.
extension AdminVerbs {
    /// The server's signing keys.
    static let signingKeys: [AdminVerb] = [
        AdminVerb(
            "signing-key list", operands: [], options: [],
            summary: "list the keys that sign tokens and verdicts"
        ) {
            admin, _ throws(AdminFault) in
            try await SigningKeyAdministration(admin: admin).listSigningKeys()
        }
        .overHTTP(.server),
        AdminVerb(
            "signing-key rotate", operands: [OperandSyntax(.choice("token", "verdict"))],
            options: [],
            summary: "create a new key; signatures of the old one remain valid"
        ) { admin, words throws(AdminFault) in
            try await SigningKeyAdministration(admin: admin).rotate(words)
        }
        .overHTTP(.server, members: ["use"]),
        AdminVerb(
            "signing-key retire", operands: ["ID"], options: [],
            summary: "remove a key that has been replaced; its signatures are refused from then on"
        ) { admin, words throws(AdminFault) in
            try await SigningKeyAdministration(admin: admin).retire(words)
        }
        .overHTTP(.server),
    ]
}

/// The commands for the server's signing keys.
private struct SigningKeyAdministration {
    let admin: Administration

    func listSigningKeys() async throws(AdminFault) {
        let now = admin.service.core.now
        admin.output.list(
            try await admin.read { store throws(DatabaseFault) in
                var all: [ListedSigningKey] = []
                for use in KeyUse.allCases {
                    let keys = try store.signingKeys.list(use)
                    let signing = keys.signing(use, at: now)?.id
                    all += keys.map { ListedSigningKey($0, use: use, isSigning: $0.id == signing) }
                }
                return all
            })
    }

    func rotate(_ words: AdminArguments) async throws(AdminFault) {
        guard let use = KeyUse(rawValue: words[0]) else {
            throw .usage("the use '\(words[0])' is unknown: it must be token or verdict")
        }
        let key = try await admin.serve { service throws(Problem) in
            try admin.service.core.made { () throws(CryptoFault) in try admin.service.keys.fresh() }
        }
        try await admin.change("signing-key rotate \(use.rawValue)") {
            store, now throws(DatabaseFault) -> Result<Void, AdminFault> in
            try store.signingKeys.endSigningKey(use, at: now + use.leadSeconds)
            guard try store.signingKeys.keep(key, for: use, at: now) else {
                return .failure(
                    .refused(
                        "another administrator has just created a key: 'signing-key list' shows it")
                )
            }
            return .success(())
        }
        var lines = ["new \(use.rawValue) key \(key.id)"]
        switch use {
        case .token:
            lines.append(
                """
                it is published within two seconds and signs in \(use.leadSeconds / 60) minutes, \
                after all verifiers have fetched it, or at once if you remove the old key with \
                'signing-key retire'
                """)
        case .verdict:
            lines.append(
                """
                running servers use it within two seconds; \
                devices that have pinned the old key refuse verdicts until they pin this one
                """)
        }
        admin.output.show(["id": key.id, "use": use.rawValue], lines: lines)
    }

    func retire(_ words: AdminArguments) async throws(AdminFault) {
        let id = words[0]
        try await admin.change("signing-key retire \(id)") {
            store, _ throws(DatabaseFault) -> Result<Void, AdminFault> in
            for use in KeyUse.allCases {
                for key in try store.signingKeys.list(use) where key.id == id {
                    guard key.retired != nil else {
                        return .failure(
                            .refused(
                                "this key is in use: run 'signing-key rotate \(use.rawValue)' first"
                            ))
                    }
                    try store.signingKeys.forgetSigningKey(id)
                    return .success(())
                }
            }
            return .failure(.missing("there is no key with this id: 'signing-key list' shows all"))
        }
        admin.output.done(
            """
            the key was removed; running servers drop it within two seconds, \
            caches of the JWKS within five minutes
            """)
    }
}

/// A signing key in a list.
private struct ListedSigningKey: AdminListed {
    let id: String
    let use: String
    let signing: Bool
    let created: Int64
    let retired: Int64?

    init(_ record: SigningKeyRecord, use: KeyUse, isSigning: Bool) {
        id = record.id
        self.use = use.rawValue
        signing = isSigning
        created = record.created
        retired = record.retired
    }

    static let columns = ["ID", "USE", "SIGNS", "CREATED", "RETIRED"]
    var cells: [String] { [id, use, signing ? "yes" : "no", shown(created), shown(retired)] }
}
