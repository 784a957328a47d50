// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where things are on the machine that the tests run on.
package enum Layout {
    /// The package's directory.
    package static let package: String = {
        let parts = #filePath.split(separator: "/")
        return "/" + parts.dropLast(3).joined(separator: "/")
    }()

    /// The directory of the running program: where built products are.
    package static let products = link("/proc/self/exe").map { directory(of: $0) } ?? package

    /// A whole file of the machine.
    package static func read(_ path: String) throws(TestFault) -> [UInt8] {
        let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
        let file = try Descriptor(opened < 0 ? -errno : opened, "open", path)
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(file.number, bytes.baseAddress, bytes.count)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .system(call: "read", subject: path, code: errno) }
            if count == 0 { return all }
            all += buffer[..<count]
        }
    }

    /// The names in a directory that is there, such as the numbers in `/proc`; nothing if it is not.
    package static func entries(of directory: String) -> [String] {
        paths(matching: "\(directory)/*").map { String($0.dropFirst(directory.utf8.count + 1)) }
    }

    /// The names in a directory that begin with a dot.
    package static func hidden(in directory: String) -> [String] {
        paths(matching: "\(directory)/.?*").map { String($0.dropFirst(directory.utf8.count + 1)) }
            .filter { $0 != ".." }
    }

    /// The first path that a pattern (glob) matches; throws if none does.
    package static func matching(_ pattern: String) throws(TestFault) -> String {
        guard let first = paths(matching: pattern).first else {
            throw .system(call: "glob", subject: pattern, code: ENOENT)
        }
        return first
    }

    /// When a file was last given a time, in nanoseconds since 1970.
    package static func modificationTime(_ path: String) throws(TestFault) -> Int {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw .system(call: "stat", subject: path, code: errno)
        }
        return status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    }

    /// The directory that a path is in.
    package static func directory(of path: String) -> String {
        "/" + path.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// What a symbolic link says; nil if it is none, or gone.
    package static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe readlink(path, base, bytes.count)
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private static func paths(matching pattern: String) -> [String] {
        var found = unsafe glob_t()
        defer { unsafe globfree(&found) }
        guard unsafe glob(pattern, 0, nil, &found) == 0 else { return [] }
        let paths = unsafe UnsafeBufferPointer(start: found.gl_pathv, count: Int(found.gl_pathc))
        return unsafe paths.compactMap { path in
            guard let path = unsafe path else { return nil }
            return unsafe String(cString: path)
        }
    }

    /// The directory of PAM's modules: where pam_unix.so is.
    static func moduleDirectory() throws(TestFault) -> String {
        let pattern = "/lib/*/security/pam_unix.so"
        if let merged = paths(matching: "/usr" + pattern).first { return directory(of: merged) }
        return try directory(of: matching(pattern))
    }

    /// Where `Tests/HostFixture/programs` unpacks programs.
    package static var unpacked: String { "\(package)/.build/programs" }

    /// Where the libraries of unpacked programs are.
    package static func unpackedLibraries() throws(TestFault) -> String {
        // /usr/lib/x86_64-linux-gnu, for example.
        unpacked + directory(of: try moduleDirectory())
    }

    /// Directories to be seen in a fixture, none inside another, none that is seen anyway.
    static func seen(adding more: [String]) -> [String] {
        let wanted = Set([package, products, runtime].compactMap(\.self) + more)
        return wanted.sorted().filter { path in
            !wanted.contains { $0 != path && path.hasPrefix($0 + "/") }
        }
    }

    /// The directory of the Swift runtime that this process runs with; nil when it is linked in.
    private static let runtime: String? = {
        let maps = (try? read("/proc/self/maps")) ?? []
        let line = String(decoding: maps, as: UTF8.self).split(separator: "\n")
            .first { $0.hasSuffix("/libswiftCore.so") }
        return line?.split(separator: " ").last.map { directory(of: String($0)) }
    }()
}
