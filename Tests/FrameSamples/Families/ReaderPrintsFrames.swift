// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Readers/ReaderPrints.swift`.
package enum ReaderPrintsFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            ReaderPrintsRequest.self, owner: false, other: false, proof: .none,
            isAboutAccount: false)
    ]

    package static let requests: [Request] = [
        .readerPrints(ReaderPrintsRequest(.list)),
        .readerPrints(ReaderPrintsRequest(.clear, readerID: [1])),
    ]

    package static let answers: [Answer] = [
        .of(
            StoredPrintAnswer(
                account: account, finger: .leftLittle, readerID: [1], subject: [2])),
        .of(StoredPrintAnswer(account: nil, finger: nil, readerID: [])),
    ]
}
