// SPDX-License-Identifier: Apache-2.0
import Posix

/// The 32 bytes that seal what is secret in the database; all servers on one database have the same.
enum MasterSecret {
    /// How long it is, in bytes.
    static let count = 32
    /// So much is read of a file that is too long, to say how long it is.
    private static let longest = 4_096

    private enum Found {
        case secret(SecretBytes)
        case otherLength(Int)
    }

    /// Reads the file, which must be its owner's alone; makes it if there is none. One of another
    /// length stays as it is: what it was before may be all that opens the database. Of several that
    /// start at once, all have what one has made.
    static func load(
        _ path: String, faults: DurableFaults = .none
    ) throws(StartFault) -> SecretBytes {
        let found: Found
        do throws(FileFault) {
            found = try readOrMake(path, faults)
        } catch { throw .file(error) }
        switch found {
        case .secret(let secret): return secret
        case .otherLength(let count): throw .masterSecret(path: path, count: count)
        }
    }

    private static func readOrMake(
        _ path: String, _ faults: DurableFaults
    ) throws(FileFault) -> Found {
        let parts = path.split(separator: "/")
        guard path.utf8.first == UInt8(ascii: "/"), let last = parts.last else {
            throw .untrusted(path: path, .notAbsolute)
        }
        let name = String(last)
        let directory = try Directory.open(
            "/" + parts.dropLast().joined(separator: "/"), owner: effectiveUID(), faults: faults)
        if let found = try read(name, in: directory) { return found }
        var fresh: [UInt8]
        do throws(SystemFault) {
            fresh = try randomBytes(count)
        } catch { throw .system(error) }
        defer { wipe(&fresh) }
        guard try directory.add(name, fresh) else {
            // Another start was quicker, and may have sealed keys with its own; what is taken away
            // again meanwhile is not made anew.
            return try read(name, in: directory) ?? .otherLength(0)
        }
        do throws(SystemFault) {
            return .secret(try SecretBytes(moving: &fresh))
        } catch { throw .system(error) }
    }

    /// What is in the file; nil where there is none.
    private static func read(
        _ name: String, in directory: Directory
    ) throws(FileFault) -> Found? {
        guard var bytes = try directory.read(name, cap: longest) else { return nil }
        defer { wipe(&bytes) }
        guard bytes.count == count else { return .otherLength(bytes.count) }
        do throws(SystemFault) {
            return .secret(try SecretBytes(moving: &bytes))
        } catch { throw .system(error) }
    }
}
