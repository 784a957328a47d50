// SPDX-License-Identifier: Apache-2.0
/// What is wrong with what a database has stored.
///
/// Each finding is a clause without a full stop, in words for the administrator. It names tables,
/// indexes and pages, but no stored value.
extension Database {
    /// Looks for damage in the structure of an SQLite file, in time proportional to its size.
    ///
    /// Indexes are not compared with their tables, which takes most of the time of `findings`.
    /// PostgreSQL checks its pages as it reads them, so there is nothing to find here.
    package func quickFindings() async throws(DatabaseFault) -> [String] {
        try await read { (transaction) throws(DatabaseFault) in
            switch try transaction.dialect() {
            // Without an argument: SQLite 3.46 reads it as the name of a table.
            case .sqlite: try sound(transaction.run("SELECT quick_check FROM pragma_quick_check"))
            case .postgreSQL: []
            }
        }
    }

    /// Looks for damage everywhere; empty if there is none.
    ///
    /// On SQLite, these are damaged pages, rows that an index lacks, values that a column may not
    /// have, and references to rows that do not exist. On PostgreSQL, these are references, indexes
    /// and constraints that are not valid, damage that its checksums have shown, and what the
    /// extension `amcheck` finds in indexes and tables, where it is installed.
    ///
    /// - Throws: a fault because of which the check could not be completed.
    package func findings() async throws(DatabaseFault) -> [String] {
        let dialect = try await read { (transaction) throws(DatabaseFault) in
            try transaction.dialect()
        }
        return switch dialect {
        case .sqlite: try await sqliteFindings()
        case .postgreSQL: try await postgreSQLFindings()
        }
    }

    private func sqliteFindings() async throws(DatabaseFault) -> [String] {
        try await check { (transaction) throws(DatabaseFault) in
            try sound(transaction.run("SELECT integrity_check FROM pragma_integrity_check"))
        }
            + check { (transaction) throws(DatabaseFault) in
                var findings: [String] = []
                for row in try transaction.run(
                    """
                    SELECT "table", "parent", COUNT(*) FROM pragma_foreign_key_check
                    GROUP BY 1, 2 ORDER BY 1, 2
                    """)
                {
                    findings.append(
                        missingRows(try row.integer(2), of: try row.text(0), in: try row.text(1)))
                }
                return findings
            }
    }

    private func postgreSQLFindings() async throws(DatabaseFault) -> [String] {
        var findings = try await check { (transaction) throws(DatabaseFault) in
            try invalid(in: transaction)
        }
        findings += try await check { (transaction) throws(DatabaseFault) in
            try danglingReferences(in: transaction)
        }
        let amcheck = try await read { (transaction) throws(DatabaseFault) in
            try AmcheckTargets(in: transaction)
        }
        for index in amcheck.indexes {
            findings += try await check { (transaction) throws(DatabaseFault) in
                _ = try transaction.run(
                    """
                    SELECT COUNT(*) FROM
                        (SELECT bt_index_check(to_regclass($1), true) OFFSET 0) AS checked
                    """, [.text(index)])
                return []
            }
        }
        for table in amcheck.tables {
            findings += try await check { (transaction) throws(DatabaseFault) in
                var findings: [String] = []
                for row in try transaction.run(
                    "SELECT msg FROM verify_heapam(to_regclass($1)) LIMIT 100", [.text(table)])
                {
                    findings.append("the table \(table) is damaged: \(try row.text(0))")
                }
                return findings
            }
        }
        return findings
    }

    /// Runs a part of the check in its own transaction, so that the next part runs even if the
    /// database reports damage in this one.
    private func check(
        _ part: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> [String]
    ) async throws(DatabaseFault) -> [String] {
        do throws(DatabaseFault) {
            return try await read(part)
        } catch {
            guard case .damaged(let reason) = error else { throw error }
            return [reason]
        }
    }
}

/// What SQLite says, which is `ok` if it has found nothing.
private func sound(_ rows: [Row]) throws(DatabaseFault) -> [String] {
    var findings: [String] = []
    for row in rows {
        let text = try row.text(0)
        if text != "ok" { findings.append(text.replacing("\n", with: "; ")) }
    }
    return findings
}

private func missingRows(_ count: Int64, of child: String, in parent: String) -> String {
    "\(count) \(count == 1 ? "row" : "rows") of \(child) refer\(count == 1 ? "s" : "") to a row of \(parent) that is missing"
}

/// Indexes and constraints that PostgreSQL itself does not rely on, and pages with a wrong
/// checksum.
private func invalid(in transaction: any Transaction) throws(DatabaseFault) -> [String] {
    var findings: [String] = []
    for row in try transaction.run(
        """
        SELECT CAST(CAST(indexrelid AS regclass) AS text) FROM pg_index
        JOIN pg_class ON pg_class.oid = indexrelid
        WHERE relnamespace = CAST(current_schema() AS regnamespace)
            AND NOT (indisvalid AND indisready) ORDER BY 1
        """)
    {
        findings.append("the index \(try row.text(0)) is not valid: rebuild it with REINDEX")
    }
    for row in try transaction.run(
        """
        SELECT CAST(CAST(conrelid AS regclass) AS text), conname FROM pg_constraint
        WHERE connamespace = CAST(current_schema() AS regnamespace) AND NOT convalidated
        ORDER BY 1, 2
        """)
    {
        findings.append(
            "the constraint \(try row.text(1)) of \(try row.text(0)) was never validated")
    }
    let failures = try transaction.run(
        """
        SELECT CAST(COALESCE(checksum_failures, 0) AS BIGINT) FROM pg_stat_database
        WHERE datname = current_database()
        """)
    if let count = try failures.first?.integer(0), count > 0 {
        findings.append("PostgreSQL has read \(count) pages whose checksum was wrong")
    }
    return findings
}

/// References to rows that do not exist, by the foreign keys that the database has.
///
/// A block is the only way to run a query that names the tables of a row: its result is returned in
/// a setting that ends with the transaction.
private func danglingReferences(in transaction: any Transaction) throws(DatabaseFault) -> [String] {
    try transaction.run(
        """
        DO $check$
        DECLARE
            key record;
            missing bigint;
            found text := '';
        BEGIN
            FOR key IN
                SELECT CAST(CAST(conrelid AS regclass) AS text) AS child,
                    CAST(CAST(confrelid AS regclass) AS text) AS parent,
                    (SELECT string_agg(format('parent.%I = child.%I', target.attname,
                            source.attname), ' AND ')
                        FROM unnest(conkey, confkey) AS part (own, other)
                        JOIN pg_attribute source
                            ON source.attrelid = conrelid AND source.attnum = own
                        JOIN pg_attribute target
                            ON target.attrelid = confrelid AND target.attnum = other) AS matching,
                    (SELECT string_agg(format('child.%I IS NOT NULL', source.attname), ' AND ')
                        FROM unnest(conkey) AS part (own)
                        JOIN pg_attribute source
                            ON source.attrelid = conrelid AND source.attnum = own) AS present
                FROM pg_constraint
                WHERE contype = 'f'
                    AND connamespace = CAST(current_schema() AS regnamespace)
                ORDER BY 1, 2
            LOOP
                EXECUTE format('SELECT COUNT(*) FROM %s child WHERE %s AND NOT EXISTS '
                    || '(SELECT 1 FROM %s parent WHERE %s)',
                    key.child, key.present, key.parent, key.matching) INTO missing;
                IF missing > 0 THEN
                    found := found || missing || chr(9) || key.child || chr(9) || key.parent
                        || chr(10);
                END IF;
            END LOOP;
            PERFORM set_config('signet.findings', found, true);
        END
        $check$
        """)
    let told = try transaction.run("SELECT COALESCE(current_setting('signet.findings', true), '')")
    return (try told.first?.text(0) ?? "").split(separator: "\n").compactMap { line in
        let parts = line.split(separator: "\t").map(String.init)
        guard parts.count == 3, let count = Int64(parts[0]) else { return nil }
        return missingRows(count, of: parts[1], in: parts[2])
    }
}

/// What the extension `amcheck` can examine; empty where it is not installed or may not be used.
private struct AmcheckTargets: Sendable {
    var indexes: [String] = []
    var tables: [String] = []

    init(in transaction: any Transaction) throws(DatabaseFault) {
        indexes = try Self.names(
            transaction.run(
                """
                SELECT CAST(CAST(pg_class.oid AS regclass) AS text) FROM pg_class
                JOIN pg_am ON pg_am.oid = relam AND amname = 'btree'
                WHERE relkind = 'i' AND relnamespace = CAST(current_schema() AS regnamespace)
                    AND has_function_privilege(
                        to_regprocedure('bt_index_check(regclass,boolean)'), 'EXECUTE')
                ORDER BY 1
                """))
        tables = try Self.names(
            transaction.run(
                """
                SELECT CAST(CAST(pg_class.oid AS regclass) AS text) FROM pg_class
                WHERE relkind = 'r' AND relnamespace = CAST(current_schema() AS regnamespace)
                    AND (SELECT COUNT(*) FROM pg_proc WHERE proname = 'verify_heapam'
                        AND has_function_privilege(pg_proc.oid, 'EXECUTE')) = 1
                ORDER BY 1
                """))
    }

    private static func names(_ rows: [Row]) throws(DatabaseFault) -> [String] {
        var names: [String] = []
        for row in rows { names.append(try row.text(0)) }
        return names
    }
}
