import Posix

/// The 32 bytes that seal what is secret in the database; all servers on one database have the same.
enum MasterSecret {
    private static let count = 32

    /// Reads the file, which must be its owner's alone; makes it if there is none.
    static func load(_ path: String) throws(FileFault) -> SecretBytes {
        let parts = path.split(separator: "/")
        guard path.utf8.first == UInt8(ascii: "/"), let name = parts.last else {
            throw .untrusted(path: path, .notAbsolute)
        }
        let directory = try Directory.open(
            "/" + parts.dropLast().joined(separator: "/"), owner: effectiveUID())
        if var bytes = try directory.read(String(name), cap: count) {
            guard bytes.count == count else { throw .tooLarge(path: path) }
            do throws(SystemFault) {
                return try SecretBytes(moving: &bytes)
            } catch { throw .system(error) }
        }
        var fresh: [UInt8]
        do throws(SystemFault) {
            fresh = try randomBytes(count)
        } catch { throw .system(error) }
        try directory.replace(String(name), fresh)
        do throws(SystemFault) {
            return try SecretBytes(moving: &fresh)
        } catch { throw .system(error) }
    }
}
