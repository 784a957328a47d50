import Glibc
import Posix

/// A private directory of root's below /var/lib, removed with the test that made it.
///
/// Not below /tmp: a parent that others may write to is what the code under test refuses.
final class Scratch {
    let path: String

    init() throws {
        Scratch.sweep()
        let nonce = try randomBytes(6).map { String($0, radix: 16) }.joined(separator: "-")
        path = "\(Scratch.prefix)\(getpid()).\(nonce)"
        guard unsafe mkdir(path, 0o700) == 0 else {
            throw SystemFault("mkdir", on: path, code: errno)
        }
    }

    deinit { Scratch.removeTree(path) }

    /// The path of a name in this directory.
    func at(_ name: String) -> String { path + "/" + name }

    /// Writes a file as its owner would by hand.
    func write(_ name: String, _ text: String, mode: UInt32 = 0o600) throws {
        let number = unsafe open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard number >= 0 else { throw SystemFault("open", on: name, code: errno) }
        let file = Descriptor(adopting: number)
        let bytes = Array(text.utf8)
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.write(number, $0.baseAddress, $0.count)
        }
        guard count == bytes.count, fchmod(file.number, mode) == 0 else {
            throw SystemFault("write", on: name, code: errno)
        }
    }

    private static let prefix = "/var/lib/signet-test."

    /// Removes what test runs that were killed left behind.
    private static func sweep() {
        for name in names(in: "/var/lib") where name.hasPrefix("signet-test.") {
            let pid = name.split(separator: ".").dropFirst().first.flatMap { Int32($0) }
            guard let pid, kill(pid, 0) == -1, errno == ESRCH else { continue }
            removeTree("/var/lib/" + name)
        }
    }

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
