// SPDX-License-Identifier: Apache-2.0
import SQL

/// The tables, in the SQL dialect that SQLite and PostgreSQL share; times are seconds since 1970.
///
/// `{serial}`, `{bytes}` and `{clustered}` are replaced as `Dialect` says. A migration that has
/// been released is never edited; later changes are new migrations.
enum Schema {
    /// The migrations from an empty database to the schema that this program knows.
    static let steps = [
        Migration(1, statements: first), Migration(2, statements: second),
        Migration(3, statements: third), Migration(4, statements: fourth),
        Migration(5, statements: callbacks), Migration(6, statements: attestation),
        Migration(7, statements: passwordFactor), Migration(8, statements: names),
        Migration(9, statements: moments), Migration(10, statements: makers),
        Migration(11, statements: twoKeys),
    ]

    private static let first = [
        """
        CREATE TABLE application (
            id {serial}, name TEXT NOT NULL UNIQUE, audience TEXT NOT NULL UNIQUE,
            devices TEXT NOT NULL, commit_required BIGINT NOT NULL, biometrics BIGINT NOT NULL,
            minimum_key TEXT NOT NULL, minimum_boot TEXT NOT NULL, max_failures BIGINT NOT NULL,
            access_seconds BIGINT NOT NULL, refresh_seconds BIGINT NOT NULL,
            created BIGINT NOT NULL, removed BIGINT)
        """,
        """
        CREATE TABLE api_key (
            hash {bytes} PRIMARY KEY, application BIGINT NOT NULL REFERENCES application (id),
            name TEXT NOT NULL, created BIGINT NOT NULL, revoked BIGINT,
            UNIQUE (application, name))
        """,
        // `trail`: the last audit line before the account was created; earlier ones are not about
        // it.
        """
        CREATE TABLE account (
            id {serial}, application BIGINT NOT NULL REFERENCES application (id),
            name TEXT NOT NULL, blocked BIGINT NOT NULL, flags TEXT NOT NULL, roles TEXT NOT NULL,
            created BIGINT NOT NULL, trail BIGINT NOT NULL DEFAULT 0, UNIQUE (application, name))
        """,
        """
        CREATE TABLE activation (
            hash {bytes} PRIMARY KEY, account BIGINT NOT NULL REFERENCES account (id),
            maker TEXT NOT NULL, created BIGINT NOT NULL, expires BIGINT NOT NULL, used BIGINT)
        """,
        "CREATE INDEX activation_account ON activation (account)",
        // `advanced`: when the stored counter was accepted, see `moments`; NULL if it is still that
        // of the proof.
        """
        CREATE TABLE registration (
            id {bytes} PRIMARY KEY, account BIGINT NOT NULL REFERENCES account (id),
            device {bytes} NOT NULL, credential {bytes} UNIQUE, public_key {bytes},
            status TEXT NOT NULL, reason TEXT NOT NULL, counter BIGINT NOT NULL,
            enrolment BIGINT NOT NULL, failures BIGINT NOT NULL, key_kind TEXT NOT NULL,
            secure_boot TEXT NOT NULL, flags TEXT NOT NULL, created BIGINT NOT NULL,
            changed BIGINT NOT NULL, last_used BIGINT, advanced BIGINT)
        """,
        "CREATE INDEX registration_account ON registration (account, device)",
        // Registrations that were begun and never proven, which are deleted.
        """
        CREATE INDEX registration_unproven ON registration (created) WHERE credential IS NULL
        """,
        """
        CREATE TABLE challenge (
            value {bytes} PRIMARY KEY, application BIGINT NOT NULL, account TEXT NOT NULL,
            device {bytes} NOT NULL, action TEXT NOT NULL, expires BIGINT NOT NULL, used BIGINT)
        """,
        "CREATE INDEX challenge_expires ON challenge (expires)",
        // The time, which is signed with the nonce, comes first: nonces of one moment are stored
        // together, and those to be deleted form one range.
        """
        CREATE TABLE nonce (
            expires BIGINT NOT NULL, owner {bytes} NOT NULL, value {bytes} NOT NULL,
            PRIMARY KEY (expires, owner, value)) {clustered}
        """,
        // The time up to which rows of a kind were deleted, where that must be known.
        "CREATE TABLE forgotten (what TEXT PRIMARY KEY, before BIGINT NOT NULL)",
        """
        CREATE TABLE signing_key (
            id TEXT PRIMARY KEY, use TEXT NOT NULL, public_key {bytes} NOT NULL,
            sealed {bytes} NOT NULL, created BIGINT NOT NULL, retired BIGINT)
        """,
        // If several servers create a key at once, one succeeds, so that all sign with the same
        // key.
        "CREATE UNIQUE INDEX signing_key_signs ON signing_key (use) WHERE retired IS NULL",
        """
        CREATE TABLE token_session (
            id {bytes} PRIMARY KEY, registration {bytes} NOT NULL REFERENCES registration (id),
            factor TEXT NOT NULL, created BIGINT NOT NULL, expires BIGINT NOT NULL,
            revoked BIGINT, reason TEXT NOT NULL)
        """,
        "CREATE INDEX token_session_registration ON token_session (registration)",
        "CREATE INDEX token_session_expires ON token_session (expires)",
        """
        CREATE TABLE refresh_token (
            hash {bytes} PRIMARY KEY, session {bytes} NOT NULL REFERENCES token_session (id),
            created BIGINT NOT NULL, expires BIGINT NOT NULL, used BIGINT)
        """,
        "CREATE INDEX refresh_token_expires ON refresh_token (expires)",
        "CREATE INDEX refresh_token_session ON refresh_token (session)",
        """
        CREATE TABLE template (
            id {serial}, application BIGINT NOT NULL REFERENCES application (id),
            name TEXT NOT NULL, text TEXT NOT NULL, purpose TEXT NOT NULL,
            seconds BIGINT NOT NULL, max_failures BIGINT NOT NULL, device_bound BIGINT NOT NULL,
            created BIGINT NOT NULL, UNIQUE (application, name))
        """,
        // `number` counts an account's operations, and orders those created within one second.
        """
        CREATE TABLE operation (
            id {bytes} PRIMARY KEY, number BIGINT NOT NULL,
            application BIGINT NOT NULL REFERENCES application (id),
            account BIGINT NOT NULL REFERENCES account (id), template TEXT NOT NULL,
            data TEXT NOT NULL, challenge {bytes} NOT NULL, status TEXT NOT NULL,
            failures BIGINT NOT NULL, max_failures BIGINT NOT NULL, device {bytes},
            session_hash {bytes}, network {bytes}, additional TEXT NOT NULL,
            created BIGINT NOT NULL, expires BIGINT NOT NULL, decided BIGINT,
            registration {bytes}, consumed BIGINT)
        """,
        "CREATE INDEX operation_account ON operation (account, status, number)",
        "CREATE INDEX operation_number ON operation (account, number)",
        "CREATE INDEX operation_expires ON operation (expires)",
        "CREATE INDEX operation_pending ON operation (expires) WHERE status = 'PENDING'",
        """
        CREATE TABLE mac_token (
            id {bytes} PRIMARY KEY, registration {bytes} NOT NULL REFERENCES registration (id),
            name TEXT NOT NULL, sealed {bytes} NOT NULL, created BIGINT NOT NULL,
            expires BIGINT NOT NULL, revoked BIGINT)
        """,
        "CREATE INDEX mac_token_registration ON mac_token (registration, name)",
        "CREATE INDEX mac_token_expires ON mac_token (expires)",
        """
        CREATE TABLE audit (
            id {serial}, time BIGINT NOT NULL, application TEXT NOT NULL, account TEXT NOT NULL,
            registration TEXT NOT NULL, event TEXT NOT NULL, outcome TEXT NOT NULL,
            address TEXT NOT NULL, agent TEXT NOT NULL, detail TEXT NOT NULL)
        """,
        "CREATE INDEX audit_time ON audit (time)",
        // For the list that shows a person the newest audit lines of their account.
        "CREATE INDEX audit_account ON audit (application, account, id)",
        // Browsers at the server's own page: those awaiting an approval, and those logged in.
        """
        CREATE TABLE site_login (
            hash {bytes} PRIMARY KEY, application BIGINT NOT NULL REFERENCES application (id),
            operation {bytes} NOT NULL, data TEXT NOT NULL, created BIGINT NOT NULL,
            expires BIGINT NOT NULL)
        """,
        "CREATE INDEX site_login_expires ON site_login (expires)",
        """
        CREATE TABLE site_session (
            hash {bytes} PRIMARY KEY, token_session {bytes} NOT NULL, created BIGINT NOT NULL,
            expires BIGINT NOT NULL)
        """,
        "CREATE INDEX site_session_expires ON site_session (expires)",
    ]

    /// The page for browsers became its own program, which stores its own sessions.
    private static let second = ["DROP TABLE site_login", "DROP TABLE site_session"]

    /// API keys have scopes, an end and a last use; lines of the audit trail name the key, and are
    /// sealed in a chain.
    private static let third = [
        // A key without a word here may do nothing; those from before could do everything.
        "ALTER TABLE api_key ADD COLUMN scopes TEXT NOT NULL DEFAULT ''",
        "UPDATE api_key SET scopes = 'verify registrations operations logins'",
        "ALTER TABLE api_key ADD COLUMN expires BIGINT",
        "ALTER TABLE api_key ADD COLUMN last_used BIGINT",
        "ALTER TABLE audit ADD COLUMN api_key TEXT NOT NULL DEFAULT ''",
        // Links are not columns of `audit`: PostgreSQL would write every row a second time.
        """
        CREATE TABLE audit_link (
            position BIGINT PRIMARY KEY, audit BIGINT NOT NULL UNIQUE, sealed BIGINT NOT NULL,
            hash {bytes} NOT NULL) {clustered}
        """,
        // One row, whose lock makes sealing and pruning take turns; see `AuditChainState`.
        """
        CREATE TABLE audit_chain (
            id BIGINT PRIMARY KEY, position BIGINT NOT NULL, hash {bytes}, pruned BIGINT NOT NULL,
            pruned_hash {bytes}, goal BIGINT NOT NULL, swept BIGINT NOT NULL,
            ahead BIGINT NOT NULL, ahead_since BIGINT NOT NULL)
        """,
        """
        INSERT INTO audit_chain (id, position, pruned, goal, swept, ahead, ahead_since)
        VALUES (1, 0, 0, 0, 0, 0, 0)
        """,
    ]

    /// One row, which health checks write.
    private static let fourth = [
        """
        CREATE TABLE heartbeat (
            id BIGINT PRIMARY KEY, beats BIGINT NOT NULL, padding {bytes} NOT NULL)
        """
    ]

    /// The URL that an application is notified at, the events that wait to be sent there, and the
    /// application's own roles.
    private static let callbacks = [
        // `failures`: how many attempts in a row failed; `retry`: no attempt before that time.
        // `lease`: until when the process `holder` sends; 0 if none does.
        """
        CREATE TABLE callback (
            application BIGINT PRIMARY KEY REFERENCES application (id), url TEXT NOT NULL,
            created BIGINT NOT NULL, failures BIGINT NOT NULL, retry BIGINT NOT NULL,
            lease BIGINT NOT NULL, holder {bytes} NOT NULL, succeeded BIGINT, failed BIGINT,
            reason TEXT NOT NULL)
        """,
        // Names and ids as texts: the event outlives what it is about. `due`: when it is sent next.
        """
        CREATE TABLE callback_event (
            number {serial}, id {bytes} NOT NULL UNIQUE,
            application BIGINT NOT NULL REFERENCES application (id), type TEXT NOT NULL,
            time BIGINT NOT NULL, account TEXT NOT NULL, registration {bytes}, operation {bytes},
            purpose TEXT NOT NULL, reason TEXT NOT NULL, attempts BIGINT NOT NULL,
            due BIGINT NOT NULL)
        """,
        "CREATE INDEX callback_event_due ON callback_event (application, due, number)",
        "CREATE INDEX callback_event_time ON callback_event (time)",
        // Applications have their own roles.
        "ALTER TABLE application ADD COLUMN roles TEXT NOT NULL DEFAULT ''",
    ]

    /// What the TPMs of devices have proven, with the evidence; see `AttestationRows`.
    private static let attestation = [
        "ALTER TABLE registration ADD COLUMN attested TEXT NOT NULL DEFAULT ''",
        """
        CREATE TABLE attestation (
            registration {bytes} PRIMARY KEY REFERENCES registration (id) ON DELETE CASCADE,
            certificate {bytes} NOT NULL, key_area {bytes} NOT NULL, secret_hash {bytes},
            expires BIGINT NOT NULL, evidence TEXT)
        """,
    ]

    /// The password in place of a finger, or beside it: a second key of registrations, and what
    /// applications and templates accept.
    private static let passwordFactor = [
        "ALTER TABLE application ADD COLUMN passwords BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE registration ADD COLUMN password_key {bytes}",
        // `policy`: what the application's policy accepts when the operation is decided.
        "ALTER TABLE template ADD COLUMN factors TEXT NOT NULL DEFAULT 'policy'",
        "ALTER TABLE operation ADD COLUMN factors TEXT NOT NULL DEFAULT 'policy'",
        // The factor by which it was decided, or that was given first of two; `half` is the
        // registration that gave the first.
        "ALTER TABLE operation ADD COLUMN factor TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE operation ADD COLUMN half {bytes}",
        "UPDATE operation SET factor = 'fingerprint' WHERE status IN ('APPROVED', 'REJECTED')",
    ]

    /// When devices were challenged and last accepted, in microseconds since 1970; a copied key
    /// that asks within the second of the last login is noticed.
    private static let moments = [
        "ALTER TABLE challenge ADD COLUMN issued BIGINT NOT NULL DEFAULT 0",
        // A challenge was valid for 60 s.
        "UPDATE challenge SET issued = (expires - 60) * 1000000",
        "ALTER TABLE operation ADD COLUMN issued BIGINT NOT NULL DEFAULT 0",
        "UPDATE operation SET issued = created * 1000000",
        "UPDATE registration SET advanced = advanced * 1000000",
    ]

    /// What devices call themselves, where sessions were begun from, and where operations were
    /// decided.
    private static let names = [
        "ALTER TABLE registration ADD COLUMN name TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE token_session ADD COLUMN address TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE token_session ADD COLUMN agent TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE operation ADD COLUMN approver_address TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE operation ADD COLUMN approver_agent TEXT NOT NULL DEFAULT ''",
    ]

    /// The digest of the API key that made another over HTTP, and ends it with itself.
    private static let makers = ["ALTER TABLE api_key ADD COLUMN made_by {bytes}"]

    // Once, a device could register one key for the touch and for the password. It is the touch's.
    private static let twoKeys = [
        "UPDATE registration SET password_key = NULL WHERE password_key = public_key"
    ]
}
