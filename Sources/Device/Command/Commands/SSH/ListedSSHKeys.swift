// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Crypto
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import SSHProtocol
import SignedFormats

/// One of an account's ssh keys, of either kind.
enum ListedSSHKey {
    /// A key that OpenSSH uses as one on a security key.
    case securityKey(SSHKeyContent)
    /// A plain key, which signet-agent offers.
    case agent(SSHAgentKeyContent)
}

extension SSHCommand {
    /// The account's keys of both kinds; throws if the daemon counts others than it has sent.
    func keys(of account: AccountName) throws(CommandFault) -> [ListedSSHKey] {
        let keys = try listed(.sshList(account: account)) {
            $0.own(SSHKeyAnswer.self).map { .securityKey($0.content) }
        }
        return keys
            + (try listed(.sshAgentList(account: account)) {
                $0.own(SSHAgentKeyAnswer.self).map { .agent($0.content) }
            })
    }

    private func listed(
        _ request: Request, _ item: (Answer) -> ListedSSHKey?
    ) throws(CommandFault) -> [ListedSSHKey] {
        var keys: [ListedSSHKey] = []
        try run.exchange(request).run { (answer) throws(CommandFault) in
            if let key = item(answer) {
                keys.append(key)
                return .goOn
            }
            guard let end: SSHKeyCountAnswer = answer.own(), Int(end.count) == keys.count else {
                throw .fault(CommonMessages.unexpected)
            }
            return .finished
        }
        return keys
    }

    /// Has signetd make a key for signet-agent, after a touch, and prints its line.
    func makeAgentKey(_ name: SSHKeyName?) throws(CommandFault) {
        let account = try run.account()
        let request = SSHAgentCreateRequest(
            account: account, timeoutMilliseconds: Self.touchMilliseconds, name: name)
        var progress = Progress(
            run.environment, isJSON: run.isJSON, purpose: request.purpose)
        defer { progress.end() }
        var made: SSHAgentKeyContent?
        var exchange = run.exchange(.sshAgentCreate(request), awaitsTouch: true)
        exchange.isDrawn = run.environment.columns() != nil
        try exchange.run { (answer) throws(CommandFault) in
            if case .notice(let notice) = answer {
                progress.show(notice)
                return .goOn
            }
            guard let end: SSHAgentKeyMadeAnswer = answer.own() else {
                throw .fault(CommonMessages.unexpected)
            }
            made = end.content
            return .finished
        }
        guard let made else { throw .fault(CommonMessages.unexpected) }
        // What is said next begins a line of its own.
        progress.end()
        let line = try ListedSSHKey.agent(made).line(comment: made.name.bytes)
        run.environment.say(SSHMessages.madeForAgent)
        run.environment.say(Text(escaping: line))
        run.environment.say(SSHMessages.useAgent)
    }

    /// How long the daemon is to wait for a touch.
    private static let touchMilliseconds: UInt32 = 60_000
}

extension ListedSSHKey {
    var name: SSHKeyName {
        switch self {
        case .securityKey(let key): key.name
        case .agent(let key): key.name
        }
    }

    var identifier: SSHKeyID {
        switch self {
        case .securityKey(let key): key.handle.key
        case .agent(let key): key.identifier
        }
    }

    var state: SSHKeyState {
        switch self {
        case .securityKey(let key): key.state
        case .agent(let key): key.state
        }
    }

    private var since: UInt64 {
        switch self {
        case .securityKey(let key): key.since
        case .agent(let key): key.since
        }
    }

    private var vault: Bytes {
        switch self {
        case .securityKey(let key): key.vault
        case .agent(let key): key.vault
        }
    }

    /// The application; nil for a key of the agent.
    private var application: Bytes? {
        switch self {
        case .securityKey(let key): key.application.bytes
        case .agent: nil
        }
    }

    /// The public key; throws for a point that cannot be one.
    private func signer() throws(CommandFault) -> SSHSignerKey {
        let (point, application) =
            switch self {
            case .securityKey(let key): (key.publicKey, key.application)
            case .agent(let key): (key.publicKey, SSHApplication.agent)
            }
        guard let key = SSHPublicKey(point) else { throw .fault(CommonMessages.malformed) }
        return SSHSignerKey(key: key, application: application)
    }

    /// The line for `authorized_keys`, without a line end.
    func line(comment: Bytes) throws(CommandFault) -> Bytes {
        let signer = try signer()
        return signer.algorithm.bytes + [0x20]
            + Base64.encode(signer.blob, alphabet: .standard) + [0x20] + comment
    }

    /// The fingerprint as `ssh-keygen -l` shows it.
    func fingerprint() throws(CommandFault) -> Bytes {
        let blob = try signer().blob
        do throws(CryptoFault) {
            return Bytes("SHA256:".utf8)
                + Base64.encode(try SHA256.digest(blob), alphabet: .standard)
                .filter { $0 != UInt8(ascii: "=") }
        } catch { throw .fault(CommonMessages.failed("\(error)".bytes)) }
    }

    /// The row in the list.
    func row(fingerprint: Bytes) -> [Text] {
        [
            "\(name.bytes)", Text.date(since), SSHMessages.state(state), "\(vault)",
            application.map { "\($0)" } ?? SSHMessages.agent, "\(fingerprint)",
        ]
    }

    /// The key in JSON.
    func document(fingerprint: Bytes) -> JSON {
        let word =
            switch state {
            case .good: "good"
            case .invalidated: "invalidated"
            }
        var members: [(String, JSON)] = [
            ("name", .bytes(name.bytes)), ("since", JSON.instant(since)), ("state", .string(word)),
            ("vault", .bytes(vault)), ("agent", .bool(application == nil)),
        ]
        if let application { members.append(("application", .bytes(application))) }
        return .object(members + [("fingerprint", .bytes(fingerprint))])
    }
}
