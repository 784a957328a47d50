// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages
import SQL

// Sets, shows and removes the URL at which an application is notified. Each change applies to the
// events that are already waiting.
extension AdminVerbs {
    /// The commands for the URLs that applications are notified at.
    static let callbacks: [AdminVerb] = [
        AdminVerb(
            "callback set", operands: ["APPLICATION", "URL"], options: [],
            summary: "notify an application at a URL of operations, registrations and blocks"
        ) { admin, words throws(AdminFault) in
            try await CallbackAdministration(admin: admin).setCallback(words)
        },
        AdminVerb(
            "callback show", operands: ["APPLICATION"], options: [],
            summary: "show an application's URL, what waits to be sent, and the last failure"
        ) { admin, words throws(AdminFault) in
            try await CallbackAdministration(admin: admin).showCallback(words)
        },
        AdminVerb(
            "callback remove", operands: ["APPLICATION"], options: [],
            summary: "stop notifying an application, and drop what waits to be sent"
        ) { admin, words throws(AdminFault) in
            try await CallbackAdministration(admin: admin).removeCallback(words)
        },
    ].map { $0.overHTTP(.application) }
}

/// The commands for callbacks.
private struct CallbackAdministration {
    let admin: Administration

    func setCallback(_ words: AdminArguments) async throws(AdminFault) {
        let name = words[0]
        let url: CallbackURL
        do throws(FieldFault) {
            url = try CallbackURL(words[1])
        } catch { throw .usage(error.text) }
        if let objection = admin.service.callbacks.networks.objection(to: url) {
            throw .usage(
                """
                no callback can be sent there: \(objection). Choose another URL, or list its network \
                in callback.networks of server.conf and restart the server
                """)
        }
        try await admin.changeApplication("callback set \(url.origin)", application: name) {
            store, record, now throws(DatabaseFault) -> Result<Void, AdminFault> in
            try store.callbacks.set(url.text, of: record.id, at: now)
            return .success(())
        }
        admin.output.done(
            """
            '\(name)' will be notified of what happens from now on. 'callback show \(name)' shows \
            whether it answers
            """)
    }

    func showCallback(_ words: AdminArguments) async throws(AdminFault) {
        let application = try await admin.application(words[0])
        let found = try await admin.read { store throws(DatabaseFault) -> ShownCallback? in
            guard let record = try store.callbacks.callback(of: application.id) else { return nil }
            return ShownCallback(record, try store.callbackEvents.backlog(of: application.id))
        }
        guard let found else { throw .noCallback(words[0]) }
        admin.output.show(found, lines: found.lines)
    }

    func removeCallback(_ words: AdminArguments) async throws(AdminFault) {
        let name = words[0]
        let dropped = try await admin.changeApplication("callback remove", application: name) {
            store, record, _ throws(DatabaseFault) -> Result<Int64, AdminFault> in
            guard try store.callbacks.remove(of: record.id) else {
                return .failure(.noCallback(name))
            }
            return .success(try store.callbackEvents.deleteAll(of: record.id))
        }
        admin.output.done("'\(name)' is no longer notified; \(dropped) events were not sent")
    }
}

extension AdminFault {
    fileprivate static func noCallback(_ application: String) -> AdminFault {
        .missing("'\(application)' has no callback: 'callback set' sets one")
    }
}

/// A callback and its queue, as they are shown.
private struct ShownCallback: Encodable {
    let url: String
    let waiting: Int64
    let oldest: Int64?
    let failures: Int64
    let nextAttempt: Int64?
    let lastDelivered: Int64?
    let lastFailed: Int64?
    let lastFailure: String?

    init(_ record: CallbackRecord, _ backlog: CallbackBacklog) {
        url = record.url
        waiting = backlog.count
        oldest = backlog.oldest
        failures = record.failures
        nextAttempt = record.failures > 0 ? record.retry : nil
        lastDelivered = record.succeeded
        lastFailed = record.failed
        lastFailure = record.reason.isEmpty ? nil : record.reason
    }

    var lines: [String] {
        [
            "url             \(url)", "waiting         \(waiting)",
            "oldest          \(shown(oldest))", "failures        \(failures)",
            "next attempt    \(shown(nextAttempt))", "last delivered  \(shown(lastDelivered))",
            "last failed     \(shown(lastFailed))", "last failure    \(lastFailure ?? "-")",
        ]
    }
}
