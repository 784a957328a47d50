// SPDX-License-Identifier: Apache-2.0
import Configuration
import SQL

/// What the site serves: an application, and the template of its logins.
struct SiteSubject: Sendable {
    /// The placeholder for the code that distinguishes one sign-in from another.
    static let code = "code"
    /// The placeholder for the browser's address.
    static let address = "address"

    let application: ApplicationRecord
    let template: Template
    let text: TemplateText

    /// Checks that the template is for logins, not bound to a device, shows `{code}`, and has no
    /// other placeholder than `{address}`.
    init(_ application: ApplicationRecord, _ template: Template) throws(SiteFault) {
        let place = "the template '\(template.name)' of '\(application.name)'"
        guard template.purpose == .login else {
            throw SiteFault(
                text: "\(place) is not for logins: make one with 'template add … --purpose login'")
        }
        guard !template.isDeviceBound else {
            throw SiteFault(
                text: "\(place) wants a device to be named, which no browser can: make another")
        }
        guard let text = try? TemplateText(template.text),
            text.placeholders.isSubset(of: [Self.code, Self.address]),
            text.placeholders.contains(Self.code)
        else {
            throw SiteFault(
                text: """
                    \(place) must show {code}, may show {address}, and no other value: for example \
                    'sign in from {address}, where the page shows {code}'
                    """)
        }
        self.application = application
        self.template = template
        self.text = text
    }
}

/// Why there can be no site.
struct SiteFault: Error, Equatable {
    /// What is wrong, and what to do about it.
    let text: String
}

extension Transaction {
    /// Reads the application and its template, or says what is wrong with them.
    func siteSubject(
        application name: String, template: String
    ) throws(DatabaseFault) -> Result<SiteSubject, SiteFault> {
        guard let application = try applications.application(name: name) else {
            return .failure(
                SiteFault(
                    text: """
                        there is no application '\(name)' for site.application: \
                        'signet-server admin application list' shows all
                        """))
        }
        guard let record = try templates.template(template, of: application.id) else {
            return .failure(
                SiteFault(
                    text: """
                        '\(name)' has no template '\(template)' for site.template: \
                        'signet-server admin template add \(name) \(template) --purpose login …' \
                        makes one
                        """))
        }
        return Result { () throws(SiteFault) in try SiteSubject(application, record) }
    }
}

/// The settings of the site.
struct SiteSettings: Equatable {
    let address: SiteAddress
    let application: String
    let template: String

    /// Returns nil if the site is off; throws `.site` for settings that cannot work.
    init?(_ settings: Configuration) throws(StartFault) {
        guard settings.word(ServerSettings.site) == "on" else { return nil }
        let url = settings.word(ServerSettings.url)
        guard let address = SiteAddress(url) else {
            throw .site(
                """
                server.url is '\(url)', where no browser can sign in: write https:// and a host, \
                or http://localhost with its port, without a path
                """)
        }
        self.address = address
        application = settings.word(ServerSettings.siteApplication)
        guard application != "none" else {
            throw .site("site.application is not set: name the application that it is for")
        }
        template = settings.word(ServerSettings.siteTemplate)
    }
}

extension Site {
    /// Creates the site; nil if it is off. Its application and template must exist.
    static func of(
        _ service: Service, _ settings: Configuration, limits: RateLimit, proofLimits: RateLimit
    ) async throws(StartFault) -> Site? {
        guard let wanted = try SiteSettings(settings) else { return nil }
        let found: Result<SiteSubject, SiteFault>
        do throws(DatabaseFault) {
            found = try await service.database.read { store throws(DatabaseFault) in
                try store.siteSubject(
                    application: wanted.application, template: wanted.template)
            }
        } catch { throw .database(error) }
        if case .failure(let fault) = found { throw .site(fault.text) }
        return Site(
            service: service, address: wanted.address, application: wanted.application,
            template: wanted.template, limits: limits, proofLimits: proofLimits)
    }
}
