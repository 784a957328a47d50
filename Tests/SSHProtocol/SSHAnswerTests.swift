// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FrameSamples
import LoginProtocol
import SSHProtocol
import TestSupport
import Testing

@Suite("Answers about ssh keys")
struct SSHAnswerTests {
    @Test("each reason has the number and no other meaning than the daemon's")
    func reasons() {
        let names: [SSHDenialReason: DenialReason] = [
            .handleMalformed: .sshHandleMalformed, .otherMachine: .sshHandleOfOtherMachine,
            .otherAccount: .sshHandleOfOtherAccount, .unknownKey: .unknownSshKey,
            .keyInvalidated: .sshKeyInvalidated, .nameTaken: .sshKeyExists,
            .tooManyKeys: .tooManySshKeys, .dataRefused: .sshDataRefused,
            .otherKey: .sshOtherKey, .applicationRefused: .sshApplicationRefused,
        ]
        #expect(names.count == SSHDenialReason.allCases.count)
        for (reason, denial) in names { #expect(reason.rawValue == denial.rawValue) }
        for reason in SSHDenialReason.allCases {
            #expect(LoginDenialReason(rawValue: reason.rawValue) == nil)
        }
    }

    @Test("the provider reads what the daemon writes")
    func answers() throws {
        for answer in SSHKeyFrames.answers {
            let packet = try answer.encoded()
            let read = try SSHAnswer(decoding: packet)
            if let made = answer.own(SSHKeyMadeAnswer.self) { #expect(read == .made(made.content)) }
            if let key = answer.own(SSHKeyAnswer.self) { #expect(read == .key(key.content)) }
            if let count = answer.own(SSHKeyCountAnswer.self) {
                #expect(read == .count(count.count))
            }
            if let signature = answer.own(SSHSignatureAnswer.self) {
                #expect(read == .signature(signature))
            }
            for length in 0..<packet.count {
                #expect(throws: WireFault.self) {
                    try SSHAnswer(decoding: Bytes(packet.prefix(length)))
                }
            }
            #expect(throws: WireFault.self) { try SSHAnswer(decoding: packet + [0]) }
        }
    }

    @Test("any denial and the notices of a touch are read, and no other answer")
    func others() throws {
        for reason in DenialReason.allCases {
            let packet = try Answer.denial(Denial(reason, subject: [0x61], mismatches: 2)).encoded()
            guard case .denial(let denial) = try SSHAnswer(decoding: packet) else {
                Issue.record("\(reason)")
                continue
            }
            #expect(denial.reason.rawValue == reason.rawValue && denial.subject == [0x61])
        }
        let notice = Notice(.touch, scan: .press)
        #expect(try SSHAnswer(decoding: Answer.notice(notice).encoded()) == .notice(notice))
        for answer in [
            Answer.done(DoneAnswer()), .assertion(Assertion(statement: [1], signature: [2])),
            .confirmed(password: nil),
        ] {
            #expect(throws: WireFault.unknownKind) {
                try SSHAnswer(decoding: answer.encoded())
            }
        }
    }

    @Test("a signature with other flags is refused", arguments: [0, 2, 4, 0x25, 0xFF] as [UInt8])
    func flags(flags: UInt8) throws {
        let answer = SSHSignatureAnswer(
            flags: flags, counter: 1, numbers: Bytes(repeating: 1, count: 64))
        #expect(throws: WireFault.malformedValue) {
            try SSHAnswer(decoding: Answer.of(answer).encoded())
        }
    }
}
