// SPDX-License-Identifier: Apache-2.0
import Foundation
import PackagePlugin

/// Lists the types of a target that conform to a protocol, so that a new type needs no entry anywhere.
///
/// Before a target of `lists` is compiled, `Plugins/listing.awk` writes one more source file for it,
/// with `enum Listed` and one property for each list. It runs again whenever a file of the target
/// is added, removed or changed. It is a script because a program would be built with the flags of
/// the target that it serves, and the fuzzer's have a `main` of their own.
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

    /// The targets whose fields the tests know by name.
    private static let targetsWithFields = ["CommandProtocol", "LoginProtocol", "SSHProtocol"]

    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        guard let module = target as? SourceModuleTarget, let lists = Self.lists[target.name] else {
            throw Unlisted(target: target.name)
        }
        let script = context.package.directoryURL.appending(path: "Plugins/listing.awk")
        var modules: [SourceModuleTarget] = []
        if lists.contains(where: { $0.kind.hasPrefix(".") }) {
            for case .target(let used as SourceModuleTarget) in target.dependencies
            where Self.targetsWithFields.contains(used.name) { modules.append(used) }
        }
        let sources = (modules + [module])
            .flatMap { $0.sourceFiles(withSuffix: ".swift").map(\.url) }
            .sorted { $0.path() < $1.path() }
        let output = context.pluginWorkDirectoryURL.appending(path: "Listed.swift")
        return [
            .buildCommand(
                displayName: "Listing the types of \(target.name)",
                executable: URL(filePath: "/usr/bin/env"),
                arguments: [
                    "awk", "-f", script.path(), "-v", "output=\(output.path())", "-v",
                    "lists=\(lists.map { "\($0.name)=\($0.kind)" }.joined(separator: " "))",
                    "-v", "modules=\(modules.map(\.name).sorted().joined(separator: " "))",
                ] + sources.map { $0.path() },
                inputFiles: [script] + sources, outputFiles: [output])
        ]
    }

    /// A target uses the plugin and has no lists.
    private struct Unlisted: Error, CustomStringConvertible {
        let target: String
        var description: String { "Plugins/Listing/Listing.swift has no list for \(target)" }
    }
}
