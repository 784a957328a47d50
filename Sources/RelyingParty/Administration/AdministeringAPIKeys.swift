// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Crypto
import LoginMessages
import SQL
import ServerAPI

// Creates, changes, lists and revokes API keys. A key is shown once and stored as a hash. A caller
// over HTTP can neither create nor change keys that administer, so a leaked key cannot create
// another that outlives it.
extension AdminVerbs {
    /// The commands for the API keys of applications.
    static let apiKeys: [AdminVerb] = [
        AdminVerb(
            "key add", operands: ["APPLICATION", "NAME"], options: [.scopes, .expires],
            summary: "create an API key for an application and show it once"
        ) { admin, words throws(AdminFault) in try await admin.addKey(words) }
        .unseen { words in
            """
            the key '\(words[1])' is valid but could not be shown. \
            Revoke it with 'key revoke \(words[0]) \(words[1])'
            """
        },
        AdminVerb(
            "key list", operands: ["APPLICATION"], options: [],
            summary: "list an application's API keys: names, scopes, and last use"
        ) {
            admin, words throws(AdminFault) in try await admin.listKeys(words)
        },
        AdminVerb(
            "key set", operands: ["APPLICATION", "NAME"], options: [.scopes, .expires],
            summary: "change the scopes or the expiry of an API key"
        ) {
            admin, words throws(AdminFault) in try await admin.setKey(words)
        },
        AdminVerb(
            "key revoke", operands: ["APPLICATION", "NAME"], options: [],
            summary: "revoke an API key at once"
        ) {
            admin, words throws(AdminFault) in try await admin.revokeKey(words)
        },
    ].map { $0.overHTTP(.application) }
}

extension AdminArguments {
    /// The scopes of `--scopes`; nil if it is absent.
    fileprivate func scopes() throws(AdminFault) -> [Scope]? {
        guard let words = try words(.scopes) else { return nil }
        let all = Scope.allCases.map(\.rawValue).joined(separator: ", ")
        guard !words.isEmpty else { throw .usage("a key needs a scope: \(all)") }
        var scopes: [Scope] = []
        for word in words {
            guard let scope = Scope(rawValue: word) else {
                throw .usage("the scope '\(word)' is unknown. Scopes: \(all)")
            }
            scopes.append(scope)
        }
        return scopes
    }

    /// The end of `--expires`; nil if it is absent.
    fileprivate func expiry(from now: Int64) throws(AdminFault) -> APIKeyExpiry? {
        if text(.expires) == "never" { return .never }
        guard let moment = try moment(.expires, after: now) else { return nil }
        guard moment > now else {
            throw .usage("\(shown(moment)) is in the past: 'key revoke' ends a key now")
        }
        return .at(moment)
    }
}

extension Administration {
    fileprivate func addKey(_ words: AdminArguments) async throws(AdminFault) {
        let (application, name) = (words[0], try words.label(1))
        let scopes = try words.scopes() ?? Scope.ofApplications
        let expires = try words.expiry(from: service.core.now) ?? .never
        guard !isRemote || Scope.ofAdministration.isDisjoint(with: scopes) else {
            throw .refused(AdminFault.keysOfAdministration)
        }
        let key = try await serve { service throws(Problem) in
            try service.core.made { () throws(CryptoFault) in try BearerSecret.apiKey.generate() }
        }
        let digest = key.digest
        let what = ["key add \(name.text)", words.changes].filter { !$0.isEmpty }
        try await changeApplication(what.joined(separator: " "), application: application) {
            store, record, now throws(DatabaseFault) -> Result<Void, AdminFault> in
            let isNew = try store.applications.keepAPIKey(
                digest, name: name, scopes: scopes, expires: expires, madeBy: apiKey,
                of: record.id, at: now)
            guard isNew else {
                return .failure(
                    .refused(
                        """
                        '\(application)' already has or had a key '\(name.text)'. Choose another \
                        name; revoke the old key when it is no longer in use
                        """))
            }
            return .success(())
        }
        let text = String(decoding: key.text, as: UTF8.self)
        output.show(["key": text], lines: [text])
    }

    fileprivate func listKeys(_ words: AdminArguments) async throws(AdminFault) {
        let application = try await application(words[0])
        output.list(
            try await read { store throws(DatabaseFault) in
                try store.applications.apiKeys(of: application.id)
            })
    }

    fileprivate func setKey(_ words: AdminArguments) async throws(AdminFault) {
        let (application, name) = (words[0], words[1])
        let change = APIKeyChange(
            scopes: try words.scopes(), expires: try words.expiry(from: service.core.now))
        guard change.scopes != nil || change.expires != nil else {
            throw .usage("nothing to change: give --scopes or --expires")
        }
        let what = "key set \(name) \(words.changes)"
        try await changeApplication(what, application: application) {
            store, record, _ throws(DatabaseFault) -> Result<Void, AdminFault> in
            if let grant = try store.applications.grant(ofAPIKey: name, of: record.id) {
                if grant.isDelegated, let scopes = change.scopes {
                    guard Scope.ofAdministration.isDisjoint(with: scopes) else {
                        return .failure(.refused(AdminFault.delegatedKey))
                    }
                }
                if isRemote {
                    guard Scope.ofAdministration.isDisjoint(with: grant.scopes) else {
                        return .failure(.refused(AdminFault.keysOfAdministration))
                    }
                    guard !grant.isExceeded(by: change) else {
                        return .failure(.refused(AdminFault.largerGrant))
                    }
                }
            }
            guard try store.applications.changeAPIKey(name, of: record.id, to: change) else {
                return .failure(.noKey(name, of: application))
            }
            return .success(())
        }
        output.done("the key '\(name)' was changed; it applies from the next request")
    }

    fileprivate func revokeKey(_ words: AdminArguments) async throws(AdminFault) {
        let (application, name) = (words[0], words[1])
        try await changeApplication("key revoke \(name)", application: application) {
            store, record, now throws(DatabaseFault) -> Result<Void, AdminFault> in
            guard try store.applications.revokeAPIKey(name, of: record.id, at: now) else {
                return .failure(.noKey(name, of: application))
            }
            return .success(())
        }
        output.done("the key '\(name)' of '\(application)' was revoked")
    }
}

extension AdminFault {
    /// Otherwise a key that has leaked could make others, which outlive it.
    fileprivate static let keysOfAdministration = """
        keys for administration are created and changed only on the server's command line, with \
        'key add' and 'key set'
        """

    /// Otherwise it could make keys that outlive the one that made it.
    fileprivate static let delegatedKey = """
        another key made this one over HTTP, so it cannot be given the scopes of administration: make \
        a key for that with 'key add'
        """

    /// Otherwise what a caller grants could outlast the key that granted it.
    fileprivate static let largerGrant = """
        over HTTP, a key can only lose scopes, and its end can only be moved to an earlier time: use \
        'key set' on the server's command line, or make another key
        """

    fileprivate static func noKey(_ name: String, of application: String) -> AdminFault {
        .missing("'\(application)' has no valid key '\(name)': 'key list' shows all")
    }
}

extension ListedKey: AdminListed {
    static let columns = [
        "NAME", "SCOPES", "CREATED", "EXPIRES", "LAST-USED", "REVOKED", "MADE-BY",
    ]
    var cells: [String] {
        [
            name, shown(scopes), shown(created), shown(expires), shown(lastUsed), shown(revoked),
            madeBy ?? "-",
        ]
    }
}

extension OptionSyntax {
    fileprivate static let scopes = OptionSyntax(
        "scopes", ValueSyntax("WORDS", kind: .words),
        summary:
            "what it may be used for, with commas between; the default is all but admin and server")
    fileprivate static let expires = OptionSyntax(
        "expires", ValueSyntax("TIME"),
        summary: "when it ends, for example 2027-01-01 or 90d; the default is never")
}
