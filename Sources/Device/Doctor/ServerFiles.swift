// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import LoginProtocol
import ModuleOptions
import Posix

extension Machine {
    /// Problems with the files that `server=` refers to: their permissions and their content.
    func serverFileFindings(_ examination: StackExamination) -> [Finding] {
        var findings: [Finding] = []
        for (path, services) in examination.serverFiles {
            // If only root can read it, the module can still do so where it runs as root.
            findings += check(path, .publicFile).filter { $0.code != .fileUnreadable }
            findings += checkParents(of: path)
            guard let place = mistake(in: path) else {
                findings += strangers(in: path, StackExamination.list(services))
                continue
            }
            findings.append(
                .serverFile(
                    services: StackExamination.list(services), place: place.bytes,
                    file: path.bytes))
        }
        return findings
    }

    /// Names in a file that do not exist.
    ///
    /// If the name service cannot tell, the name counts as known.
    private func strangers(in path: String, _ services: Bytes) -> [Finding] {
        guard let text = read(path, cap: LoginServer.maximumLength),
            let server = try? LoginServer(parsing: text)
        else { return [] }
        return server.accounts.compactMap { word in
            let isGroup = word.first == UInt8(ascii: "@")
            let name = isGroup ? Bytes(word.dropFirst()) : word
            let text = String(decoding: name, as: UTF8.self)
            do throws(SystemFault) {
                if try isGroup ? self.isGroup(text) : isAccount(text) { return nil }
            } catch { return nil }
            return isGroup
                ? .serverFileGroup(name, services: services, file: path.bytes)
                : .serverFileAccount(name, services: services, file: path.bytes)
        }
    }

    /// The place of the file's mistake, as `path` or `path:line`.
    ///
    /// Nil if it has none, or if only root could tell.
    func mistake(in path: String) -> String? {
        guard look(path) != nil else { return isRoot || isMissing(path) ? path : nil }
        guard let text = read(path, cap: LoginServer.maximumLength + 1) else {
            return isRoot ? path : nil
        }
        do throws(LoginServer.Fault) {
            let server = try LoginServer(parsing: text)
            // The daemon contacts the server, and accepts only this form of URL.
            return ServerURL(server.url) == nil ? path : nil
        } catch {
            switch error {
            case .line(let line): return "\(path):\(line)"
            case .tooLong, .missing: return path
            }
        }
    }
}
