// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// The expectations and samples of `Sources/Device/CommandProtocol/MachineRequests.swift`.
package enum MachineFrames: RequestFamily {
    package static let expectations: [RequestExpectation] = [
        RequestExpectation(
            ReadersRequest.self, owner: true, other: true, proof: .none, isAboutAccount: false),
        RequestExpectation(
            ConfigurationRequest.self, owner: true, other: true, proof: .none, isAboutAccount: false
        ),
        RequestExpectation(
            VaultRequest.self, owner: true, other: true, proof: .none, isAboutAccount: false),
        RequestExpectation(
            TrustVaultRequest.self, owner: false, other: false, proof: .none, isAboutAccount: false),
    ]

    package static let requests: [Request] = [
        .readers,
        .configuration,
        .vault,
        .trustVault,
    ]

    package static let answers: [Answer] = [
        .reader(
            ReaderAnswer(
                readerID: [1], scan: .press, total: 5, name: [2], driver: [3],
                features: [.identify, .hostMatching])),
        .of(SettingAnswer(name: [1], value: [2], origin: [3])),
        .of(VaultAnswer(vault: Bytes("file".utf8), isChosen: true)),
        .of(
            VaultAnswer(
                vault: Bytes("tpm".utf8), isChosen: false, maker: [1], policy: [2],
                registers: [3], root: Bytes(repeating: 1, count: Limit.rootName),
                trouble: [4])),
    ]
}
