// SPDX-License-Identifier: Apache-2.0
import Database

/// What the operations of a template are for: one made for payments logs nobody in.
enum TemplatePurpose: String, Codable, Sendable {
    case operation = "operation"
    case login = "login"

    /// How many may await one account: nobody is worn down by hundreds of questions, and whoever
    /// begins logins in another's name keeps no operation away.
    var mostPending: Int64 {
        switch self {
        case .operation: 20
        case .login: 5
        }
    }
}

/// How many logins of the server's own page may await one account, beside those of its
/// application: any stranger can begin them there, and an application begins its own.
enum SiteShare {
    /// From everywhere.
    static let account = 3
    /// From one network: who has one alone leaves a place to others.
    static let network = 2
}

/// What an administrator says of a template, checked.
struct Template: Equatable, Sendable {
    static let secondsRange: ClosedRange<Int64> = 10...86_400
    static let failuresRange: ClosedRange<Int64> = 1...100

    /// 1 to 64 bytes.
    let name: String
    /// With `{name}` where a value goes.
    let text: String
    let purpose: TemplatePurpose
    /// How long an operation awaits its decision, in seconds.
    let seconds: Int64
    /// Wrong signatures until an operation is FAILED.
    let maximumFailures: Int64
    /// Whether an operation must say which device is to decide it.
    let isDeviceBound: Bool

    /// Says what is wrong with it.
    init(
        name: Name, text: String, purpose: TemplatePurpose = .operation, seconds: Int64 = 300,
        maximumFailures: Int64 = 5, isDeviceBound: Bool = false
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
    }
}

/// The rows of operations' templates.
struct TemplateRows {
    let store: any Transaction
}

extension Transaction {
    var templates: TemplateRows { TemplateRows(store: self) }
}

extension TemplateRows {
    /// Keeps a new template; false where the application has one of this name.
    func makeTemplate(
        _ template: Template, of application: Int64, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            INSERT INTO template (application, name, text, purpose, seconds, max_failures,
                device_bound, created)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING name
            """,
            [
                .integer(application), .text(template.name), .text(template.text),
                .text(template.purpose.rawValue), .integer(template.seconds),
                .integer(template.maximumFailures), .integer(template.isDeviceBound ? 1 : 0),
                .integer(now),
            ]
        ).isEmpty
    }

    /// All templates of an application, by name.
    func listTemplates(of application: Int64) throws(DatabaseFault) -> [Template] {
        let rows = try store.run(
            """
            SELECT name, text, purpose, seconds, max_failures, device_bound FROM template
            WHERE application = $1 ORDER BY name
            """, [.integer(application)])
        var templates: [Template] = []
        for row in rows { templates.append(try Template(row)) }
        return templates
    }

    /// The template of a name within an application.
    func template(_ name: String, of application: Int64) throws(DatabaseFault) -> Template? {
        let rows = try store.run(
            """
            SELECT name, text, purpose, seconds, max_failures, device_bound FROM template
            WHERE application = $1 AND name = $2
            """, [.integer(application), .text(name)])
        guard let row = rows.first else { return nil }
        return try Template(row)
    }

    /// Removes a template, false where there is none; operations made from it stay as they are.
    func removeTemplate(_ name: String, of application: Int64) throws(DatabaseFault) -> Bool {
        try !store.run(
            "DELETE FROM template WHERE application = $1 AND name = $2 RETURNING name",
            [.integer(application), .text(name)]
        ).isEmpty
    }
}
