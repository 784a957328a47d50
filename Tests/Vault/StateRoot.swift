import Glibc
import Posix

/// A private directory of root's below /var/lib, removed with the test that made it.
final class StateRoot {
    let path: String

    init() throws {
        var template = Array("/var/lib/signet-test.\(getpid()).XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemFault("mkdtemp", code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in (try? Directory.open(path).list()) ?? [] { _ = unsafe unlink(at(name)) }
        _ = unsafe rmdir(path)
    }

    func at(_ name: String) -> String { path + "/" + name }

    func open() throws -> Directory { try Directory.open(path) }
}
