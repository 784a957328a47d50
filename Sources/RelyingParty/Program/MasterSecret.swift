// SPDX-License-Identifier: Apache-2.0
import Posix

/// The 32 bytes from which the keys that seal secrets in the database are derived.
///
/// All servers on one database need the same master secret. Without it, the sealed keys and MAC
/// tokens in the database are lost.
enum MasterSecret {
    static let count = 32
    /// How many bytes of an overlong file are read, to report its length.
    private static let longest = 4_096

    private enum Found {
        case secret(SecretBytes)
        case otherLength(Int)
    }

    /// Reads the master secret from a private file; returns nil if there is no file.
    ///
    /// - Throws: as `load`.
    static func find(_ path: String) throws(StartFault) -> SecretBytes? {
        let found: Found?
        do throws(FileFault) {
            let (directory, name) = try place(path, faults: .none)
            found = try read(name, in: directory)
        } catch { throw .file(error) }
        return try found.map { (found) throws(StartFault) in try secret(found, at: path) }
    }

    /// Reads the master secret from a private file, and creates the file if it does not exist.
    ///
    /// A file of another length is never overwritten, because its former content may be all that
    /// opens the database. If several servers start at once, all use the secret that one of them
    /// created.
    ///
    /// - Throws: `.masterSecret` for a file of another length, `.file` if the file cannot be read,
    ///   cannot be created, or is not trusted.
    static func load(
        _ path: String, faults: DurableFaults = .none
    ) throws(StartFault) -> SecretBytes {
        let found: Found
        do throws(FileFault) {
            found = try readOrMake(path, faults: faults)
        } catch { throw .file(error) }
        return try secret(found, at: path)
    }

    private static func secret(_ found: Found, at path: String) throws(StartFault) -> SecretBytes {
        switch found {
        case .secret(let secret): return secret
        case .otherLength(let count): throw .masterSecret(path: path, count: count)
        }
    }

    /// The directory of the file, and the file's name in it.
    private static func place(
        _ path: String, faults: DurableFaults
    ) throws(FileFault) -> (Directory, String) {
        let parts = path.split(separator: "/")
        guard path.utf8.first == UInt8(ascii: "/"), let last = parts.last else {
            throw .untrusted(path: path, .notAbsolute)
        }
        let directory = try Directory.open(
            "/" + parts.dropLast().joined(separator: "/"), owner: effectiveUID(), faults: faults)
        return (directory, String(last))
    }

    private static func readOrMake(
        _ path: String, faults: DurableFaults
    ) throws(FileFault) -> Found {
        let (directory, name) = try place(path, faults: faults)
        if let found = try read(name, in: directory) { return found }
        var fresh: [UInt8]
        do throws(SystemFault) {
            fresh = try randomBytes(count)
        } catch { throw .system(error) }
        defer { wipe(&fresh) }
        guard try directory.add(name, bytes: fresh) else {
            // Another server created the file first and may have sealed keys with its secret. If
            // that file has disappeared meanwhile, it is not created again.
            return try read(name, in: directory) ?? .otherLength(0)
        }
        do throws(SystemFault) {
            return .secret(try SecretBytes(moving: &fresh))
        } catch { throw .system(error) }
    }

    /// The file's content; nil if there is no file.
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
