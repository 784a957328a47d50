// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Fingers/ImportedPrint.swift`.
package enum ImportFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(ImportPrintRequest.self, owner: true, other: false, proof: .password)
    ]

    package static let requests: [Request] = [
        .importPrint(account: account)
    ]

    package static let answers: [Answer] = [
        .importedPrint(
            ImportedPrintAnswer(
                finger: .leftLittle, since: 5, subject: [1], outcome: .readerFailed,
                place: [2])),
        .importedPrint(
            ImportedPrintAnswer(finger: .leftLittle, since: 5, outcome: nil, place: [2])),
        .importedPrint(
            ImportedPrintAnswer(finger: nil, outcome: .foreign, place: [])),
    ]
}
