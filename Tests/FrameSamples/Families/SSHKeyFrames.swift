// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import SSHProtocol
import SignedFormats
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/SSH/SSHFamily.swift`.
package enum SSHKeyFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            SSHCreateRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "ssh-keygen"),
        RequestExpectation(
            SSHSignRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "ssh"),
        RequestExpectation(
            SSHListRequest.self, owner: true, other: false, proof: .none, logging: .denials),
        RequestExpectation(
            SSHRemoveRequest.self, owner: true, other: false, proof: .password,
            readsPrints: false),
    ]

    /// A key, and one with everything at its longest.
    package static let key = SSHKeyContent(
        since: 0, vault: [], publicKey: .sample(0..<65), application: .standard,
        handle: SSHKeyHandle(device: .sample(0..<16), uid: 0, key: .sample(1..<17)),
        name: known(SSHKeyName([0x61])), state: .good)
    package static let longKey = SSHKeyContent(
        since: .max, vault: Bytes(repeating: 0x61, count: Limit.label),
        publicKey: .sample(0..<65), application: .longestSample,
        handle: SSHKeyHandle(device: .sample(0..<16), uid: .max, key: .sample(1..<17)),
        name: .longestSample, state: .invalidated)

    package static let requests: [Request] = [
        .sshCreate(
            SSHCreateRequest(account: account, timeoutMilliseconds: 1, application: [0x73])),
        .sshCreate(
            SSHCreateRequest(
                account: account, timeoutMilliseconds: .max,
                application: Bytes(repeating: 0xFF, count: Limit.label), name: .longestSample)),
        .sshSign(
            SSHSignRequest(
                account: account, timeoutMilliseconds: 1, application: [0], handle: [], data: [])),
        .sshSign(
            SSHSignRequest(
                account: account, timeoutMilliseconds: .max,
                application: Bytes(repeating: 0xFF, count: Limit.label),
                handle: Bytes(repeating: 0xFF, count: Limit.label),
                data: Bytes(repeating: 0xFF, count: SSHSignedData.longest),
                wantsVerification: true)),
        .sshList(account: account),
        .sshRemove(account: account, key: .sample(0..<16)),
    ]

    package static let answers: [Answer] = [
        .of(SSHKeyMadeAnswer(key)), .of(SSHKeyMadeAnswer(longKey)),
        .of(SSHKeyAnswer(key)), .of(SSHKeyAnswer(longKey)),
        .of(SSHKeyCountAnswer(count: .max)),
        .of(
            SSHSignatureAnswer(
                flags: SSHSecurityKey.presenceFlags, counter: 0,
                numbers: Bytes(repeating: 0, count: 64))),
        .of(
            SSHSignatureAnswer(
                flags: SSHSecurityKey.flags, counter: .max,
                numbers: Bytes(repeating: 0xFF, count: 64))),
    ]
}

extension SSHKeyName {
    /// A name of the maximum length.
    fileprivate static let longestSample =
        known(SSHKeyName(Bytes(repeating: 0x61, count: SSHKeyName.longest)))
}

extension SSHApplication {
    /// An application of the maximum length.
    fileprivate static let longestSample = known(
        SSHApplication(
            Bytes("ssh:".utf8) + Bytes(repeating: 0x61, count: SSHApplication.longest - 4)))
}
