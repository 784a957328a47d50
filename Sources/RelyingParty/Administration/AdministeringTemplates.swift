// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages
import SQL

// Creates, lists and removes the templates of operations. A template cannot be changed, only
// removed; operations keep the text that they were created with.
extension AdminVerbs {
    /// The commands for templates of operations.
    static let templates: [AdminVerb] = [
        AdminVerb(
            "template add", operands: ["APPLICATION", "NAME", "TEXT"],
            options: [.purpose, .seconds, .maximumFailures, .device, .factors],
            summary:
                "create the text that a user is asked to approve, with {name} in place of a value"
        ) { admin, words throws(AdminFault) in
            try await TemplateAdministration(admin: admin).add(words)
        },
        AdminVerb(
            "template list", operands: ["APPLICATION"], options: [],
            summary: "list an application's templates"
        ) {
            admin, words throws(AdminFault) in
            try await TemplateAdministration(admin: admin).list(words)
        },
        AdminVerb(
            "template remove", operands: ["APPLICATION", "NAME"], options: [],
            summary: "remove a template; operations created from it stay as they are"
        ) { admin, words throws(AdminFault) in
            try await TemplateAdministration(admin: admin).remove(words)
        },
    ].map { $0.overHTTP(.application) }
}

extension AdminArguments {
    /// The template that the arguments of `template add` describe; `.usage` if it is not valid.
    fileprivate func template() throws(AdminFault) -> OperationTemplate {
        let name = try name(1)
        let isLogin = choice(.purpose, yes: "login") ?? false
        let seconds = count(.seconds) ?? 300
        let failures = count(.maximumFailures) ?? 5
        let isDeviceBound = choice(.device, yes: "one") ?? false
        let factors = text(.factors).flatMap { TemplateFactors(rawValue: $0) } ?? .policy
        do throws(FieldFault) {
            return try OperationTemplate(
                name: name, text: self[2], purpose: isLogin ? .login : .operation,
                seconds: seconds, maximumFailures: failures, isDeviceBound: isDeviceBound,
                factors: factors)
        } catch { throw .usage(error.text) }
    }
}

/// Runs the commands for templates.
private struct TemplateAdministration {
    let admin: Administration

    func add(_ words: AdminArguments) async throws(AdminFault) {
        let application = words[0]
        let template = try words.template()
        try await admin.changeApplication("template add \(template.name)", application: application)
        {
            store, record, now throws(DatabaseFault) -> Result<Void, AdminFault> in
            if record.policy.needsAttestation, template.factors.acceptPasswords {
                return .failure(
                    .refused(
                        """
                        nothing is attested of a key for a password, and '\(application)' requires \
                        attested keys: choose --factors policy or fingerprint
                        """))
            }
            guard try store.templates.makeTemplate(template, of: record.id, at: now) else {
                return .failure(
                    .refused(
                        """
                        '\(application)' has a template '\(template.name)': \
                        take another name, or 'template remove' it first
                        """))
            }
            return .success(())
        }
        admin.output.show(
            ListedTemplate(template), lines: ["the template '\(template.name)' was created"])
    }

    func list(_ words: AdminArguments) async throws(AdminFault) {
        let application = try await admin.application(words[0])
        let all = try await admin.read { store throws(DatabaseFault) in
            try store.templates.listTemplates(of: application.id)
        }
        admin.output.list(all.map(ListedTemplate.init))
    }

    func remove(_ words: AdminArguments) async throws(AdminFault) {
        let (application, name) = (words[0], words[1])
        try await admin.changeApplication("template remove \(name)", application: application) {
            store, record, _ throws(DatabaseFault) -> Result<Void, AdminFault> in
            guard try store.templates.removeTemplate(name, of: record.id) else {
                return .failure(
                    .missing(
                        """
                        '\(application)' has no template '\(name)': \
                        'template list \(application)' shows all
                        """))
            }
            return .success(())
        }
        admin.output.done("the template '\(name)' of '\(application)' was removed")
    }
}

/// A template in a list.
private struct ListedTemplate: AdminListed {
    let name: String
    let purpose: String
    let seconds: Int64
    let maximumFailures: Int64
    let device: String
    let factors: String
    let text: String

    init(_ template: OperationTemplate) {
        name = template.name
        purpose = template.purpose.rawValue
        seconds = template.seconds
        maximumFailures = template.maximumFailures
        device = template.isDeviceBound ? "one" : "any"
        factors = template.factors.rawValue
        text = template.text
    }

    static let columns = [
        "NAME", "PURPOSE", "SECONDS", "MAX-FAILURES", "DEVICE", "FACTORS", "TEXT",
    ]

    /// The cells, with line feeds escaped, so that each template is one line of the table.
    var cells: [String] {
        [
            name, purpose, "\(seconds)", "\(maximumFailures)", device,
            factors, text.replacing("\n", with: "\\n"),
        ]
    }
}

extension OptionSyntax {
    fileprivate static let purpose = OptionSyntax(
        "purpose", .choice("operation", "login"),
        summary: "what is approved; the default is operation")
    fileprivate static let seconds = OptionSyntax(
        "seconds", .number(OperationTemplate.secondsRange),
        summary: "how long the user may take to decide; the default is 300")
    fileprivate static let maximumFailures = OptionSyntax(
        "max-failures", .number(OperationTemplate.failuresRange),
        summary: "how many wrong signatures end an operation; the default is 5")
    fileprivate static let device = OptionSyntax(
        "device", .choice("any", "one"),
        summary: "whether an operation names the device that may decide; the default is any")
    fileprivate static let factors = OptionSyntax(
        "factors", .choice("policy", "fingerprint", "password", "either", "both"),
        summary: "what approves an operation; the default is what the application's policy accepts")
}
