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
    /// length stays as it is: what it was before may be all that opens the database.
    static func load(_ path: String) throws(StartFault) -> SecretBytes {
        let found: Found
        do throws(FileFault) {
            found = try readOrMake(path)
        } catch { throw .file(error) }
        switch found {
        case .secret(let secret): return secret
        case .otherLength(let count): throw .masterSecret(path: path, count: count)
        }
    }

    private static func readOrMake(_ path: String) throws(FileFault) -> Found {
        let parts = path.split(separator: "/")
        guard path.utf8.first == UInt8(ascii: "/"), let name = parts.last else {
            throw .untrusted(path: path, .notAbsolute)
        }
        let directory = try Directory.open(
            "/" + parts.dropLast().joined(separator: "/"), owner: effectiveUID())
        if var bytes = try directory.read(String(name), cap: longest) {
            defer { wipe(&bytes) }
            guard bytes.count == count else { return .otherLength(bytes.count) }
            do throws(SystemFault) {
                return .secret(try SecretBytes(moving: &bytes))
            } catch { throw .system(error) }
        }
        var fresh: [UInt8]
        do throws(SystemFault) {
            fresh = try randomBytes(count)
        } catch { throw .system(error) }
        try directory.replace(String(name), fresh)
        do throws(SystemFault) {
            return .secret(try SecretBytes(moving: &fresh))
        } catch { throw .system(error) }
    }
}
