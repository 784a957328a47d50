// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginProtocol
import Posix
import SignedFormats

extension Machine {
    /// Problems with the public keys, as the module reads them.
    func keyFindings() -> [Finding] {
        let files = publicFiles()
        return files.flatMap { file -> [Finding] in
            let path = file.path.bytes
            let found: String?
            do throws(SystemFault) {
                found = try account(file.uid)
            } catch {
                // If the name service does not answer, that does not mean that there is no such
                // account.
                return []
            }
            guard let account = found else { return [.keyOfNobody(path, uid: file.uid)] }
            switch file.kind {
            case .pub: return keyFindings(file, account: account.bytes)
            case .next: return [.keyHalfChanged(path)]
            case .off:
                let hasKey = files.contains { $0.uid == file.uid && $0.kind == .pub }
                return hasKey ? [.keyAndMark(path, account: account.bytes)] : []
            }
        }
    }

    private func keyFindings(_ file: PublicFile, account: Bytes) -> [Finding] {
        // An unreadable file, or something other than a file, is reported by the check of its mode.
        guard let line = read(file.path, cap: SSHPublicKey.maximumLineLength + 1) else { return [] }
        guard let owner = Machine.owner(ofKey: line) else {
            return [.keyDamaged(file.path.bytes, account: account)]
        }
        guard owner == account else {
            return [
                .keyOfAnother(
                    file.path.bytes, names: owner, account: account, uid: file.uid)
            ]
        }
        return []
    }

    /// The account named in a key's comment, `signet:ACCOUNT:CREDENTIAL`.
    ///
    /// Nil unless the line is exactly as the daemon writes it: the credential has 16 bytes in
    /// hexadecimal.
    static func owner(ofKey line: Bytes) -> Bytes? {
        guard line.count <= SSHPublicKey.maximumLineLength,
            let (_, comment) = try? SSHPublicKey.parse(line: line)
        else { return nil }
        let words = comment.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard words.count == 3, Bytes(words[0]) == "signet".bytes,
            let name = PercentEncoding.decode(Bytes(words[1])),
            Hexadecimal.decode(Bytes(words[2]))?.count == 16
        else { return nil }
        return name
    }
}
