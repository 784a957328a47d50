// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import TestSupport
import Testing

@Suite("private directories")
struct DirectoryTests {
    let scratch: Scratch
    let directory: Directory

    init() throws {
        scratch = try Scratch()
        directory = try Directory.open(scratch.path)
    }

    @Test("what was replaced is read back, with its mode")
    func replaces() throws {
        #expect(try directory.read("a", cap: 10) == nil)
        try directory.replace("a", bytes: [1, 2, 3])
        try directory.replace("a", bytes: [4, 5], mode: 0o640)
        #expect(try directory.read("a", cap: 10, isPrivate: false) == [4, 5])
        var status = stat()
        #expect(unsafe stat(scratch.at("a"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o640)
    }

    @Test("an empty file is a file")
    func empty() throws {
        try directory.replace("a", bytes: [])
        #expect(try directory.read("a", cap: 0) == [])
    }

    @Test(
        "names that are not plain are refused",
        arguments: ["", ".", "..", ".new-1", "a/b", "/a", "a\nb", "a\0b", "a b"])
    func names(_ name: String) {
        #expect(throws: FileFault.badName(name)) { try directory.replace(name, bytes: []) }
        #expect(throws: FileFault.badName(name)) { try directory.read(name, cap: 1) }
        #expect(throws: FileFault.badName(name)) { try directory.remove(name) }
        #expect(throws: FileFault.badName(name)) { try directory.makeDirectory(name, mode: 0o700) }
    }

    @Test("a fault at any step leaves the old file or the new one, whole, and no other")
    func faultsOnReplace() throws {
        let steps: [DurableStep] = [
            .create, .write, .writeHalf, .synchronise, .rename, .synchroniseDirectory,
        ]
        for step in steps {
            for code in [ENOSPC, EIO, EROFS] {
                try directory.replace("a", bytes: Array("old".utf8))
                let failing = try directoryFailing(at: step, with: code)
                #expect(throws: FileFault.system(SystemFault("test", on: "a", code: code))) {
                    try failing.replace("a", bytes: Array("new".utf8))
                }
                let found = try directory.read("a", cap: 10)
                let expected = step == .synchroniseDirectory ? "new" : "old"
                #expect(found == Array(expected.utf8), "\(step)")
                #expect(try allNames() == ["a"], "\(step)")
            }
        }
    }

    @Test("a fault while the first file is written leaves none or the new one")
    func faultsOnFirst() throws {
        for step in [DurableStep.create, .write, .writeHalf, .synchronise, .rename] {
            let failing = try directoryFailing(at: step, with: ENOSPC)
            #expect(throws: FileFault.self) { try failing.replace("a", bytes: [1]) }
            #expect(try allNames() == [])
        }
    }

    @Test("removing is durable, and removing a missing file is no fault")
    func removes() throws {
        try directory.replace("a", bytes: [1])
        let failing = try directoryFailing(at: .remove, with: EROFS)
        #expect(throws: FileFault.self) { try failing.remove("a") }
        #expect(try directory.read("a", cap: 1) == [1])
        try directory.remove("a")
        try directory.remove("a")
        #expect(try directory.read("a", cap: 1) == nil)
    }

    @Test("what a crash left half-written is swept, and nothing else")
    func sweeps() throws {
        try scratch.write(".new-12-ab", "half")
        try scratch.write(".hidden", "kept")
        try directory.replace("a", bytes: [1])
        #expect(try directory.list() == ["a"])
        try directory.sweep()
        #expect(try allNames() == [".hidden", "a"])
    }

    @Test("subdirectories are listed, and neither files nor symbolic links are")
    func subdirectories() throws {
        _ = try directory.makeDirectory("one", mode: 0o700)
        _ = try directory.makeDirectory("two", mode: 0o755)
        try directory.replace("file", bytes: [1])
        #expect(unsafe symlink("one", scratch.at("link")) == 0)
        #expect(unsafe mkdir(scratch.at(".hidden"), 0o700) == 0)
        #expect(try directory.subdirectories() == ["one", "two"])
    }

    @Test("a directory is made once, with its mode, and must be what it seems")
    func subdirectory() throws {
        let made = try directory.makeDirectory("sub", mode: 0o700)
        try made.replace("a", bytes: [7])
        #expect(try directory.makeDirectory("sub", mode: 0o700).read("a", cap: 1) == [7])
        #expect(unsafe chmod(scratch.at("sub"), 0o750) == 0)
        #expect(throws: FileFault.untrusted(path: scratch.at("sub"), .mode(0o750))) {
            try directory.directory("sub")
        }
        #expect(try directory.directory("sub", isPrivate: false).list() == ["a"])
        #expect(unsafe chown(scratch.at("sub"), 4711, 0) == 0)
        #expect(throws: FileFault.untrusted(path: scratch.at("sub"), .owner(4711))) {
            try directory.directory("sub", isPrivate: false)
        }
    }

    @Test("a symbolic link in place of a file or a directory is refused")
    func links() throws {
        try directory.replace("real", bytes: [1])
        #expect(unsafe symlink("real", scratch.at("a")) == 0)
        #expect(throws: FileFault.untrusted(path: scratch.at("a"), .wrongKind)) {
            try directory.read("a", cap: 1)
        }
        #expect(throws: FileFault.self) { _ = try AppendFile(in: directory, name: "a") }
        _ = try directory.makeDirectory("sub", mode: 0o700)
        #expect(unsafe symlink("sub", scratch.at("way")) == 0)
        #expect(throws: FileFault.untrusted(path: scratch.at("way"), .wrongKind)) {
            try directory.directory("way")
        }
        // Replacing puts a file over the link and does not follow it.
        try directory.replace("a", bytes: [2])
        #expect(try directory.read("real", cap: 1) == [1])
    }

    @Test("a root that others may write to, or that is a link, does not open")
    func root() throws {
        #expect(unsafe symlink(scratch.path, scratch.at("loop")) == 0)
        #expect(throws: FileFault.self) { try Directory.open(scratch.at("loop")) }
        #expect(unsafe chmod(scratch.path, 0o770) == 0)
        #expect(throws: FileFault.untrusted(path: scratch.path, .mode(0o770))) {
            try Directory.open(scratch.path)
        }
        #expect(throws: FileFault.self) { try Directory.open("/tmp") }
    }

    @Test("a file that grows is read from anywhere, and a failed growth is undone")
    func appends() throws {
        let file = try AppendFile(in: directory, name: "log")
        try file.append([1, 2, 3])
        try file.append([4])
        try file.synchronise()
        #expect(try file.size() == 4)
        #expect(try file.read(at: 2, count: 10) == [3, 4])
        #expect(try file.read(at: 9, count: 10) == [])
        try file.truncate(to: 3)
        #expect(try AppendFile(in: directory, name: "log").read(at: 0, count: 9) == [1, 2, 3])
        let failing = try AppendFile(
            in: try directoryFailing(at: .writeHalf, with: ENOSPC), name: "log")
        #expect(throws: FileFault.self) { try failing.append([5, 6, 7, 8]) }
        #expect(try file.read(at: 0, count: 9) == [1, 2, 3])
    }

    private func directoryFailing(at step: DurableStep, with code: Int32) throws -> Directory {
        let faults = DurableFaults { (reached, name) throws(SystemFault) in
            if reached == step { throw SystemFault("test", on: name, code: code) }
        }
        return try Directory.open(scratch.path, faults: faults)
    }

    /// Every name in the directory, temporary ones too.
    private func allNames() throws -> [String] {
        guard let stream = unsafe opendir(scratch.path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            names.append(
                unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                    unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) {
                        unsafe String(cString: $0)
                    }
                })
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }
}
