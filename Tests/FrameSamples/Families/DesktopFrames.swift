// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Desktop/DesktopRequests.swift`.
package enum DesktopFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            DesktopClaimRequest.self, owner: false, other: false, proof: .none,
            isAboutAccount: false, logging: .denials),
        RequestExpectation(
            DesktopListRequest.self, owner: false, other: false, proof: .none, logging: .denials),
        RequestExpectation(
            DesktopVerifyRequest.self, owner: false, other: false, proof: .none,
            touch: ExpectedTouch(ExpectedTouch.confirming, releases: [.statement]),
            command: "a desktop verification"),
        RequestExpectation(
            DesktopEnrollRequest.self, owner: false, other: false, proof: .none,
            touch: ExpectedTouch([.presence], releases: []), command: "a desktop enrolment"),
        RequestExpectation(
            DesktopDeleteRequest.self, owner: false, other: false, proof: .none),
        RequestExpectation(
            DesktopWatchRequest.self, owner: false, other: false, proof: .none,
            isAboutAccount: false, logging: .denials),
    ]

    /// The shortest and the longest name of a client.
    private static let clients = [":1", ":" + String(repeating: "9", count: 254)]
        .compactMap(BusClientName.init)

    package static let requests: [Request] =
        [Request(DesktopWatchRequest())]
        + clients.flatMap { client in
            [
                Request(DesktopClaimRequest(client: client, account: nil)),
                Request(DesktopClaimRequest(client: client, account: account)),
                Request(DesktopListRequest(client: client, account: account)),
                Request(DesktopVerifyRequest(client: client, account: account, finger: nil)),
                Request(DesktopVerifyRequest(client: client, account: account, finger: .leftThumb)),
                Request(
                    DesktopEnrollRequest(
                        client: client, account: account, finger: .rightLittle, readerID: nil)),
                Request(
                    DesktopEnrollRequest(
                        client: client, account: account, finger: .leftThumb, readerID: [1])),
                Request(DesktopDeleteRequest(client: client, account: account, finger: nil)),
                Request(DesktopDeleteRequest(client: client, account: account, finger: .leftRing)),
            ]
        }

    package static let answers: [Answer] = [
        .of(DesktopAccountAnswer(account: account, program: nil)),
        .of(DesktopAccountAnswer(account: account, program: Bytes("gnome-control-c".utf8))),
        .of(DesktopAdmittedAnswer(finger: nil)),
        .of(DesktopAdmittedAnswer(finger: .rightMiddle)),
        .of(DesktopComparedAnswer()), .of(DesktopReadersAnswer()),
    ]
}
