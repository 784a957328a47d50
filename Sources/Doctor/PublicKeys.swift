// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginProtocol
import Posix
import SignedFormats

extension Machine {
    /// What speaks against the public keys, as the module reads them.
    func keyFindings() -> [Finding] {
        let files = publicFiles()
        return files.flatMap { file -> [Finding] in
            let path = file.path.bytes
            let found: String?
            do throws(SystemFault) {
                found = try account(file.uid)
            } catch {
                // A directory of accounts that does not answer has not said that there is none.
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
        // What cannot be read, or is no file, is told by its mode and kind.
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

    /// The account that a key's comment names, `signet:ACCOUNT:CREDENTIAL`; nil unless the line is
    /// just as the daemon writes it.
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
