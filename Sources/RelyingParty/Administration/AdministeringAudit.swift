// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import JSONFormat
import LoginMessages
import SQL
import ServerAPI

// Shows, verifies, exports and prunes the audit trail. Of these commands, only `audit prune`
// deletes anything: from the oldest line on, and the trail records that it did.
extension AdminVerbs {
    /// The audit trail.
    static let audit: [AdminVerb] = [
        AdminVerb(
            "audit prune", operands: [], options: [.before],
            summary: "permanently delete old lines of the audit trail"
        ) { admin, words throws(AdminFault) in try await AuditCommands(admin: admin).prune(words) },
        AdminVerb(
            "audit verify", operands: [], options: [.head],
            summary: "check that no line of the audit trail was removed or altered"
        ) { admin, words throws(AdminFault) in try await AuditCommands(admin: admin).verify(words)
        }.overHTTP(.server),
        AdminVerb(
            "audit export", operands: [], options: [.since, .application],
            summary: "print the audit trail as JSON, one object per line"
        ) { admin, words throws(AdminFault) in try await AuditCommands(admin: admin).export(words)
        },
        AdminVerb(
            "audit sealed", operands: [], options: [.after, .since, .application, .limit],
            summary: "list sealed lines of the audit trail with their hashes, oldest first"
        ) { admin, words throws(AdminFault) in
            try await AuditCommands(admin: admin).listSealed(words)
        }.overHTTP(.server),
        AdminVerb(
            "audit application", operands: ["APPLICATION"],
            options: [.since, .account, .event, .apiKey, .limit],
            summary: "show the audit trail of one application, newest line last"
        ) { admin, words throws(AdminFault) in
            let application = try await admin.application(words[0])
            try await AuditCommands(admin: admin).show(words, of: application.name)
        }.overHTTP(.application),
        AdminVerb(
            "audit", operands: [],
            options: [.since, .application, .account, .event, .apiKey, .limit],
            summary: "show the audit trail, newest line last"
        ) { admin, words throws(AdminFault) in
            try await AuditCommands(admin: admin).show(words, of: words.text(.application))
        }.overHTTP(.server),
    ]
}

/// The commands about the audit trail, which only `audit prune` changes.
private struct AuditCommands {
    let admin: Administration
    private var service: Service { admin.service }
    private var output: AdminOutput { admin.output }

    /// `audit`, `audit application`: lists the newest lines that match; of all applications if
    /// `application` is nil.
    func show(_ words: AdminArguments, of application: String?) async throws(AdminFault) {
        let since = try words.moment(.since, before: service.core.now) ?? 0
        let event = words.text(.event) ?? ""
        guard event.isEmpty || AuditEntry.Event(rawValue: event) != nil else {
            throw .usage(
                "the event '\(event)' is unknown. Events: \(AuditEntry.Event.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        let filter = AuditFilter(
            since: since, application: application ?? "",
            account: words.text(.account) ?? "", event: event, apiKey: words.text(.apiKey) ?? "",
            most: words.limit)
        output.list(
            try await admin.read { store throws(DatabaseFault) in
                try store.auditTrail.entries(filter).named(in: store)
            })
    }

    /// `audit verify`: checks the whole chain, and prints where it ends.
    func verify(_ words: AdminArguments) async throws(AdminFault) {
        var noted: AuditPosition?
        if let text = words.text(.head) {
            guard let place = AuditPosition(text: text) else {
                throw .usage("--head takes a head that 'audit verify' printed: POSITION:HASH")
            }
            noted = place
        }
        do throws(AuditDamage) {
            let report = try await service.auditChain.verify(noted: noted)
            output.show(
                ShownReport(report),
                lines: [
                    """
                    the audit trail is as it was sealed: \(report.lines) lines, positions \
                    \(report.pruned.position + 1) to \(report.head.position), \
                    \(report.sealedNow) of them sealed just now
                    """,
                    "head: \(report.head.text)",
                ])
        } catch { throw AdminFault(error) }
    }

    /// `audit export`: prints the sealed lines in the order of the chain, until the output fails.
    func export(_ words: AdminArguments) async throws(AdminFault) {
        try await forEachSealed(words, after: 0) { line in
            output.write(JSON.text(line))
            return !output.isLost()
        }
    }

    /// `audit sealed`: lists the first sealed lines behind a position.
    func listSealed(_ words: AdminArguments) async throws(AdminFault) {
        var lines: [ExportedAudit] = []
        try await forEachSealed(words, after: words.count(.after) ?? 0) { line in
            lines.append(line)
            return lines.count < words.limit
        }
        output.list(lines)
    }

    /// Seals what is not sealed yet, and passes on the lines that the options select, in the order
    /// of the chain, until `body` returns false.
    private func forEachSealed(
        _ words: AdminArguments, after first: Int64, _ body: (ExportedAudit) -> Bool
    ) async throws(AdminFault) {
        let since = try words.moment(.since, before: service.core.now) ?? .min
        let application = words.text(.application)
        do throws(DatabaseFault) {
            _ = try await service.auditChain.seal(everything: true)
        } catch { throw AdminFault(error) }
        var after = first
        while true {
            let position = after
            let links = try await admin.read { store throws(DatabaseFault) in
                try store.auditChain.links(after: position, most: Self.page)
            }
            guard let last = links.last else { return }
            for link in links {
                guard let line = link.line, line.time >= since,
                    application.map({ $0 == line.application }) ?? true
                else { continue }
                guard body(ExportedAudit(link, line: line)) else { return }
            }
            after = last.place.position
        }
    }

    private static let page: Int64 = 1_000
    private static let batch: Int64 = 2_000

    /// `audit prune`: deletes old lines from the beginning of the chain.
    func prune(_ words: AdminArguments) async throws(AdminFault) {
        guard let moment = try words.moment(.before, before: service.core.now),
            moment <= service.core.now
        else {
            throw .usage(
                "give a time that is not in the future: --before 2026-01-01, or --before 365d")
        }
        let what = PruneLine.ofAdministrator + "--before \(shown(moment))"
        var gone: Int64 = 0
        do throws(DatabaseFault) {
            _ = try await service.auditChain.seal()
            // Recorded before anything is deleted.
            let isRecorded = try await service.auditChain.recordPrune(
                before: moment, what: what, by: admin.origin)
            if !isRecorded { try await noteNothingPruned(what) }
            // A prune that was interrupted is finished as well.
            var isOver = false
            while !isOver {
                let now = service.core.now
                let step = try await service.database.write { store throws(DatabaseFault) in
                    try store.pruneSome(most: Self.batch, at: now)
                }
                gone += step.deleted
                isOver = step.isOver
            }
        } catch { throw AdminFault(error) }
        output.show(
            ["deleted": gone], lines: ["\(gone) lines older than \(shown(moment)) were deleted"])
    }

    private func noteNothingPruned(_ what: String) async throws(DatabaseFault) {
        let (now, origin) = (service.core.now, admin.origin)
        let entry = AuditEntry(event: .administration, outcome: "ok", detail: what)
        try await service.database.write { store throws(DatabaseFault) in
            try store.auditTrail.note(entry, from: origin, at: now)
        }
    }
}

extension AdminFault {
    /// Says what is wrong with the audit trail, and where.
    fileprivate init(_ damage: AuditDamage) {
        let reason: String
        switch damage {
        case .missingLink(let position):
            reason = "position \(position) is missing, although later ones are there"
        case .missingLine(let position): reason = "the line at position \(position) was removed"
        case .altered(let position):
            reason = "the line at position \(position) is not the one that was sealed there"
        case .cutOff(let position): reason = "its end up to position \(position) was removed"
        case .continued(let position):
            reason = "position \(position) is there, although it ended before"
        case .notPruned(let position):
            reason = "it begins after position \(position), and no line says that it was pruned"
        case .otherPlace(let place):
            reason = "it has no position \(place.position) with the hash of --head"
        case .placePruned(let place):
            self = .missing(
                """
                the place of --head was pruned, with all up to position \(place.position): \
                note a newer one after each prune
                """)
            return
        case .database(let fault):
            self.init(fault)
            return
        }
        self = .tampered(
            """
            the audit trail was tampered with, or comes from a backup: \(reason). Compare it with \
            an earlier export
            """)
    }
}

/// The result of `audit verify` as JSON.
private struct ShownReport: Encodable {
    let first: Int64
    let head: String
    let lines: Int64
    let sealedNow: Int64

    init(_ report: AuditReport) {
        first = report.pruned.position + 1
        head = report.head.text
        lines = report.lines
        sealedNow = report.sealedNow
    }
}

/// A line of `audit export` and `audit sealed`.
private struct ExportedAudit: AdminListed {
    let position: Int64
    let hash: String
    let sealed: Int64
    let id: Int64
    let time: Int64
    let event: String
    let outcome: String
    let application: String
    let account: String
    let registration: String
    let address: String
    let agent: String
    let detail: String
    let apiKey: String

    init(_ link: AuditLink, line: ListedAudit) {
        position = link.place.position
        hash = hexadecimal(link.place.hash)
        sealed = link.sealed
        id = link.audit
        time = line.time
        event = line.event
        outcome = line.outcome
        application = line.application
        account = line.account
        registration = line.registration
        address = line.address
        agent = line.agent
        detail = line.detail
        apiKey = line.apiKey
    }

    static let columns = [
        "POSITION", "TIME", "EVENT", "OUTCOME", "APPLICATION", "ACCOUNT", "DETAIL", "HASH",
    ]

    var cells: [String] {
        ["\(position)", shown(time)]
            + [event, outcome, application, account, detail].map { $0.isEmpty ? "-" : $0 } + [hash]
    }
}

extension JSON {
    fileprivate static func text(_ value: some Encodable) -> String {
        String(decoding: JSON.encode(value), as: UTF8.self)
    }
}

extension ListedAudit: AdminListed {
    static let columns = [
        "TIME", "EVENT", "OUTCOME", "APPLICATION", "ACCOUNT", "REGISTRATION", "DEVICE-NAME",
        "ADDRESS", "AGENT", "API-KEY", "DETAIL",
    ]

    var cells: [String] {
        [shown(time)]
            + [
                event, outcome, application, account, registration, deviceName?.text ?? "", address,
                agent, apiKey, detail,
            ].map { $0.isEmpty ? "-" : $0 }
    }
}

extension OptionSyntax {
    fileprivate static let before = OptionSyntax(
        "before", ValueSyntax("TIME"), summary: "delete lines older than this time")
    fileprivate static let since = OptionSyntax(
        "since", ValueSyntax("TIME"), summary: "only lines since then, for example 7d or 2026-11-20"
    )
    fileprivate static let application = OptionSyntax(
        "application", ValueSyntax("NAME"), summary: "only those of this application")
    fileprivate static let event = OptionSyntax(
        "event", ValueSyntax("EVENT"), summary: "only events of this kind")
    fileprivate static let apiKey = OptionSyntax(
        "api-key", ValueSyntax("NAME"), summary: "only calls with an API key of this name")
    fileprivate static let after = OptionSyntax(
        "after", .number(0...Int64.max),
        summary: "only lines behind this position; the default is 0")
    fileprivate static let head = OptionSyntax(
        "head", ValueSyntax("POSITION:HASH"),
        summary: "check that this position, noted earlier, is part of the trail")
}
