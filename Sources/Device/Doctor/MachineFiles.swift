// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol
import Posix

/// The files of the machine under examination; they are only read, and only up to a limit.
package struct MachineFiles: Sendable {
    /// A prefix of every path, for tests.
    package var root = ""

    /// The directory of the daemon's files, public keys included.
    static let state = "/var/lib/signet"
    /// The maximum number of names that are read of one directory.
    private static let mostNames = 4_096

    func look(_ path: String, following: Bool = false) -> FileLook? {
        FileLook(root + path, following: following)
    }

    func exists(_ path: String, following: Bool = false) -> Bool {
        look(path, following: following) != nil
    }

    /// Whether certainly nothing exists at a path; false if the caller may not look.
    func isMissing(_ path: String) -> Bool { FileLook.isMissing(root + path) }

    /// The target of a symbolic link; nil if there is no link.
    func target(_ path: String) -> String? { FileLook.target(of: root + path) }

    /// The beginning of a regular file, at most `cap` bytes; nil if it cannot be read.
    func read(_ path: String, cap: Int = 65_536) -> Bytes? {
        FileLook.beginning(of: root + path, cap: cap)
    }

    /// The lines of a file that are not empty; none if it cannot be read.
    func lines(_ path: String, cap: Int = 65_536) -> [Substring] {
        String(decoding: read(path, cap: cap) ?? [], as: UTF8.self).split(separator: "\n")
    }

    /// The fields of each line of a file such as /etc/passwd.
    func table(_ path: String) -> [[Substring]] {
        lines(path, cap: 1 << 20).map {
            $0.split(separator: ":", omittingEmptySubsequences: false)
        }
    }

    /// The names in a directory, sorted; none if it cannot be read.
    func names(_ path: String) -> [String] {
        FileLook.names(in: root + path, cap: MachineFiles.mostNames) ?? []
    }

    /// The type of the file system that contains a path, as numbered by statfs(2).
    func fileSystem(_ path: String) -> UInt64? { FileLook.fileSystem(of: root + path) }

    /// The files in keys/ whose names are of a kind that Signet creates.
    func publicFiles() -> [PublicFile] {
        names("\(MachineFiles.state)/keys").compactMap(PublicFile.init)
    }

    /// All files of the PAM configuration; those in /etc/pam.d take precedence over the
    /// distribution's.
    func stackFiles() -> StackFiles {
        var texts: [String: Bytes] = [:]
        var elsewhere: [String: String] = [:]
        for directory in ["/usr/lib/pam.d", StackFiles.directory] {
            for name in names(directory) where !name.hasPrefix(".") {
                let cap = StackFile.maximumLength
                guard let text = read("\(directory)/\(name)", cap: cap) else { continue }
                texts[name] = text
                elsewhere[name] = directory == StackFiles.directory ? nil : directory
            }
        }
        return StackFiles(
            texts, elsewhere: elsewhere, isReplaced: isSignetModule, load: includedFile)
    }

    /// A file that a stack includes by a path; a directory counts as empty, as for fopen(3).
    private func includedFile(_ name: String) -> Bytes? {
        let paths =
            name.hasPrefix("/")
            ? [name] : [StackFiles.directory, "/usr/lib/pam.d"].map { "\($0)/\(name)" }
        for path in paths {
            if let text = read(path, cap: StackFile.maximumLength) { return text }
            if look(path, following: true)?.kind == .directory { return [] }
        }
        return nil
    }

    /// Whether the module that a stack names by this path is Signet's, by the mark in its file.
    private func isSignetModule(_ path: String) -> Bool {
        read(modulePath(path), cap: ModuleMark.longestModule).flatMap(ModuleMark.version) != nil
    }
}

/// The name of a file in keys/: `UID.pub`, `UID.off` or `UID.next`.
struct PublicFile: Equatable {
    enum Kind: String {
        case pub = "pub"
        case off = "off"
        case next = "next"
    }

    let uid: UInt32
    let kind: Kind

    init?(_ name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let uid = UInt32(parts[0]), String(uid) == parts[0],
            let kind = Kind(rawValue: String(parts[1]))
        else { return nil }
        self.uid = uid
        self.kind = kind
    }

    var path: String { "\(MachineFiles.state)/keys/\(uid).\(kind.rawValue)" }
}

extension String {
    var bytes: Bytes { Bytes(utf8) }
}

extension Text.Interpolation {
    /// Appends text from outside the program, with unprintable characters made harmless.
    mutating func appendInterpolation(_ outside: String) { appendInterpolation(outside.bytes) }
}
