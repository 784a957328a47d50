// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import Systemd
import TestSupport
import Testing

@testable import Daemon

@Suite("The journal's entry of a decision")
struct DecisionJournalTests {
    private static let peer = PeerCredentials(pid: 42, uid: 0, gid: 0)

    private func fields(
        _ request: Request = .login(.daemon, service: "su"), by requester: String?,
        _ answer: Answer
    ) -> [String: String] {
        let entry = DecisionJournal.entry(
            request, from: Self.peer, by: requester.map { AccountName($0) }, answer: answer)
        return Dictionary(uniqueKeysWithValues: entry.fields.map { ($0.name, $0.value) })
    }

    @Test("has the user who caused the request, and says so if that is not the account's own")
    func requester() {
        let own = fields(by: "daemon", .done(DoneAnswer()))
        #expect(own["SIGNET_REQUESTER"] == "daemon")
        #expect(own["SIGNET_ACCOUNT"] == "daemon")
        #expect(own["SIGNET_SERVICE"] == "su")
        #expect(own["SIGNET_PEER_UID"] == "0" && own["SIGNET_PEER_PID"] == "42")
        #expect(own["MESSAGE"] == "authenticate for daemon: allow")
        let other = fields(by: "bin", .denial(Denial(.noMatch)))
        #expect(other["SIGNET_REQUESTER"] == "bin")
        #expect(other["SIGNET_DECISION"] == "deny" && other["SIGNET_REASON"] == "noMatch")
        #expect(other["MESSAGE"] == "authenticate for daemon, asked by bin: deny (noMatch)")
    }

    @Test("says where the password took the finger's place")
    func password() {
        func message(_ factor: ConfirmingFactor) -> String? {
            let request = Request.serverLogin(
                account: Person.daemon.account, server: "https://id.example",
                timeoutMilliseconds: 1, factor: factor)
            return fields(request, by: "daemon", .denial(Denial(.wrongPassword)))["MESSAGE"]
        }
        #expect(message(.finger) == "serverLogin for daemon: deny (wrongPassword)")
        #expect(
            message(.password) == "serverLogin for daemon, with the password: deny (wrongPassword)")
    }

    @Test("has the user to whom another's finger was refused")
    func refused() {
        let denied = fields(by: nil, .denial(Denial(.otherRequester, subject: Bytes("bin".utf8))))
        #expect(denied["SIGNET_REQUESTER"] == "bin")
        #expect(
            denied["MESSAGE"]
                == "authenticate for daemon, asked by bin: deny (otherRequester)")
    }

    @Test("names no user if none was found, and escapes a name from outside")
    func unknown() {
        let early = fields(by: nil, .denial(Denial(.notAtMachine, subject: Bytes("why".utf8))))
        #expect(early["SIGNET_REQUESTER"] == "")
        #expect(early["MESSAGE"] == "authenticate for daemon: deny (notAtMachine)")
        let hostile = fields(by: "a\nSIGNET_DECISION=allow", .denial(Denial(.noMatch)))
        #expect(hostile["SIGNET_REQUESTER"]?.contains("\n") == false)
        #expect(hostile["MESSAGE"]?.contains("\n") == false)
    }
}
