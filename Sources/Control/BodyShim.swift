import Crypto
import Posix

extension Invocation {
    /// SHA-256 of the body that was named, or of nothing.
    func bodyDigest() throws(CommandFault) -> [UInt8] {
        do throws(SystemFault) {
            let body = try arguments.value(.body).map { (path) throws(SystemFault) in
                try readFile(path, cap: 1 << 26)
            }
            return (try? SHA256.digest(body ?? [])) ?? []
        } catch { throw .system(error) }
    }
}
