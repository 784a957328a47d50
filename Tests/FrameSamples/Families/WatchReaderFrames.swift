// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Readers/WatchReaderRequest.swift`.
package enum WatchReaderFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            WatchReaderRequest.self, owner: false, other: false, proof: .none, isAboutAccount: false
        )
    ]

    package static let requests: [Request] = [
        .watchReader(nil),
        .watchReader([1]),
    ]
}
