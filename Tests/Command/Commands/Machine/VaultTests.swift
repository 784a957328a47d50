// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

@testable import Command

private let alice: AccountName = "alice"

@Suite("signet vault")
struct VaultTests {
    static let tpm = VaultAnswer(
        vault: Bytes("tpm".utf8), isChosen: true, maker: Bytes("IBM SW TPM".utf8),
        policy: Bytes("the fingers".utf8), registers: Bytes("7,11".utf8), root: [0, 11, 255])
    static let file = VaultAnswer(
        vault: Bytes("file".utf8), isChosen: false, trouble: Bytes("broken\u{1b}".utf8))

    private let script: [DaemonStep] = [
        .receive, .send(.of(tpm)), .send(.of(file)), .send(.done(DoneAnswer())),
    ]

    @Test("shows each vault, what opens its keys, and its trouble made harmless")
    func shows() throws {
        let run = try signet(["vault"], [script])
        #expect(run.requests == [.vault])
        #expect(
            run.output == """
                vault      tpm: new keys are stored here
                made by    IBM SW TPM
                opens for  the fingers
                PCRs       7,11
                root key   000bff
                vault      file
                problem    broken\\x1b

                """)
    }

    @Test("shows programs all of that")
    func document() throws {
        let document = try signet(["vault", "--json"], [script]).document("vaults")
        let vaults = document["vaults"] as? [[String: Any]]
        #expect(vaults?.first?["chosen"] as? Bool == true)
        #expect(vaults?.first?["root"] as? String == "000bff")
        #expect(vaults?.last?["trouble"] as? String == "broken\u{1b}")
    }

    @Test("moves a key to the vault that is named, and to no other")
    func migrates() throws {
        let run = try signet(
            ["vault", "migrate", "tpm", "--account", "alice"],
            [[.receive, .send(.done(DoneAnswer(state: .valid)))]])
        #expect(run.requests == [.migrate(account: alice, vault: Bytes("tpm".utf8))])
        #expect(run.output.hasPrefix("the key of alice is now in the vault 'tpm'"))
        for words in [
            ["vault", "migrate"], ["vault", "migrate", "cloud"], ["vault", "trust", "me"],
            ["vault", "sell"],
        ] {
            let run = try signet(words, [])
            #expect(run.code == .usage)
            #expect(run.requests.isEmpty)
        }
    }

    @Test("shows the root key that is trusted from now on")
    func trusts() throws {
        let run = try signet(
            ["vault", "trust"],
            [[.receive, .send(.of(Self.tpm)), .send(.done(DoneAnswer()))]])
        #expect(run.requests == [.trustVault])
        #expect(run.output.contains("000bff"))
    }
}
