// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL

/// The URL that an application is notified at, and how that goes: a row of the table `callback`.
struct CallbackRecord: Equatable, Sendable {
    let application: Int64
    let url: String
    /// How many attempts in a row have failed.
    let failures: Int64
    /// No attempt is made before this time.
    let retry: Int64
    /// When an event was last delivered.
    let succeeded: Int64?
    /// When an attempt last failed.
    let failed: Int64?
    /// Why it failed; empty if none has.
    let reason: String

    fileprivate init(_ row: Row) throws(DatabaseFault) {
        application = try row.integer(0)
        url = try row.text(1)
        failures = try row.integer(2)
        retry = try row.integer(3)
        succeeded = try row.optionalInteger(4)
        failed = try row.optionalInteger(5)
        reason = try row.text(6)
    }
}

/// The right to send an application's events, which one process at a time has.
struct CallbackLease: Sendable {
    /// How long a lease lasts, in seconds: longer than an attempt takes.
    ///
    /// A process that dies leaves its lease behind; another one continues when it has expired.
    static let seconds: Int64 = 60

    let record: CallbackRecord
    /// The application's name.
    let name: String
    /// The application's audience.
    let audience: String
    /// What the process chose for this lease.
    let holder: CallbackHolder
}

/// A random value that tells one lease from another.
struct CallbackHolder: FixedBytes {
    static let count = 16
    let bytes: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }
}

/// The table `callback`: one row for each application that has a callback.
struct CallbackRows {
    let store: any Transaction
}

extension Transaction {
    var callbacks: CallbackRows { CallbackRows(store: self) }
}

extension CallbackRows {
    /// Sets the URL of an application.
    ///
    /// Failures are forgotten, and all events that wait are due at once.
    func set(_ url: String, of application: Int64, at now: Int64) throws(DatabaseFault) {
        try store.run(
            """
            INSERT INTO callback (application, url, created, failures, retry, lease, holder, reason)
            VALUES ($1, $2, $3, 0, 0, 0, $4, '')
            ON CONFLICT (application) DO UPDATE
                SET url = $2, failures = 0, retry = 0, failed = NULL, reason = ''
            """, [.integer(application), .text(url), .integer(now), .bytes([])])
        try store.run(
            "UPDATE callback_event SET due = $1 WHERE application = $2 AND due > $1",
            [.integer(now), .integer(application)])
    }

    /// Returns the callback of an application; nil if it has none.
    func callback(of application: Int64) throws(DatabaseFault) -> CallbackRecord? {
        let rows = try store.run(
            """
            SELECT application, url, failures, retry, succeeded, failed, reason FROM callback
            WHERE application = $1
            """, [.integer(application)])
        guard let row = rows.first else { return nil }
        return try CallbackRecord(row)
    }

    /// Removes the callback of an application, so that no more events are written for it; returns
    /// false if it has none. Events that wait stay.
    func remove(of application: Int64) throws(DatabaseFault) -> Bool {
        try store.change(
            "DELETE FROM callback WHERE application = $1", [.integer(application)]) == 1
    }

    /// The applications that have an event to send now, and which no process sends for.
    ///
    /// `horizon` is the longest time that anything is put off; see `CallbackEventRows.due`.
    func due(at now: Int64, horizon: Int64, most: Int64) throws(DatabaseFault) -> [Int64] {
        try store.run(
            """
            SELECT b.application FROM callback b JOIN application a ON a.id = b.application
            WHERE a.removed IS NULL AND (b.retry <= $1 OR b.retry > $2)
                AND (b.lease <= $1 OR b.lease > $3)
                AND EXISTS (SELECT 1 FROM callback_event e WHERE e.application = b.application
                    AND (e.due <= $1 OR e.due > $2))
            ORDER BY b.retry, b.application LIMIT $4
            """,
            [
                .integer(now), .integer(now + horizon), .integer(now + CallbackLease.seconds),
                .integer(most),
            ]
        ).map { (row) throws(DatabaseFault) in try row.integer(0) }
    }

    /// Takes the lease of an application; nil if another process has it, or if it is too early.
    ///
    /// Of several processes that try at once, one succeeds: the row is locked, and its lease looked
    /// at again. A lease or a time that no process could have set was set under a wrong clock, and
    /// does not count.
    func lease(
        _ application: Int64, holder: CallbackHolder, horizon: Int64, at now: Int64
    ) throws(DatabaseFault) -> CallbackLease? {
        let taken = try store.change(
            """
            UPDATE callback SET lease = $1, holder = $2
            WHERE application = $3 AND (lease <= $4 OR lease > $1)
                AND (retry <= $4 OR retry > $5)
            """,
            [
                .integer(now + CallbackLease.seconds), .id(holder), .integer(application),
                .integer(now), .integer(now + horizon),
            ])
        guard taken == 1, let record = try callback(of: application) else { return nil }
        let rows = try store.run(
            "SELECT name, audience FROM application WHERE id = $1 AND removed IS NULL",
            [.integer(application)])
        guard let row = rows.first else { return nil }
        return CallbackLease(
            record: record, name: try row.text(0), audience: try row.text(1), holder: holder)
    }

    /// Gives the lease back, unless another process has it by now or the URL was changed.
    func release(_ lease: CallbackLease) throws(DatabaseFault) {
        try store.add(
            "UPDATE callback SET lease = 0 WHERE application = $1 AND holder = $2",
            [.integer(lease.record.application), .id(lease.holder)])
    }

    /// Records that events were delivered.
    func noteSuccess(of lease: CallbackLease, at now: Int64) throws(DatabaseFault) {
        try store.add(
            """
            UPDATE callback SET failures = 0, retry = 0, succeeded = $1
            WHERE application = $2 AND holder = $3
            """, [.integer(now), .integer(lease.record.application), .id(lease.holder)])
    }

    /// Records that an attempt failed, and why; no other is made before `retry`.
    ///
    /// Nothing is recorded if the URL was changed meanwhile: the failure is not the new one's.
    func noteFailure(
        of lease: CallbackLease, reason: String, retry: Int64, at now: Int64
    ) throws(DatabaseFault) {
        try store.add(
            """
            UPDATE callback SET failures = failures + 1, retry = $1, failed = $2, reason = $3
            WHERE application = $4 AND holder = $5 AND url = $6
            """,
            [
                .integer(retry), .integer(now), .text(reason),
                .integer(lease.record.application), .id(lease.holder), .text(lease.record.url),
            ])
    }
}
