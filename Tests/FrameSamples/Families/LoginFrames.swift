// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Login/LoginRequests.swift`.
package enum LoginFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            AuthenticateRequest.self, owner: true, other: false, proof: .none, readsPrints: false,
            touch: ExpectedTouch(
                [.presence, .loginLists, .background, .credential, .reader, .lid],
                releases: [.statement, .loginPassword], mayServeOthers: true)),
        RequestExpectation(
            PasswordAcceptedRequest.self, owner: false, other: false, proof: .none,
            readsPrints: false),
        RequestExpectation(PasswordChangedRequest.self, owner: false, other: false, proof: .none),
        RequestExpectation(
            ConfirmRequest.self, owner: true, other: false, proof: .none, readsPrints: false),
        RequestExpectation(
            OfferRequest.self, owner: false, other: false, proof: .none, readsPrints: false,
            logging: .debugging),
    ]

    package static let requests: [Request] = [
        .authenticate(
            AuthenticateRequest(
                account: account, challenge: .sample(0..<32), service: "sudo",
                terminal: Bytes("/dev/pts/3".utf8), remoteHost: Bytes("host".utf8),
                requester: "bob", purpose: Bytes("sudo apt upgrade".utf8),
                timeoutMilliseconds: 10_000, maximumTries: 3)),
        .authenticate(
            AuthenticateRequest(
                account: AccountName([0xFF]), challenge: .sample(0..<32),
                service: ServiceName([0x20]),
                timeoutMilliseconds: .max, maximumTries: .max, presence: .noTerminal,
                background: .allow)),
        .passwordAccepted(account: account, service: "login"),
        .offer(
            OfferRequest(
                account: account, service: "login", presence: .foreground)),
        .authenticate(
            AuthenticateRequest(
                account: account, challenge: .sample(0..<32), service: "login",
                timeoutMilliseconds: 1, maximumTries: 1, wantsKeyring: true,
                presence: .background, background: .warn)),
        .authenticate(
            AuthenticateRequest(
                account: account, challenge: .sample(0..<32), service: "login",
                timeoutMilliseconds: 1, maximumTries: 1,
                server: ServerLoginRequest(
                    url: "https://h", audience: Audience([1]),
                    key: .sample(repeating: 4)))),
        .authenticate(
            AuthenticateRequest(
                account: account, challenge: .sample(0..<32), service: "login",
                timeoutMilliseconds: 1, maximumTries: 1, wantsKeyring: true,
                commandDigest: thirtyTwo, agent: .max, agentUser: .max,
                server: ServerLoginRequest(
                    url: ServerURL(Bytes(repeating: 0x68, count: Limit.label)),
                    audience: Audience(Bytes(repeating: 0x61, count: Limit.label)),
                    key: .sample(repeating: 4), offlineHours: .max,
                    token: .file))),
        .passwordChanged(account: account, service: "passwd", password: [1, 2]),
        .confirm(account: account, challenge: .sample(0..<32)),
    ]

    package static let answers: [Answer] = [
        .assertion(assertion),
        .assertion(
            Assertion(
                statement: [1], signature: [2],
                server: ServerProof(verdict: [3], signature: [4]))),
        .assertion(
            Assertion(
                statement: [1], signature: [2],
                server: ServerProof(
                    verdict: Bytes(repeating: 3, count: Limit.verdict),
                    signature: Bytes(repeating: 4, count: Limit.signature),
                    accessToken: Bytes(repeating: 5, count: Limit.accessToken),
                    hasTokenFile: true))),
        .confirmed(password: nil),
        .confirmed(password: Bytes("secret".utf8)),
    ]

    static let assertion = Assertion(statement: Bytes("text\n".utf8), signature: [1, 2, 3])
}
