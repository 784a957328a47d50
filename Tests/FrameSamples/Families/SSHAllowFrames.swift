// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/SSH/SSHAllowRequest.swift`.
package enum SSHAllowFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            SSHAllowRequest.self, owner: true, other: false, proof: .none, root: false,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement, .keySignature]),
            command: "signet ssh allow")
    ]

    /// A host key's fingerprint, and the longest namespace.
    package static let destinations: [SSHDestination] = [
        known(SSHDestination(Bytes("SHA256:".utf8) + Bytes(repeating: 0x41, count: 43))),
        known(SSHDestination(Bytes("namespace:".utf8) + Bytes(repeating: 0x61, count: 128))),
    ]

    package static let requests: [Request] = [
        .sshAllow(
            SSHAllowRequest(
                account: account, timeoutMilliseconds: 1, key: .sample(0..<16),
                destination: destinations[0], signatures: 1, seconds: 1)),
        .sshAllow(
            SSHAllowRequest(
                account: account, timeoutMilliseconds: .max, key: .sample(0..<16),
                destination: destinations[1], signatures: 100, seconds: 60)),
    ]

    package static let answers: [Answer] = [
        .of(SSHAllowedAnswer(signatures: 0, seconds: 0)),
        .of(SSHAllowedAnswer(signatures: .max, seconds: .max)),
    ]
}
