// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix

/// Why there is no host secret.
package enum HostSecretFault: Error, Equatable, Sendable {
    /// The file cannot be read or made, or is not trusted.
    case file(FileFault)
    /// The file is not exactly 32 bytes long. It is left as it is: keys may still depend on it.
    case wrongSize(path: String)
    /// No secret memory or no random bytes.
    case system(SystemFault)
}

/// The machine's own secret of 32 bytes, without which no sealed key and no template opens.
package struct HostSecret: Sendable {
    /// The number of bytes.
    package static let count = 32

    let secret: SecretBytes

    /// Takes a secret that is at hand; nil unless it has 32 bytes.
    package init?(_ secret: SecretBytes) {
        guard secret.count == HostSecret.count else { return nil }
        self.secret = secret
    }

    /// Loads the systemd credential where there is one, else the file `host-secret` of the state
    /// directory, which is made at the first start.
    ///
    /// What is there but not as it should be is a fault, never replaced and never passed over.
    /// - Parameters:
    ///   - credentials: the directory that systemd gives in `CREDENTIALS_DIRECTORY`, or nil.
    ///   - state: the private state directory.
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

    /// Names the secret without telling it, 16 bytes: so that a change of it can be explained.
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
            try state.replace(fileName, bytes, mode: 0o600)
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
