// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol
import ModuleOptions

/// Checks whether only root can change the files that `server=` refers to, and whether they name
/// accounts and groups that exist.
struct ServerFileCheck {
    let machine: Machine
    let stacks: ServiceStacks

    func findings() -> [Finding] {
        let check = FileCheck(files: machine.files)
        return stacks.serverFiles.flatMap { path, services in
            // If only root can read it, the module can still do so where it runs as root.
            check.findings(at: path, rule: .settingFile) + check.parents(of: path)
                + findings(on: path, services: ServiceStacks.list(services))
        }
    }

    private func findings(on path: String, services: Bytes) -> [Finding] {
        switch ServerFile(path, on: machine) {
        case .mistake(let place)?: [Self.mistake(services, place: place, file: path)]
        case .server(let server)?:
            server.accounts.compactMap { stranger($0, services: services, file: path) }
        case nil: []
        }
    }

    /// Returns the finding on a name that does not exist; nil if it exists or the name service
    /// cannot tell.
    private func stranger(_ word: Bytes, services: Bytes, file: String) -> Finding? {
        guard word.first == UInt8(ascii: "@") else {
            let name = String(decoding: word, as: UTF8.self)
            return machine.nameService.lacksAccount(name)
                ? Self.noAccount(word, services: services, file: file) : nil
        }
        let group = Bytes(word.dropFirst())
        return machine.nameService.lacksGroup(String(decoding: group, as: UTF8.self))
            ? Self.noGroup(group, services: services, file: file) : nil
    }
}

extension ServerFileCheck {
    /// The file named by `server=` is invalid; `place` is a file, or a file and line.
    private static func mistake(_ services: Bytes, place: String, file: String) -> Finding {
        Finding(
            "server-file", level: .fault, area: .stacks, subject: file.bytes,
            what: "\(services): the file given with 'server=' cannot be used: \(place)",
            why: """
                no touch is accepted there, only the password. The file is missing, or that line \
                has a mistake: 'signet-server admin application pam-file' prints a correct file
                """,
            mend: Remedy.edit(file))
    }

    /// The file named by `server=` lists an account that does not exist.
    private static func noAccount(_ name: Bytes, services: Bytes, file: String) -> Finding {
        Finding(
            "server-file-account", level: .fault, area: .stacks, subject: name,
            what: """
                \(services): the account \(name) does not exist on this machine, but \(file) names \
                it
                """,
            why: """
                the user that the name was meant for logs in there with a touch alone, without the \
                server. Correct the name
                """,
            mend: Remedy.edit(file))
    }

    /// The file named by `server=` lists a group that does not exist.
    private static func noGroup(_ name: Bytes, services: Bytes, file: String) -> Finding {
        Finding(
            "server-file-group", level: .fault, area: .stacks, subject: name,
            what: """
                \(services): the group \(name) does not exist on this machine, but \(file) names it
                """,
            why: """
                the members of the group are unknown, so no touch is accepted there until the name \
                is correct or the directory that knows the group answers
                """,
            mend: Remedy.edit(file))
    }
}
