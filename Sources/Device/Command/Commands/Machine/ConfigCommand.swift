// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Configuration
import ConfigurationFiles
import Doctor
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix

/// `signet config`: shows the settings in force, or checks configuration files with `--check`.
struct ConfigCommand: Command {
    static let helpPosition = 120
    static let syntax = CommandSyntax(
        "config", summary: "show the settings in force, and where they come from",
        forms: [
            FormSyntax(),
            FormSyntax(
                .check,
                operands: [OperandSyntax(ValueSyntax("FILE", kind: .file), count: 0...Int.max)]),
        ], options: [.json])

    let run: Invocation

    /// Prints the effective settings; with `--check [FILE…]`, checks configuration files instead.
    func perform() throws(CommandFault) {
        if run.arguments.has(.check) { return try checkFiles() }
        let settings = try settings()
        let modules = run.environment.machine.moduleLines()
        // The origin follows the value at once: lists are so long that no column after them is one.
        let rows = Table.lines(settings.map { ["\($0.name)", "= \($0.value) (\($0.origin))"] })
        run.say(
            .document(
                "config",
                members: [
                    ("settings", .array(settings.map(\.document))),
                    ("modules", .array(modules.map(\.document))),
                ]),
            rows + [""] + (modules.isEmpty ? [StatusMessages.unused] : Self.table(modules)))
    }

    private static func table(_ modules: [ModuleLine]) -> [Text] {
        Table.lines(
            [ConfigMessages.modules]
                + modules.map { line in
                    [
                        line.services.joined(separator: ", ").text, line.type.text,
                        line.options.isEmpty
                            ? TableText.none : line.options.joined(separator: " ").text,
                        line.place.text,
                    ]
                })
    }

    /// Requests the effective settings.
    func settings() throws(CommandFault) -> [SettingAnswer] {
        try run.collect(.configuration) { $0.own() }
    }

    private func checkFiles() throws(CommandFault) {
        let configuration: Configuration
        do throws(ConfigurationFault) {
            configuration = try read()
        } catch {
            run.say(.check(error, differences: nil), [error.text.text])
            throw .said(.denied)
        }
        let files =
            run.arguments.operands.isEmpty
            ? run.environment.configurationFile : run.arguments.operands.joined(separator: ", ")
        // The settings in use are compared too, but the files can be checked without the daemon.
        let running = try? settings()
        let differences = running.map { Self.differences($0, configuration: configuration) }
        let unknown = run.environment.machine.unknownNames(configuration)
        let obsolete = configuration.obsoleteLines
        var lines = [ConfigMessages.noMistakes(files.bytes)] + obsolete.map(\.text.text)
        lines += unknown.map(\.text)
        let root = run.environment.machine.admissionOfRoot(configuration)
        lines += [root].compactMap { $0 }
        if let differences {
            lines += differences.map(\.text)
            lines.append(
                differences.isEmpty ? ConfigMessages.sameSettings : ConfigMessages.restart)
        } else {
            lines.append(ConfigMessages.serviceUnknown)
        }
        run.say(
            .check(
                nil, differences: differences, unknown: unknown, obsolete: obsolete,
                admitsRoot: root != nil),
            lines)
    }

    private func read() throws(ConfigurationFault) -> Configuration {
        guard !run.arguments.operands.isEmpty else {
            return try ConfigurationFiles.load(run.environment.configurationFile)
        }
        var files: [(name: String, text: Bytes)] = []
        for path in run.arguments.operands {
            do throws(SystemFault) {
                files.append((path, try readFile(path, cap: Configuration.maximumFileLength)))
            } catch {
                throw ConfigurationFault(file: path, line: 0, problem: error.description)
            }
        }
        return try Configuration(files: files)
    }

    private static func differences(
        _ running: [SettingAnswer], configuration: Configuration
    ) -> [SettingDifference] {
        Settings.all.filter(\.isUsedByDaemon).compactMap { setting in
            let files = configuration.value(setting).text.bytes
            guard let used = running.first(where: { $0.name == setting.name.bytes }),
                used.value != files
            else { return nil }
            return SettingDifference(used: used, files: files)
        }
    }
}

extension OptionSyntax {
    fileprivate static let check = OptionSyntax(
        "check", summary: "check the files, or those named, and report mistakes")
}

extension ConfigurationFault {
    fileprivate var document: JSON {
        .object([
            ("file", .string(file)), ("line", .number(UInt64(line))),
            ("problem", .string(problem)),
        ])
    }
}

extension ModuleLine {
    fileprivate var document: JSON {
        .object([
            ("services", .array(services.map { .string($0) })), ("type", .string(type)),
            ("options", .array(options.map { .string($0) })), ("place", .string(place)),
        ])
    }
}

extension UnknownName {
    fileprivate var document: JSON {
        .object([
            ("setting", .string(setting.name)), ("name", .string(name)),
            ("nearest", .optional(nearest, JSON.string)),
        ])
    }
}

/// A setting whose value in the running daemon differs from that in the files.
private struct SettingDifference {
    let used: SettingAnswer
    let files: Bytes

    var text: Text {
        ConfigMessages.otherSetting(
            used.name, service: used.value, origin: used.origin, files: files)
    }
}

extension JSON {
    fileprivate static func check(
        _ fault: ConfigurationFault?, differences: [SettingDifference]?,
        unknown: [UnknownName] = [], obsolete: [ConfigurationFault] = [], admitsRoot: Bool = false
    ) -> JSON {
        .document(
            "config-check",
            members: [
                ("good", .bool(fault == nil)),
                ("fault", .optional(fault, \.document)),
                ("obsolete", .array(obsolete.map(\.document))),
                ("unknown", .array(unknown.map(\.document))), ("admitsRoot", .bool(admitsRoot)),
                (
                    "differences",
                    .optional(differences) { differences in
                        .array(
                            differences.map {
                                .object([
                                    ("name", .bytes($0.used.name)),
                                    ("service", .bytes($0.used.value)), ("files", .bytes($0.files)),
                                ])
                            })
                    }
                ),
            ])
    }
}

extension SettingAnswer {
    fileprivate var document: JSON {
        .object([("name", .bytes(name)), ("value", .bytes(value)), ("origin", .bytes(origin))])
    }
}

/// Messages of `signet config`.
enum ConfigMessages {
    /// The configuration files have no mistakes.
    static func noMistakes(_ files: Bytes) -> Text { "no mistakes in \(files)" }
    /// The daemon uses the settings in the files.
    static let sameSettings: Text = "the running service uses these settings"
    /// The daemon uses other settings than those in the files.
    static func otherSetting(
        _ name: Bytes, service: Bytes, origin: Bytes, files: Bytes
    ) -> Text {
        "\(name): the running service uses \(service) (\(origin)), but the files say \(files)"
    }

    /// How to make the daemon use them.
    static let restart: Text =
        "run 'systemctl try-restart signetd' to make the service read the files again"

    /// It is unknown which settings the daemon uses.
    static let serviceUnknown: Text =
        "the running service does not answer, so its settings are unknown"

    /// The column headings for lines of PAM stacks that call the module.
    static let modules: [Text] = ["services", "stack", "options", "line"]
}
