// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import SSHProtocol
import SignedFormats
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/SSH/SSHAgentFamily.swift`.
package enum SSHAgentFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            SSHAgentCreateRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "ssh"),
        RequestExpectation(
            SSHAgentSignRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "ssh"),
        RequestExpectation(
            SSHAgentListRequest.self, owner: true, other: false, proof: .none, logging: .denials),
    ]

    /// A key, and one with everything at its longest.
    package static let key = SSHAgentKeyContent(
        since: 0, vault: [], publicKey: .sample(0..<65), identifier: .sample(1..<17),
        name: known(SSHKeyName([0x61])), state: .good)
    package static let longKey = SSHAgentKeyContent(
        since: .max, vault: Bytes(repeating: 0x61, count: Limit.label),
        publicKey: .sample(0..<65), identifier: .sample(1..<17),
        name: known(SSHKeyName(Bytes(repeating: 0x61, count: SSHKeyName.longest))),
        state: .invalidated)

    package static let requests: [Request] = [
        .sshAgentCreate(SSHAgentCreateRequest(account: account, timeoutMilliseconds: 1)),
        .sshAgentCreate(
            SSHAgentCreateRequest(
                account: account, timeoutMilliseconds: .max,
                name: known(SSHKeyName(Bytes(repeating: 0x61, count: SSHKeyName.longest))))),
        .sshAgentSign(
            SSHAgentSignRequest(
                account: account, timeoutMilliseconds: 1, key: .sample(0..<16), data: [],
                programs: SSHAgentPrograms([]), forwarders: known(SSHHosts([])),
                host: known(SSHHosts([])))),
        .sshAgentSign(
            SSHAgentSignRequest(
                account: account, timeoutMilliseconds: .max, key: .sample(0..<16),
                data: Bytes(repeating: 0xFF, count: SSHSignedData.longest),
                programs: SSHAgentPrograms(
                    (0..<3).map { _ in Bytes(repeating: 0xFF, count: 15) }),
                forwarders: known(SSHHosts((0..<16).map { Bytes(repeating: $0, count: 32) })),
                host: known(SSHHosts([Bytes(repeating: 7, count: 32)])))),
        .sshAgentList(account: account),
    ]

    package static let answers: [Answer] = [
        .of(SSHAgentKeyMadeAnswer(key)), .of(SSHAgentKeyMadeAnswer(longKey)),
        .of(SSHAgentKeyAnswer(key)), .of(SSHAgentKeyAnswer(longKey)),
        .of(SSHAgentSignatureAnswer(numbers: Bytes(repeating: 0xFF, count: 64))),
    ]
}
