// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix
import SSHProtocol
import SignedFormats

/// `signet ssh`: makes ssh keys that a touch unlocks, shows and removes them.
///
/// A new key is made by the installed `ssh-keygen`, which writes the files of a key in the format
/// that its own version of OpenSSH reads, and calls signetd through `libsk-signet.so`.
struct SSHCommand: Command {
    static let helpPosition = 177
    static let syntax = CommandSyntax(
        "ssh",
        summary: "manage the keys for ssh that a touch unlocks: new, list, public, remove, allow",
        forms: [
            FormSyntax(word: "list", options: [.account, .json]),
            FormSyntax(
                word: "new", operands: [OperandSyntax(.newKeyName, count: 0...1)],
                options: [.forAgent]),
            FormSyntax(word: "public", operands: [.keyName], options: [.account, .json]),
            FormSyntax(
                word: "remove", operands: [.keyName], options: [.account, .passwordStdin, .json]),
            FormSyntax(
                word: "allow",
                operands: [
                    .keyName, "DESTINATION",
                    OperandSyntax(ValueSyntax("COMMAND"), count: 1...Int.max),
                ], options: [.signatures, .seconds]),
        ], misuse: SSHMessages.choose)

    let run: Invocation

    /// `signet ssh list | new [--agent] [NAME] | public NAME | remove NAME
    /// | allow NAME DESTINATION COMMAND…`
    func perform() throws(CommandFault) {
        let words = run.arguments.operands
        switch (words.first, words.count) {
        case ("list", 1): try listKeys()
        case ("new", 1): try makeAnyKey(nil)
        case ("new", 2): try makeAnyKey(try name(words[1]))
        case ("public", 2): try showPublicKey(try name(words[1]))
        case ("remove", 2): try removeKey(try name(words[1]))
        case ("allow", 4...): try allow(try name(words[1]), words[2], Array(words[3...]))
        default: throw .usage(SSHMessages.choose)
        }
    }

    private func listKeys() throws(CommandFault) {
        let account = try run.account()
        let keys = try keys(of: account)
        var rows: [[Text]] = []
        var documents: [JSON] = []
        for key in keys {
            let fingerprint = try key.fingerprint()
            rows.append(key.row(fingerprint: fingerprint))
            documents.append(key.document(fingerprint: fingerprint))
        }
        let document = JSON.document(
            "ssh-keys", members: [("account", .bytes(account.bytes)), ("keys", .array(documents))])
        guard !keys.isEmpty else { return run.say(document, [SSHMessages.none(account)]) }
        var lines = Table.lines([SSHMessages.heading] + rows)
        if keys.contains(where: { $0.state == .invalidated }) {
            lines.append(SSHMessages.invalidated)
        }
        run.say(document, lines)
    }

    private func showPublicKey(_ name: SSHKeyName) throws(CommandFault) {
        let account = try run.account()
        let key = try key(name, of: account)
        let line = try key.line(comment: key.name.bytes)
        let fingerprint = try key.fingerprint()
        run.say(
            .document(
                "ssh-key",
                members: [
                    ("account", .bytes(account.bytes)), ("publicKey", .bytes(line)),
                    ("key", key.document(fingerprint: fingerprint)),
                ]), [Text(escaping: line)])
    }

    private func removeKey(_ name: SSHKeyName) throws(CommandFault) {
        let account = try run.account()
        let key = try key(name, of: account)
        _ = try run.follow(
            .sshRemove(account: account, key: key.identifier), awaitsTouch: false)
        run.say(
            .document(
                "ssh-key-removed",
                members: [("account", .bytes(account.bytes)), ("name", .bytes(name.bytes))]),
            [SSHMessages.removed(name)])
    }

    /// Has one touch allow a few signatures of what a command starts.
    private func allow(
        _ name: SSHKeyName, _ destination: String, _ command: [String]
    ) throws(CommandFault) {
        let account = try run.account()
        try SSHAllowance(run: run).perform(
            key: try key(name, of: account).identifier, account: account,
            destination: destination, command: command)
    }

    private func makeAnyKey(_ name: SSHKeyName?) throws(CommandFault) {
        if run.arguments.has(.forAgent) { try makeAgentKey(name) } else { try makeKey(name) }
    }

    /// Has `ssh-keygen` make a key and write its files; its touch is asked for through the provider.
    private func makeKey(_ name: SSHKeyName?) throws(CommandFault) {
        let environment = run.environment
        guard let provider = environment.sshProviders.first(where: environment.isThere) else {
            throw .refused(SSHMessages.noProvider)
        }
        guard environment.isThere(environment.sshKeygen) else {
            throw .refused(SSHMessages.noOpenSSH)
        }
        let caller: Account?
        do throws(SystemFault) {
            caller = try Account.with(uid: environment.uid)
        } catch { throw .system(error) }
        guard let caller else { throw .usage(InvocationMessages.noAccount(uid: environment.uid)) }
        let suffix = name.map { "_" + String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        let file = caller.home + "/.ssh/id_ecdsa_sk" + suffix
        // ssh-keygen would ask whether to overwrite it, and a key that is in use would be lost.
        for path in [file, file + ".pub"] where environment.isThere(path) {
            throw .refused(SSHMessages.fileExists(path.bytes))
        }
        // Without a passphrase: the file has no secret, and a touch is needed in any case.
        var arguments = ["-q", "-t", "ecdsa-sk", "-w", provider, "-f", file, "-N", ""]
        if let name {
            arguments += ["-O", "user=" + String(decoding: name.bytes, as: UTF8.self)]
        }
        let status: Int32?
        do throws(SystemFault) {
            status = try environment.runProgram(environment.sshKeygen, arguments)
        } catch { throw .system(error) }
        switch status {
        case 0: break
        case nil: throw .interrupted
        // ssh-keygen and the provider have said why.
        default: throw .said(.denied)
        }
        environment.say(SSHMessages.made(file.bytes))
        environment.say(SSHMessages.configure)
        for line in [
            Bytes("    SecurityKeyProvider ".utf8) + provider.bytes,
            Bytes("    IdentityFile ".utf8) + file.bytes,
        ] {
            environment.say(Text(escaping: line))
        }
    }

    private func name(_ typed: String) throws(CommandFault) -> SSHKeyName {
        guard let name = SSHKeyName(typed.bytes) else {
            throw .usage(SSHMessages.badName(typed.bytes))
        }
        return name
    }

    /// Finds a key by its name.
    private func key(
        _ name: SSHKeyName, of account: AccountName
    ) throws(CommandFault) -> ListedSSHKey {
        guard let key = try keys(of: account).first(where: { $0.name == name }) else {
            throw .denied(Denial(.unknownSshKey, subject: name.bytes), account: account)
        }
        return key
    }
}

extension OperandSyntax {
    fileprivate static let keyName = OperandSyntax(
        ValueSyntax("NAME", kind: .listed(member: "name", by: "ssh list")))
}

extension OptionSyntax {
    fileprivate static let forAgent = OptionSyntax(
        "agent", summary: "make a plain key for signet-agent, without a file")
}

extension ValueSyntax {
    fileprivate static let newKeyName = ValueSyntax("NAME") { SSHMessages.badName($0) }
}

/// Messages of `signet ssh`.
enum SSHMessages {
    /// The forms of the command.
    static let choose: Text =
        """
        ssh takes list, new [--agent] [NAME], public NAME, remove NAME or allow NAME DESTINATION \
        COMMAND
        """
    /// The heading above the keys.
    static let heading: [Text] = ["name", "since", "state", "vault", "application", "fingerprint"]
    /// What stands for the application of a key for signet-agent.
    static let agent: Text = "signet-agent"
    /// A line below the keys if one cannot be used.
    static let invalidated: Text =
        """
        a key that is destroyed was made for other fingers: run 'signet ssh remove NAME', then \
        'signet ssh new NAME', and give the new public key to your servers
        """

    /// There is no key.
    static func none(_ account: AccountName) -> Text {
        "\(account) has no ssh keys. Run 'signet ssh new' to make one"
    }

    /// The state of a key.
    static func state(_ state: SSHKeyState) -> Text {
        switch state {
        case .good: "good"
        case .invalidated: "destroyed"
        }
    }

    /// A key was removed.
    static func removed(_ name: SSHKeyName) -> Text {
        """
        the ssh key \(name.bytes) is destroyed. Its files in ~/.ssh, if there are any, are useless \
        now; remove its line from the authorized_keys of your servers
        """
    }

    /// A name that no key can have.
    static func badName(_ typed: Bytes) -> Text {
        """
        \(typed) is not a key's name: use letters and digits, and after the first also '.', '_', \
        '-' and '@', 64 in all
        """
    }

    /// The provider is not installed.
    static let noProvider: Text =
        "libsk-signet.so is not installed where OpenSSH looks for it: install the package again"
    /// OpenSSH is not installed.
    static let noOpenSSH: Text = "ssh-keygen is not installed: install the package openssh-client"

    /// A file of this name would be overwritten.
    static func fileExists(_ path: Bytes) -> Text {
        "\(path) exists already: choose another name for the key, or move the file away"
    }

    /// A key was made.
    static func made(_ file: Bytes) -> Text {
        """
        the public key is in \(file).pub: append it to ~/.ssh/authorized_keys on your servers, and \
        keep a second way in
        """
    }

    /// A key for signet-agent was made; its line follows.
    static let madeForAgent: Text =
        """
        append this line to ~/.ssh/authorized_keys on your servers, and keep a second way in:
        """
    /// How programs find the key.
    static let useAgent: Text =
        """
        programs find the key with signet-agent: run 'systemctl --user enable --now \
        signet-agent.socket', and set SSH_AUTH_SOCK to $XDG_RUNTIME_DIR/signet/agent.sock
        """

    /// What to write into the client's configuration; the lines follow.
    static let configure: Text = "ssh and git use the key with these lines in ~/.ssh/config:"
}
