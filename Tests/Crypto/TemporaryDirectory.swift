import Glibc
import Posix

/// A directory for a program that a test runs, removed with it.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/signet-crypto.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemFault("mkdtemp", code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { _ = unsafe system("rm -rf '\(path)'") }

    /// Runs a shell command in this directory, silently; its exit status as wait(2) gives it.
    func run(_ command: String) -> Int32 {
        unsafe system("cd '\(path)' && { \(command); } >/dev/null 2>&1")
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        guard let file = unsafe fopen(path + "/" + name, "wxe") else {
            throw SystemFault("fopen", on: name, code: errno)
        }
        defer { unsafe fclose(file) }
        let count = unsafe fwrite(bytes, 1, bytes.count, file)
        guard count == bytes.count else { throw SystemFault("fwrite", on: name, code: errno) }
    }

    func read(_ name: String) throws -> [UInt8] {
        guard let file = unsafe fopen(path + "/" + name, "re") else {
            throw SystemFault("fopen", on: name, code: errno)
        }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1000)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }
}
