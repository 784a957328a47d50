// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax

/// A file of the repository that follows from the declaration of a program, whole or in a part.
package struct GeneratedFile: Sendable {
    /// The path below the repository.
    package let path: String
    /// Gives the file's text, from the one that it has now; nil if that lacks the marks.
    package let text: @Sendable (String) -> String?

    private init(_ path: String, _ text: @escaping @Sendable (String) -> String?) {
        self.path = path
        self.text = text
    }

    /// A completion, which is generated whole.
    package static func completions(of program: ProgramSyntax) -> [GeneratedFile] {
        let (place, name) = ("packaging/completions", program.name)
        return [
            GeneratedFile("\(place)/\(name).bash") { _ in bashCompletion(of: program) },
            GeneratedFile("\(place)/_\(name)") { _ in zshCompletion(of: program) },
            GeneratedFile("\(place)/\(name).fish") { _ in fishCompletion(of: program) },
        ]
    }

    /// The section SYNOPSIS of a manual page.
    package static func manual(_ path: String, of program: ProgramSyntax) -> GeneratedFile {
        GeneratedFile(path) { old in
            replacing(
                old, after: ".Sh SYNOPSIS", before: ".Sh DESCRIPTION",
                by: manualSynopsis(of: program))
        }
    }

    /// The tables between two comments.
    package static func tables(_ path: String, of program: ProgramSyntax) -> GeneratedFile {
        GeneratedFile(path) { old in
            replacing(
                old, after: "<!-- \(program.name): written by 'make generated' -->",
                before: "<!-- \(program.name): end -->",
                by: [""] + commandTables(of: program) + [""])
        }
    }

    /// The lines between two lines replaced; nil if those are not there.
    static func replacing(
        _ text: String, after start: String, before end: String, by new: [String]
    ) -> String? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let first = lines.firstIndex(of: start),
            let last = lines[first...].firstIndex(of: end)
        else { return nil }
        return (lines[...first] + new + lines[last...]).joined(separator: "\n")
    }
}
