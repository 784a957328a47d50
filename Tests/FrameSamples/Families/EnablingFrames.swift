// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/Fingers/EnablingRequests.swift`.
package enum EnablingFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(EnableRequest.self, owner: true, other: false, proof: .password),
        RequestExpectation(
            DisableRequest.self, owner: true, other: false, proof: .password, readsPrints: false),
        RequestExpectation(
            UnlockRequest.self, owner: true, other: false, proof: .password, readsPrints: false),
        RequestExpectation(MigrateRequest.self, owner: true, other: false, proof: .password),
    ]

    package static let requests: [Request] = [
        .enable(account: account),
        .disable(account: account),
        .unlock(account: account),
        .enable(account: account, keyring: true),
        .enable(account: account, keyring: false),
        .migrate(account: account, vault: Bytes("tpm".utf8)),
    ]
}
