// SPDX-License-Identifier: Apache-2.0
// `make generated`: writes the parts of the repository that follow from what programs declare.
import ArgumentSyntax
import Command
import Daemon
import DesktopProcess
import Generators
import Glibc
import LoginMessages
import Posix
import ReaderProcess
import Relay
import RelyingParty
import SSHAgentProcess

let programs = [
    Commands.syntax, ServerCommand.syntax, DaemonCommand.syntax, ReaderCommand.syntax,
    RelayCommand.syntax, DesktopCommand.syntax, AgentCommand.syntax,
]
let check = OptionSyntax("check", summary: "write nothing; fail if a file is not as it would be")
let syntax = ProgramSyntax(
    "generate", summary: "writes completions, synopses and tables", operands: ["DIRECTORY"],
    options: [check])

let files =
    [Commands.syntax, ServerCommand.syntax].flatMap(GeneratedFile.completions)
    + programs.map { program in
        // What users call; the others are for administrators.
        let section = ["signet", "signet-agent"].contains(program.name) ? "1" : "8"
        return GeneratedFile.manual("docs/man/\(program.name).\(section)", of: program)
    }
    + [Commands.syntax, ServerCommand.syntax].map {
        GeneratedFile.tables("docs/admin/COMMANDS.md", of: $0)
    }

/// Writes the files below a directory, or says which are not as they would be written.
func run(_ arguments: Arguments) throws(SystemFault) -> Int32 {
    let directory = arguments.operands.first ?? "."
    var status: Int32 = 0
    for program in programs {
        for mistake in program.mistakes {
            complain("generate: \(mistake)")
            status = 1
        }
    }
    for file in files {
        let path = "\(directory)/\(file.path)"
        let old =
            exists(path) ? String(decoding: try readFile(path, cap: 1 << 20), as: UTF8.self) : ""
        guard let new = file.text(old) else {
            complain("generate: \(path) lacks the lines between which the text belongs")
            status = 1
            continue
        }
        guard new != old else { continue }
        if arguments.has(check) {
            complain("generate: \(path) is not what is declared: run 'make generated'")
            status = 1
        } else {
            try replaceFile(path, bytes: [UInt8](new.utf8))
        }
    }
    return status
}

switch syntax.outcome(of: Array(CommandLine.arguments.dropFirst()), version: "") {
case .show(let text): print(text)
case .refuse(let text):
    complain(text)
    exit(2)
case .run(let arguments):
    do throws(SystemFault) {
        exit(try run(arguments))
    } catch {
        complain("generate: \(error)")
        exit(1)
    }
}
