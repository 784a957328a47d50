// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A private directory of root's, removed with the test that made it.
///
/// Below /run: a parent that others may write to is what the code under test refuses.
package final class Scratch: Sendable {
    /// The directory.
    package let path: String

    /// Makes an empty directory, mode 0700.
    package init() throws(TestFault) {
        Scratch.sweep
        var template = Array("/run/\(Scratch.prefix)\(getpid()).XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw .system(call: "mkdtemp", subject: "a test", code: errno)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Scratch.removeTree(path) }

    /// The path of a name in this directory.
    package func at(_ name: String) -> String { path + "/" + name }

    /// Writes a file as its owner would by hand, and the directories that it is in.
    package func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws(TestFault) {
        var directory = path
        for part in name.split(separator: "/").dropLast() {
            directory += "/" + part
            _ = unsafe mkdir(directory, 0o755)
        }
        let opened = unsafe open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let file = try Descriptor(opened < 0 ? -errno : opened, "open", name)
        try file.write(bytes)
        guard fchmod(file.number, mode) == 0 else {
            throw .system(call: "fchmod", subject: name, code: errno)
        }
    }

    /// Writes a file of text.
    package func write(_ name: String, _ text: String, mode: UInt32 = 0o600) throws(TestFault) {
        try write(name, Array(text.utf8), mode: mode)
    }

    /// A whole file.
    package func read(_ name: String) throws(TestFault) -> [UInt8] { try Layout.read(at(name)) }

    private static let prefix = "signet-test."

    /// Removes, once, what test runs that were killed left behind.
    private static let sweep: Void = {
        for name in names(in: "/run") where name.hasPrefix(prefix) {
            let pid = name.dropFirst(prefix.count).split(separator: ".").first.flatMap { Int32($0) }
            guard let pid, kill(pid, 0) == -1, errno == ESRCH else { continue }
            removeTree("/run/" + name)
        }
    }()

    private static func names(in path: String) -> [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    private static func removeTree(_ path: String) {
        if unsafe unlink(path) == 0 { return }
        for name in names(in: path) { removeTree(path + "/" + name) }
        _ = unsafe rmdir(path)
    }
}
