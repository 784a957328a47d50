// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Reports/ReportRequests.swift`.
package enum ReportFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(StatusRequest.self, owner: true, other: false, proof: .none),
        RequestExpectation(
            LogRequest.self, owner: true, other: false, proof: .none, readsPrints: false),
        RequestExpectation(
            WatchRequest.self, owner: true, other: false, proof: .none, readsPrints: false),
    ]

    package static let requests: [Request] = [
        .status(account: account),
        .log(LogRequest(account: account)),
        .log(LogRequest(account: account, first: .max, count: .max)),
        .watch(account: account),
    ]

    package static let answers: [Answer] = [
        .receipt(ReceiptAnswer(statement: [1], signature: [1, 2], isGranted: false)),
        .receipt(ReceiptAnswer(statement: [1], signature: [1, 2], isGranted: true)),
        .refusal(
            Refusal(
                AuthenticateRequest.verb, service: "sudo",
                terminal: Bytes("tty1".utf8),
                requester: "bob", reason: .noMatch, count: .max, since: 1,
                until: .max)),
        .refusal(
            Refusal(SignRequest.verb, requester: .none, reason: .lidClosed, since: 0, until: 0)),
        .status(status),
        .status(fullStatus),
        .signer(Bytes("alice ecdsa-sha2-nistp256 AAAA".utf8)),
        .chainHead(counter: 42, digest: thirtyTwo),
        .event(
            EventAnswer(
                account: account, service: "polkit-1",
                requester: "bob", purpose: Bytes("pkexec id".utf8), isOver: false,
                number: .max)),
        .event(
            EventAnswer(account: account, service: ServiceName([0x20]), isOver: true, number: 0)
        ),
    ]

    static let status = StatusAnswer(
        account: account, prints: 0, damaged: 0, state: .none, generation: 0, lock: .open,
        program: Bytes("1.0".utf8), vault: Bytes("file".utf8), device: .sample(0..<16))

    static var fullStatus: StatusAnswer {
        var full = status
        full.seconds = 30
        full.cause = .fingerAdded
        full.since = .max
        full.configurationFault = Bytes("/etc/signet/signet.conf:3: unknown key".utf8)
        full.closed = Bytes("there is no usable TPM".utf8)
        full.prints = 10
        full.damaged = 2
        full.state = .invalidated
        full.generation = .max
        full.lock = .untilPassword
        full.keyring = .passwordChanged
        full.secrets = .max
        full.keptOut = Bytes("login.accounts".utf8)
        full.refusal = Denial(.vaultUnavailable, subject: Bytes("there is no usable TPM".utf8))
        full.elsewhere = Denial(.notAtMachine, subject: Bytes("no session".utf8))
        full.readersUnknown = true
        full.serversUnknown = true
        return full
    }
}
