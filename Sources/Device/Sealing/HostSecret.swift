// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix

/// Why the host secret could not be loaded or created.
package enum HostSecretFault: Error, Equatable, Sendable {
    /// The file could not be read or created, or its owner or mode is not trusted.
    case file(FileFault)
    /// The file is not exactly 32 bytes long.
    ///
    /// It is left alone, since keys may still depend on it.
    case wrongSize(path: String)
    /// Locked memory or random bytes were not available.
    case system(SystemFault)
}

/// The machine's secret of 32 random bytes, one factor of every sealing.
///
/// Without it, no sealed key, template, MAC token or record mark of this machine can be opened or
/// verified. It comes from the systemd credential `signet-host-secret` or from the file
/// `host-secret`.
package struct HostSecret: Sendable {
    /// The length in bytes.
    package static let count = 32

    let secret: SecretBytes

    /// Takes over a secret.
    ///
    /// Returns nil unless it has 32 bytes.
    package init?(_ secret: SecretBytes) {
        guard secret.count == HostSecret.count else { return nil }
        self.secret = secret
    }

    /// Loads the secret, and creates it at the first start.
    ///
    /// The systemd credential `signet-host-secret` takes precedence over the file `host-secret` in
    /// the state directory. If neither exists, the file is created with 32 random bytes and mode
    /// 0600. A secret that exists but is unreadable, untrusted or of the wrong length is a fault;
    /// it is neither replaced nor skipped, since sealed keys may depend on it.
    ///
    /// - Parameters:
    ///   - credentials: The directory that systemd passes in `CREDENTIALS_DIRECTORY`, or nil.
    ///   - state: The private state directory.
    /// - Throws: `.file` if a file cannot be read, is not trusted or cannot be written;
    ///   `.wrongSize` if it is not 32 bytes long; `.system` if there are no random bytes or no
    ///   locked memory.
    package static func load(
        credentials: String?, state: Directory
    ) throws(HostSecretFault) -> HostSecret {
        if let credentials {
            let path = credentials + "/signet-host-secret"
            if var bytes = try readCredential(path) { return try adopt(&bytes, path: path) }
        }
        if var bytes = try readOwn(state) {
            return try adopt(&bytes, path: state.path + "/" + fileName)
        }
        return try make(in: state)
    }

    /// Derives a name of the secret, 16 bytes, which does not reveal the secret.
    ///
    /// Credentials record it, so that a changed host secret can be reported as the reason why they
    /// do not open.
    package func identifier() throws(VaultError) -> [UInt8] {
        let derived = try crypto { () throws(CryptoFault) in
            try HKDF.derive(
                from: secret, salt: [], info: Array("signet host secret name 1".utf8), count: 16)
        }
        return derived.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
    }

    private static let fileName = "host-secret"

    private static func make(in state: Directory) throws(HostSecretFault) -> HostSecret {
        var bytes: [UInt8]
        do {
            bytes = try randomBytes(count)
        } catch { throw .system(error) }
        defer { wipe(&bytes) }
        do {
            try state.replace(fileName, bytes: bytes, mode: 0o600)
        } catch { throw .file(error) }
        return try adopt(&bytes, path: fileName)
    }

    private static func readCredential(_ path: String) throws(HostSecretFault) -> [UInt8]? {
        do throws(FileFault) {
            return try TrustedFile.read(path, isPrivate: true, cap: count)
        } catch {
            if error.isMissing { return nil }
            if case .tooLarge = error { throw .wrongSize(path: path) }
            throw .file(error)
        }
    }

    private static func readOwn(_ state: Directory) throws(HostSecretFault) -> [UInt8]? {
        do throws(FileFault) {
            return try state.read(fileName, cap: count)
        } catch {
            if case .tooLarge(let path) = error { throw .wrongSize(path: path) }
            throw .file(error)
        }
    }

    /// Moves the bytes into locked memory.
    ///
    /// Wipes `bytes` if their length is wrong.
    private static func adopt(
        _ bytes: inout [UInt8], path: String
    ) throws(HostSecretFault) -> HostSecret {
        guard bytes.count == count else {
            wipe(&bytes)
            throw .wrongSize(path: path)
        }
        do throws(SystemFault) {
            return HostSecret(secret: try SecretBytes(moving: &bytes))
        } catch { throw .system(error) }
    }

    private init(secret: SecretBytes) {
        self.secret = secret
    }
}

extension HostSecretFault: CustomStringConvertible {
    /// One line without a full stop.
    package var description: String {
        switch self {
        case .file(let fault): fault.description
        case .wrongSize(let path): "\(path) is not exactly 32 bytes long"
        case .system(let fault): fault.description
        }
    }
}
