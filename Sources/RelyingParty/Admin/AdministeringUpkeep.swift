// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import LoginMessages
import Posix
import SQL

// Commands that work on files rather than on a running service: they open the database themselves,
// and are for the command line alone.
extension AdminVerbs {
    /// The database and the configuration.
    static let upkeep: [AdminVerb] = [
        AdminVerb(
            "migrate", operands: [], options: [],
            summary:
                "convert the database to the format of this program, as the server does at its start",
            work: .configuration { settings, output throws(AdminFault) in
                let database = try AdminFiles.open(settings)
                do throws(DatabaseFault) {
                    try await database.migrate(Schema.steps)
                } catch {
                    await database.close()
                    throw AdminFault(error)
                }
                await database.close()
                output.done("the database has format \(Schema.steps.count)")
            }),
        databaseCheck,
        AdminVerb(
            "check-config", operands: [], options: [],
            summary: "check the configuration and the files that it names, and show each setting",
            work: .configuration { settings, output throws(AdminFault) in
                try AdminFiles.check(settings)
                if let doubt = PublicPath.doubt(settings) { report(doubt) }
                output.list(
                    ServerSettings.all.map { setting in
                        ListedSetting(setting, settings: settings)
                    })
            }),
        AdminVerb(
            "check-certificate", operands: [], options: [],
            summary: "check whether a reload of the server would use the present certificate",
            work: .configuration { settings, output throws(AdminFault) in
                let now = Clock.system.wallSeconds()
                guard let end = try AdminFiles.certificateEnd(settings, at: now) else {
                    return output.done("no certificate is configured: the server uses plain HTTP")
                }
                output.show(
                    ["ends": end],
                    lines: ["certificate and key can be used; valid until \(shown(end))"])
            }),
    ]
}

/// A setting in a list. A connection string is hidden, because it may contain a password.
private struct ListedSetting: AdminListed {
    let name: String
    let value: String
    let origin: String

    init(_ setting: Setting, settings: Configuration) {
        name = setting.name
        let isSecret = setting.name == ServerSettings.databaseConnection.name
        let isStandard = settings.origin(setting) == "default"
        value = isSecret && !isStandard ? "(not shown)" : settings.value(setting).text
        origin = settings.origin(setting)
    }

    static let columns = ["SETTING", "VALUE", "FROM"]
    var cells: [String] { [name, value, origin] }
}
