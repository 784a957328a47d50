// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Doctor
import Foundation
import Glibc
import LoginMessages
import LoginProtocol
import Posix
import Synchronization
import TestSupport

/// How one run of the command ended, what it said, and what it asked the daemon.
struct Run {
    let code: ExitCode
    let output: String
    let errors: String
    let requests: [Request]

    /// Each line of output as a JSON document.
    func documents() throws -> [[String: Any]] {
        try output.split(separator: "\n").map { line in
            let document = try JSONSerialization.jsonObject(with: Data(line.utf8))
            guard let members = document as? [String: Any], members["version"] as? Int == 1,
                members["kind"] is String
            else { throw NotADocument(text: String(line)) }
            return members
        }
    }

    /// The last document, of a kind.
    func document(_ kind: String) throws -> [String: Any] {
        guard let last = try documents().last, last["kind"] as? String == kind else {
            throw NotADocument(text: output)
        }
        return last
    }

    struct NotADocument: Error {
        let text: String
    }
}

/// Runs the command against a fake daemon that plays one script a connection; no script, no daemon.
///
/// The caller is root, and the machine that it looks at is the scratch, unless `change` says otherwise.
func signet(
    _ words: [String], _ scripts: [[DaemonStep]] = [], in scratch: Scratch? = nil,
    change: (inout CommandEnvironment) -> Void = { _ in }
) throws -> Run {
    let scratch = try scratch ?? Scratch()
    let said = Said()
    let daemon = scripts.isEmpty ? nil : try FakeDaemon(at: scratch.at("socket"), scripts)
    var environment = CommandEnvironment()
    environment.socketPath = scratch.at("socket")
    environment.configurationFile = scratch.at("signet.conf")
    environment.machine.files.root = scratch.path
    environment.terminal = scratch.at("no-terminal")
    environment.output = { bytes in
        said.output.withLock { $0 += bytes }
        return true
    }
    environment.release = { bytes in
        said.output.withLock { $0 += bytes }
        return true
    }
    environment.errors = { bytes in said.errors.withLock { $0 += bytes } }
    environment.columns = { nil }
    environment.machineName = { [] }
    change(&environment)
    let code = Invocation.run(words, in: environment)
    return Run(
        code: code, output: String(decoding: said.output.withLock { $0 }, as: UTF8.self),
        errors: String(decoding: said.errors.withLock { $0 }, as: UTF8.self),
        requests: try daemon?.requests() ?? [])
}

private final class Said: Sendable {
    let output = Mutex<Bytes>([])
    let errors = Mutex<Bytes>([])
}

extension Scratch {
    /// The path of a module that a stack names without a directory.
    static let module = "usr/lib/x86_64-linux-gnu/security/pam_signet.so"

    /// Removes a file.
    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: at(name)) }

    /// A machine on which `sudo` asks for a touch.
    func writeModule() throws {
        try write("etc/pam.d/sudo", "auth\tsufficient  pam_signet.so timeout=10s\n", mode: 0o644)
        try write(Scratch.module, "", mode: 0o644)
    }
}
