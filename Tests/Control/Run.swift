import Control
import Foundation
import Glibc
import Posix
import Synchronization
import Texts
import Wire

/// A private directory of root's, removed with the test that made it. Not below /tmp: what others
/// may write to is not trusted with configuration.
final class Scratch: Sendable {
    let path: String

    init() throws {
        path = "/var/lib/signet-control-test.\(getpid()).\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func at(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ name: String, _ text: String) throws {
        let place = at(name)
        try FileManager.default.createDirectory(
            atPath: (place as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        try Data(text.utf8).write(to: URL(fileURLWithPath: place))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: place)
    }

    func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: at(name))))
    }
}

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
/// The caller is root, and PAM's directory is the scratch's `pam.d`, unless `change` says otherwise.
func signet(
    _ words: [String], _ scripts: [[Step]] = [], in scratch: Scratch? = nil,
    change: (inout Surroundings) -> Void = { _ in }
) throws -> Run {
    let scratch = try scratch ?? Scratch()
    let said = Said()
    let daemon = scripts.isEmpty ? nil : try FakeDaemon(at: scratch.at("socket"), scripts)
    var surroundings = Surroundings()
    surroundings.socketPath = scratch.at("socket")
    surroundings.configurationFile = scratch.at("signet.conf")
    surroundings.pamDirectory = scratch.at("pam.d")
    surroundings.terminal = scratch.at("no-terminal")
    surroundings.output = { bytes in said.output.withLock { $0 += bytes } }
    surroundings.errors = { bytes in said.errors.withLock { $0 += bytes } }
    surroundings.columns = { nil }
    change(&surroundings)
    let code = Invocation.run(words, in: surroundings)
    return Run(
        code: code, output: String(decoding: said.output.withLock { $0 }, as: UTF8.self),
        errors: String(decoding: said.errors.withLock { $0 }, as: UTF8.self),
        requests: try daemon?.requests() ?? [])
}

private final class Said: Sendable {
    let output = Mutex<Bytes>([])
    let errors = Mutex<Bytes>([])
}
