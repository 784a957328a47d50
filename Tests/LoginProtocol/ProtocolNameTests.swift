// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Testing

@Suite("the names of values outside of the program")
struct ProtocolNameTests {
    private func names<Value: CaseIterable & ProtocolNamed>(_ type: Value.Type) -> [String] {
        type.allCases.map(\.protocolName)
    }

    private var all: [[String]] {
        [
            names(Verb.self), names(DenialReason.self), names(InvalidationCause.self),
            names(CredentialState.self), names(KeyringState.self), names(LockState.self),
            names(NoticeKind.self), names(RetryReason.self), names(SecretState.self),
            names(ServerKeyState.self), names(ScanType.self), names(ImportOutcome.self),
            names(OperationState.self), names(OperationChoice.self),
        ]
    }

    @Test("are distinct within their kind, and are letters only, the first in lower case")
    func forms() {
        for names in all {
            #expect(Set(names).count == names.count)
            for name in names {
                #expect(name.wholeMatch(of: #/[a-z][A-Za-z]*/#) != nil, "\(name)")
            }
        }
    }

    @Test("are written with hyphens in JSON")
    func words() {
        #expect(DenialReason.lockedForNow.word == "locked-for-now")
        #expect(CredentialState.none.word == "none")
        #expect(LockState.untilPassword.word == "until-password")
    }

    @Test("a login's reasons are among those of commands, by name and number")
    func loginReasons() {
        for reason in LoginDenialReason.allCases {
            #expect(DenialReason(rawValue: reason.rawValue).map { "\($0)" } == "\(reason)")
        }
        #expect(LoginDenialReason.allCases.count == 48)
    }
}
