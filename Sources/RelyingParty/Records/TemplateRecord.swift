// SPDX-License-Identifier: Apache-2.0
import SQL
import ServerAPI

// Templates of operations, as validated, stored and read. What a template permits (how many
// operations may wait, which factors approve one) is decided here.
extension TemplatePurpose {
    /// How many operations of this purpose may be pending for one account.
    ///
    /// The limit keeps people from being worn down by requests.
    var mostPending: Int64 {
        switch self {
        case .operation: 20
        case .login: 5
        }
    }
}

/// How many logins begun for visitors may be pending for one account.
///
/// They are counted separately from the application's other logins, because any stranger can begin
/// them.
enum VisitorShare {
    /// From all networks together.
    static let account = 3
    /// From one network, so that an attacker on one network leaves a place for others.
    static let network = 2
}

/// A template for operations, as validated from the administrator's input.
struct OperationTemplate: Equatable, Sendable {
    static let secondsRange: ClosedRange<Int64> = 10...86_400
    static let failuresRange: ClosedRange<Int64> = 1...100

    /// 1 to 64 bytes.
    let name: String
    /// The text to show, with a `{name}` for each value.
    let text: String
    let purpose: TemplatePurpose
    /// How long an operation stays pending, in seconds.
    let seconds: Int64
    /// How many wrong decisions make an operation FAILED; see `OperationRecord.failures`.
    let maximumFailures: Int64
    /// Whether each operation must name the only device that may decide it.
    let isDeviceBound: Bool
    /// The factors that approve its operations.
    let factors: TemplateFactors

    /// Validates a template.
    ///
    /// - Throws: a fault that says what is wrong, in words for the administrator.
    init(
        name: Name, text: String, purpose: TemplatePurpose = .operation, seconds: Int64 = 300,
        maximumFailures: Int64 = 5, isDeviceBound: Bool = false, factors: TemplateFactors = .policy
    ) throws(FieldFault) {
        guard name.text.utf8.count <= 64 else {
            throw FieldFault(text: "a template's name is not longer than 64 bytes")
        }
        guard TemplateText.isVisible(name.text) else {
            throw FieldFault(text: "a template's name has characters that cannot be seen")
        }
        _ = try TemplateText(text)
        guard Self.secondsRange.contains(seconds) else {
            throw FieldFault(text: "operations are decided within 10 to 86400 seconds")
        }
        guard Self.failuresRange.contains(maximumFailures) else {
            throw FieldFault(text: "operations fail after 1 to 100 wrong signatures")
        }
        self.name = name.text
        self.text = text
        self.purpose = purpose
        self.seconds = seconds
        self.maximumFailures = maximumFailures
        self.isDeviceBound = isDeviceBound
        self.factors = factors
    }

    fileprivate init(_ row: Row) throws(DatabaseFault) {
        name = try row.text(0)
        text = try row.text(1)
        guard let purpose = TemplatePurpose(rawValue: try row.text(2)) else {
            throw .broken("a template of unknown purpose")
        }
        self.purpose = purpose
        seconds = try row.integer(3)
        maximumFailures = try row.integer(4)
        isDeviceBound = try row.integer(5) != 0
        guard let factors = TemplateFactors(rawValue: try row.text(6)) else {
            throw .broken("a template of unknown factors")
        }
        self.factors = factors
    }
}

/// The table `template`: the templates of applications, each with a unique name there.
struct TemplateRows {
    let store: any Transaction
}

extension Transaction {
    var templates: TemplateRows { TemplateRows(store: self) }
}

extension TemplateRows {
    /// Stores a new template; returns false if the application has one of this name.
    func makeTemplate(
        _ template: OperationTemplate, of application: Int64, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            INSERT INTO template (application, name, text, purpose, seconds, max_failures,
                device_bound, created, factors)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING name
            """,
            [
                .integer(application), .text(template.name), .text(template.text),
                .text(template.purpose.rawValue), .integer(template.seconds),
                .integer(template.maximumFailures), .integer(template.isDeviceBound ? 1 : 0),
                .integer(now), .text(template.factors.rawValue),
            ]
        ).isEmpty
    }

    /// Whether any template of an application accepts the password, whatever its policy.
    func acceptPasswords(of application: Int64) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            SELECT 1 FROM template
            WHERE application = $1 AND factors IN ('password', 'either', 'both') LIMIT 1
            """, [.integer(application)]
        ).isEmpty
    }

    /// All templates of an application, ordered by name.
    func listTemplates(of application: Int64) throws(DatabaseFault) -> [OperationTemplate] {
        let rows = try store.run(
            """
            SELECT name, text, purpose, seconds, max_failures, device_bound, factors
            FROM template
            WHERE application = $1 ORDER BY name
            """, [.integer(application)])
        var templates: [OperationTemplate] = []
        for row in rows { templates.append(try OperationTemplate(row)) }
        return templates
    }

    func template(_ name: String, of application: Int64) throws(DatabaseFault) -> OperationTemplate?
    {
        let rows = try store.run(
            """
            SELECT name, text, purpose, seconds, max_failures, device_bound, factors
            FROM template
            WHERE application = $1 AND name = $2
            """, [.integer(application), .text(name)])
        guard let row = rows.first else { return nil }
        return try OperationTemplate(row)
    }

    /// Deletes a template; returns false if there is none.
    ///
    /// Existing operations are not affected.
    func removeTemplate(_ name: String, of application: Int64) throws(DatabaseFault) -> Bool {
        try !store.run(
            "DELETE FROM template WHERE application = $1 AND name = $2 RETURNING name",
            [.integer(application), .text(name)]
        ).isEmpty
    }
}
