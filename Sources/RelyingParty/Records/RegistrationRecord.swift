// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI

/// A device's public key for an account: a row of the table `registration`.
struct RegistrationRecord: Equatable, Sendable {
    let id: RegistrationID
    let account: Int64
    let device: DeviceID
    /// Nil until the key has been proven.
    let credential: CredentialID?
    /// The uncompressed point, 65 bytes; nil until the key has been proven.
    let publicKey: [UInt8]?
    let status: RegistrationStatus
    /// Why it is BLOCKED or REMOVED: `failures`, `application`, `replaced`, `device`, ….
    let reason: String
    /// The highest counter accepted so far; request codes do not change it.
    let counter: UInt64
    /// How many failures were counted since then: right signatures whose counter was not above it.
    let failures: Int64
    let flags: [String]
    let created: Int64
    let lastUsed: Int64?
    /// `tpm` or `file`, as the device claimed when it proved the key; empty before.
    let keyKind: String
    /// `on`, `off` or `unknown`, as the device last claimed; empty before the key is proven.
    let secureBoot: String
    /// What the device's TPM proved when it proved the key.
    let attested: [AttestedProperty]

    /// The uncompressed point of the key for the password, 65 bytes; nil if it has none.
    let passwordKey: [UInt8]?
    /// What the device calls itself; nil if it has given no name.
    let name: DeviceName?

    /// How many columns `init` reads.
    static let columns = 17

    /// Reads the first `columns` columns.
    init(_ row: Row) throws(DatabaseFault) {
        id = try row.id(0)
        account = try row.integer(1)
        device = try row.id(2)
        credential = try row.optionalID(3)
        publicKey = try row.optionalBytes(4)
        guard let status = RegistrationStatus(rawValue: try row.text(5)),
            let counter = UInt64(exactly: try row.integer(7))
        else { throw .broken("a registration of unknown form") }
        self.status = status
        self.counter = counter
        reason = try row.text(6)
        failures = try row.integer(8)
        flags = try row.words(9)
        created = try row.integer(10)
        lastUsed = try row.optionalInteger(11)
        keyKind = try row.text(12)
        secureBoot = try row.text(13)
        attested = try row.words(14).compactMap(AttestedProperty.init(rawValue:))
        passwordKey = try row.optionalBytes(15)
        name = DeviceName([UInt8](try row.text(16).utf8))
    }

    /// The point of the key that signs for a factor; nil if there is none.
    func key(for factor: KeyFactor) -> [UInt8]? {
        switch factor {
        case .fingerprint: publicKey
        case .password: passwordKey
        }
    }

    /// What is attested of the key that signs for a factor; nothing is of the password's.
    func attested(of factor: KeyFactor) -> [AttestedProperty] {
        factor == .fingerprint ? attested : []
    }
}

extension RegistrationRows {
    func registration(_ id: RegistrationID) throws(DatabaseFault) -> RegistrationRecord? {
        let rows = try store.run(
            """
            SELECT id, account, device, credential, public_key, status, reason, counter, failures,
                flags, created, last_used, key_kind, secure_boot, attested, password_key,
                name
            FROM registration WHERE id = $1
            """, [.id(id)])
        guard let row = rows.first else { return nil }
        return try RegistrationRecord(row)
    }

    func registration(credential: CredentialID) throws(DatabaseFault) -> RegistrationRecord? {
        let rows = try store.run(
            """
            SELECT id, account, device, credential, public_key, status, reason, counter, failures,
                flags, created, last_used, key_kind, secure_boot, attested, password_key,
                name
            FROM registration WHERE credential = $1
            """, [.id(credential)])
        guard let row = rows.first else { return nil }
        return try RegistrationRecord(row)
    }

    /// The ACTIVE registration of a device for an account, all three given by those who ask.
    func active(
        application: String, account: String, device: DeviceID
    ) throws(DatabaseFault) -> RegistrationID? {
        let rows = try store.run(
            """
            SELECT r.id FROM registration r JOIN account c ON c.id = r.account
                JOIN application a ON a.id = c.application
            WHERE a.name = $1 AND c.name = $2 AND r.device = $3 AND r.status = 'ACTIVE'
                AND a.removed IS NULL
            """, [.text(application), .text(account), .id(device)])
        return try rows.first.map { row throws(DatabaseFault) in try row.id(0) }
    }

    /// All registrations of an account, oldest first with a resolution of one second.
    func list(ofAccount account: Int64) throws(DatabaseFault) -> [RegistrationRecord] {
        let rows = try store.run(
            """
            SELECT id, account, device, credential, public_key, status, reason, counter, failures,
                flags, created, last_used, key_kind, secure_boot, attested, password_key,
                name
            FROM registration WHERE account = $1 ORDER BY created, id
            """, [.integer(account)])
        var found: [RegistrationRecord] = []
        for row in rows { found.append(try RegistrationRecord(row)) }
        return found
    }

    /// What the devices of some registrations call themselves, by the registration's id in
    /// hexadecimal; those without a name are left out.
    func deviceNames(of registrations: some Sequence<String>) throws(DatabaseFault) -> [String:
        DeviceName]
    {
        var names: [String: DeviceName] = [:]
        for text in Set(registrations) {
            guard let id = RegistrationID(text: text) else { continue }
            names[text] = try registration(id)?.name
        }
        return names
    }

    /// The newest registrations of an application, newest first with a resolution of one second.
    ///
    /// An empty `name` or `status` matches every account or status.
    func list(
        of application: Int64, account name: String, status: String, most: Int64
    ) throws(DatabaseFault) -> [(registration: RegistrationRecord, account: AccountRecord)] {
        let rows = try store.run(
            """
            SELECT r.id, r.account, r.device, r.credential, r.public_key, r.status, r.reason,
                r.counter, r.failures, r.flags, r.created, r.last_used, r.key_kind, r.secure_boot,
                r.attested, r.password_key, r.name
            FROM registration r JOIN account a ON a.id = r.account
            WHERE a.application = $1 AND ($2 = '' OR a.name = $2) AND ($3 = '' OR r.status = $3)
            ORDER BY r.created DESC, r.id LIMIT $4
            """, [.integer(application), .text(name), .text(status), .integer(most)])
        var found: [(registration: RegistrationRecord, account: AccountRecord)] = []
        for row in rows {
            let registration = try RegistrationRecord(row)
            guard let account = try store.accounts.account(registration.account) else { continue }
            found.append((registration, account))
        }
        return found
    }
}
