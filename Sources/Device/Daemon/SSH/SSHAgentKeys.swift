// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import SSHProtocol
import SignedFormats
import State

/// An account's ssh keys for `signet-agent`: plain keys, for programs and servers that know no
/// security keys.
///
/// They are stored, sealed, counted and destroyed as those of `SSHKeys` are, and sign the same two
/// forms of data, each after a touch for it. Neither kind can be used as the other: the application
/// of a key is part of what it is sealed to, and only these requests name the agent's.
@ServiceActor
final class SSHAgentKeys: RequestService {
    private let keys: SSHKeys

    init(_ parts: Collaborators) {
        keys = SSHKeys(parts)
    }
}

extension SSHAgentKeys {
    /// The handlers for making, using and listing the agent's keys; `sshRemove` removes them, too.
    var handlers: [RequestHandler] {
        [RequestHandler(create), RequestHandler(sign), RequestHandler(list)]
    }

    /// Makes a key, after a touch, for the fingers as they were at the touch; see `SSHKeys.create`.
    func create(
        _ request: SSHAgentCreateRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        try await keys.makeKey(
            request.name, for: .agent, as: SSHAgentCreateRequest.self,
            milliseconds: request.timeoutMilliseconds, purpose: request.purpose, account: account,
            client: client
        ) { .of(SSHAgentKeyMadeAnswer($0.agentContent)) }
    }

    /// Signs a login with this very key, or the SSHSIG of a file, after a touch for it; see
    /// `SSHKeys.sign`.
    func sign(
        _ request: SSHAgentSignRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let key = try await keys.usableKey(request.key, for: .agent, account: account)
        let signable = try keys.signable(request.data, by: key)
        let content = signable.content.purpose { SSHKeys.fingerprint(ofKey: $0) }
        return try await keys.sign(
            signable, by: key, as: SSHAgentSignRequest.self,
            milliseconds: request.timeoutMilliseconds,
            purpose: content + request.way + request.programs.text, account: account,
            client: client
        ) { .of(SSHAgentSignatureAnswer(numbers: $0.numbers)) }
    }

    /// Lists the account's keys for the agent; changes nothing.
    func list(
        _: SSHAgentListRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let listed = try await keys.allKeys(of: account).filter { $0.application == .agent }
        for key in listed { await client.send(.of(SSHAgentKeyAnswer(key.agentContent))) }
        return .of(SSHKeyCountAnswer(count: UInt32(clamping: listed.count)))
    }
}

extension StoredSSHKey {
    /// The key as clients see it.
    fileprivate var agentContent: SSHAgentKeyContent {
        SSHAgentKeyContent(
            since: created.seconds, vault: vault.name, publicKey: publicKey.key.point,
            identifier: identifier, name: name, state: shownState)
    }
}

extension SSHAgentPrograms {
    /// `, for ssh of git`: on whose behalf the agent says that it asks; empty if it does not say.
    fileprivate var text: Bytes {
        guard !names.isEmpty else { return [] }
        return Bytes(", for ".utf8) + Bytes(names.joined(separator: Bytes(" of ".utf8)))
    }
}

extension SSHAgentSignRequest {
    /// How many hosts are named.
    private static let namedHosts = 2

    /// `, session with SHA256:…, forwarded by SHA256:…`: what the agent says of the way, from this
    /// machine outwards; a long way is cut after two hosts.
    fileprivate var way: Bytes {
        var text = Bytes()
        if !host.digests.isEmpty { text += Bytes(", session with ".utf8) + host.text }
        guard !forwarders.digests.isEmpty else { return text }
        let more = forwarders.digests.count - Self.namedHosts
        text += Bytes(", forwarded by ".utf8) + forwarders.text
        return more > 0 ? text + Bytes(" and \(more) more".utf8) : text
    }
}

extension SSHHosts {
    /// The fingerprints of the first two.
    fileprivate var text: Bytes {
        Bytes(
            digests.prefix(2).map { digest in
                Bytes("SHA256:".utf8)
                    + Base64.encode(digest, alphabet: .standard).filter { $0 != UInt8(ascii: "=") }
            }.joined(separator: Bytes(" and ".utf8)))
    }
}
