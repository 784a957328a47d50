// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport

/// Everything as it should be.
let sampleStatus = StatusAnswer(
    account: "alice", since: 1_795_195_440, prints: 2, damaged: 0, state: .valid,
    generation: 7, lock: .open, program: Bytes("0.2.0".utf8), vault: Bytes("file".utf8),
    device: .sample(0..<16))

let sampleReader = ReaderAnswer(
    readerID: Bytes("usb-1".utf8), scan: .press, total: 5, name: Bytes("Quick\u{1B}[2J".utf8),
    driver: Bytes("quick".utf8), features: [.identify, .hostMatching])

let samplePrint = PrintAnswer(
    finger: .rightIndex, printID: .sample(0..<16), readerID: Bytes("usb-1".utf8),
    since: 1_795_195_440, intact: true)

let sampleServer = ServerAnswer(
    account: "al:ice\u{1B}", since: 1_795_195_440, state: .good,
    server: "https://id.example", application: "shop",
    fingerprint: Bytes("SHA256:abc".utf8))

let sampleSigningKey = SigningKeyAnswer(
    since: 1_795_195_440, state: .good, vault: Bytes("file".utf8), credential: .sample(0..<16),
    publicKey: PublicKeyPoint(random: [4] + Bytes(0..<64)))

/// One connection that answers one request with these answers.
func answering(_ answers: Answer...) -> [DaemonStep] { answering(answers) }

/// One connection that answers one request with these answers.
func answering(_ answers: [Answer]) -> [DaemonStep] {
    [.receive] + answers.map { .send($0) }
}
