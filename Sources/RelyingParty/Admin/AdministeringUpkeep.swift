// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import LoginMessages
import Posix
import SQL

extension AdminVerbs {
    /// The audit trail.
    static let audit: [AdminVerb] = [
        AdminVerb(
            "audit prune", operands: [], options: [.before],
            summary: "delete old lines of the audit trail permanently"
        ) { admin, words throws(AdminFault) in try await admin.pruneAudit(words) },
        AdminVerb(
            "audit", operands: [],
            options: [.since, .application, .account, .event, .apiKey, .limit],
            summary: "show the audit trail, the newest line last"
        ) { admin, words throws(AdminFault) in try await admin.showAudit(words) },
    ]

    /// The database and the configuration.
    static let upkeep: [AdminVerb] = [
        AdminVerb(
            "migrate", operands: [], options: [],
            summary:
                "convert the database to the format of this program, as the server does at its start",
            work: .configuration { settings, output throws(AdminFault) in
                let database = try AdminFiles.open(settings)
                do throws(DatabaseFault) {
                    try await database.migrate(Schema.steps)
                } catch {
                    await database.close()
                    throw AdminFault(error)
                }
                await database.close()
                output.done("the database has form \(Schema.steps.count)")
            }),
        AdminVerb(
            "check-config", operands: [], options: [],
            summary: "check the configuration and the files that it names, and show each setting",
            work: .configuration { settings, output throws(AdminFault) in
                try AdminFiles.check(settings)
                output.list(
                    ServerSettings.all.map { setting in
                        ListedSetting(setting, settings: settings)
                    })
            }),
        AdminVerb(
            "check-certificate", operands: [], options: [],
            summary: "say whether a reload of the server would use the present certificate",
            work: .configuration { settings, output throws(AdminFault) in
                let now = Clock.system.wallSeconds()
                guard let end = try AdminFiles.certificateEnd(settings, at: now) else {
                    return output.done("there is no certificate: the server speaks plain HTTP")
                }
                output.show(
                    ["ends": end],
                    lines: ["certificate and key can be used; they hold to \(shown(end))"])
            }),
    ]
}

extension Administration {
    fileprivate func showAudit(_ words: AdminArguments) async throws(AdminFault) {
        let since = try words.moment(.since, before: service.core.now) ?? 0
        let event = words.text(.event) ?? ""
        guard event.isEmpty || AuditEntry.Event(rawValue: event) != nil else {
            throw .usage(
                "'\(event)' is no event: \(AuditEntry.Event.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        let filter = AuditFilter(
            since: since, application: words.text(.application) ?? "",
            account: words.text(.account) ?? "", event: event, apiKey: words.text(.apiKey) ?? "",
            most: words.limit)
        output.list(
            try await read { store throws(DatabaseFault) in try store.auditTrail.entries(filter) })
    }
}

extension Administration {
    private static let batch: Int64 = 10_000

    fileprivate func pruneAudit(_ words: AdminArguments) async throws(AdminFault) {
        guard let moment = try words.moment(.before, before: service.core.now),
            moment <= service.core.now
        else {
            throw .usage("say up to when, and not later than now: --before 2026-01-01, or 365d")
        }
        // Recorded before anything is deleted.
        try await change("audit prune --before \(shown(moment))") {
            _, _ throws(DatabaseFault) -> Result<Void, AdminFault> in .success(())
        }
        var (gone, last) = (0 as Int64, Self.batch)
        while last == Self.batch {
            do throws(DatabaseFault) {
                last = try await service.database.write { store throws(DatabaseFault) in
                    try store.auditTrail.pruneAudit(before: moment, most: Self.batch)
                }
            } catch { throw AdminFault(error) }
            gone += last
        }
        output.show(
            ["deleted": gone], lines: ["\(gone) lines from before \(shown(moment)) are gone"])
    }
}

/// A setting in a list. A connection string is hidden, because it may contain a password.
private struct ListedSetting: AdminListed {
    let name: String
    let value: String
    let origin: String

    init(_ setting: Setting, settings: Configuration) {
        name = setting.name
        let isSecret = setting.name == ServerSettings.databaseConnection.name
        let isStandard = settings.origin(setting) == "default"
        value = isSecret && !isStandard ? "(not shown)" : settings.value(setting).text
        origin = settings.origin(setting)
    }

    static let columns = ["SETTING", "VALUE", "FROM"]
    var cells: [String] { [name, value, origin] }
}

extension ListedAudit: AdminListed {
    static let columns = [
        "TIME", "EVENT", "OUTCOME", "APPLICATION", "ACCOUNT", "REGISTRATION", "ADDRESS", "AGENT",
        "API-KEY", "DETAIL",
    ]

    var cells: [String] {
        [shown(time)]
            + [event, outcome, application, account, registration, address, agent, apiKey, detail]
            .map { $0.isEmpty ? "-" : $0 }
    }
}

extension OptionSyntax {
    fileprivate static let before = OptionSyntax(
        "before", ValueSyntax("TIME"), summary: "delete what is older than this time")
    fileprivate static let since = OptionSyntax(
        "since", ValueSyntax("TIME"), summary: "only lines since then, for example 7d or 2026-11-20"
    )
    fileprivate static let application = OptionSyntax(
        "application", ValueSyntax("NAME"), summary: "only those of this application")
    fileprivate static let event = OptionSyntax(
        "event", ValueSyntax("EVENT"), summary: "only events of this kind")
    fileprivate static let apiKey = OptionSyntax(
        "api-key", ValueSyntax("NAME"), summary: "only calls with an API key of this name")
}
