// SPDX-License-Identifier: Apache-2.0
import Foundation
import PackagePlugin

/// Writes sources from what a target declares, so that a new type needs no entry anywhere and a frame
/// is declared once.
///
/// Before a target of `lists` is compiled, `Plugins/listing.awk` writes `enum Listed`, with one
/// property for each list of types that conform to a protocol; and for one of `messages`,
/// `Plugins/messages.awk` writes initialisers, and how frames are encoded and decoded. Both run again whenever a file
/// of the target is added, removed or changed. They are scripts because a program would be built with
/// the flags of the target that it serves, and the fuzzer's have a `main` of their own.
@main
struct Listing: BuildToolPlugin {
    /// The name of each list and the protocol of its types, by target; `.Field` lists the static
    /// members of this type, there and in the targets that it depends on and that have some.
    private static let lists: [String: [(name: String, kind: String)]] = [
        "Command": [("commands", "Command"), ("effects", "EffectWords")],
        "CommandProtocol": [("requests", "DaemonRequest"), ("answers", "DaemonAnswer")],
        "Daemon": [("services", "RequestService"), ("holdings", "FingerBound")],
        "FrameSamples": [("families", "RequestFamily"), ("fields", ".Field")],
    ]

    /// What `Plugins/messages.awk` writes, by target: the coding of frames that conform to a protocol, or
    /// only initialisers.
    private static let messages = [
        "CommandProtocol": "roots=FrameContent", "ReaderProtocol": "initialisers=1",
        "ServerAPI": "initialisers=1",
    ]

    /// The targets that declare fields.
    private static let targetsWithFields = ["CommandProtocol", "LoginProtocol", "SSHProtocol"]

    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        let lists = Self.lists[target.name] ?? []
        guard let module = target as? SourceModuleTarget,
            !lists.isEmpty || Self.messages[target.name] != nil
        else { throw Unlisted(target: target.name) }
        var declaring: [SourceModuleTarget] = []
        for case .target(let used as SourceModuleTarget) in target.dependencies
        where Self.targetsWithFields.contains(used.name) { declaring.append(used) }
        let own = files(of: [module])
        let isListingFields = lists.contains { $0.kind.hasPrefix(".") }
        let named = isListingFields ? declaring.map(\.name).sorted() : []
        let words = lists.map { "\($0.name)=\($0.kind)" }.joined(separator: " ")
        var commands: [Command] = []
        if !lists.isEmpty {
            commands.append(
                command(
                    "Listing the types of \(target.name)", "listing", writing: "Listed",
                    in: context, ["lists=\(words)", "modules=\(named.joined(separator: " "))"],
                    reading: isListingFields ? files(of: declaring + [module]) : own))
        }
        if let what = Self.messages[target.name] {
            commands.append(
                command(
                    "Writing the messages of \(target.name)", "messages", writing: "Messages",
                    in: context, [what], reading: files(of: declaring) + own))
        }
        return commands
    }

    /// The Swift files of these targets.
    private func files(of modules: [SourceModuleTarget]) -> [URL] {
        modules.flatMap { $0.sourceFiles(withSuffix: ".swift").map(\.url) }
            .sorted { $0.path() < $1.path() }
    }

    /// A command that runs a script over sources.
    private func command(
        _ words: String, _ name: String, writing file: String, in context: PluginContext,
        _ variables: [String], reading sources: [URL]
    ) -> Command {
        let script = context.package.directoryURL.appending(path: "Plugins/\(name).awk")
        let output = context.pluginWorkDirectoryURL.appending(path: "\(file).swift")
        let settings = ["output=\(output.path())"] + variables
        return .buildCommand(
            displayName: words, executable: URL(filePath: "/usr/bin/env"),
            arguments: ["awk", "-f", script.path()] + settings.flatMap { ["-v", $0] }
                + sources.map { $0.path() },
            inputFiles: [script] + sources, outputFiles: [output])
    }

    /// A target uses the plugin and has no lists.
    private struct Unlisted: Error, CustomStringConvertible {
        let target: String
        var description: String { "Plugins/Listing/Listing.swift has nothing for \(target)" }
    }
}
