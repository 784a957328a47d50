// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport
import Testing

@Suite("A request for a client of the message bus")
struct DesktopRequestTests {
    @Test("may be made by the user of signet-fprint and by root, and by nobody if there is none")
    func callers() {
        let types: [any DaemonRequest.Type] = [
            DesktopClaimRequest.self, DesktopListRequest.self, DesktopVerifyRequest.self,
            DesktopEnrollRequest.self, DesktopDeleteRequest.self, DesktopWatchRequest.self,
        ]
        for type in types {
            let rule = type.rule
            #expect(rule.permits(peerUID: 990, accountUID: 1_000, interfaceUID: 990))
            #expect(rule.permits(peerUID: 0, accountUID: 1_000, interfaceUID: 990))
            for peer in [1_000, 1_001, UInt32.max] {
                #expect(!rule.permits(peerUID: peer, accountUID: 1_000, interfaceUID: 990))
                #expect(!rule.permits(peerUID: peer, accountUID: nil, interfaceUID: nil))
            }
        }
        // The other way round, that user may nothing else.
        for type in Request.all where !types.contains(where: { $0 == type }) {
            guard type.rule.beginsRequest else { continue }
            let asAnyone = type.rule.permits(peerUID: 4_242, accountUID: 1_000)
            #expect(
                type.rule.permits(peerUID: 990, accountUID: 1_000, interfaceUID: 990) == asAnyone)
        }
    }

    @Test(
        "names a client by a unique name and nothing else",
        arguments: [
            "", ":", "1.2", ":1/2", ":1 2", ":1\n", ":é", "org.freedesktop.DBus", ":1\0",
            ":" + String(repeating: "1", count: 255),
        ])
    func names(text: String) {
        #expect(BusClientName(text) == nil)
    }

    @Test("is no refusal on record when a verification goes on after it or was stopped; others are")
    func records() {
        for reason in DenialReason.allCases {
            let isQuiet = [.timedOut, .lidClosed, .cancelled].contains(reason)
            #expect(DesktopVerifyRequest.records(Denial(reason)) == !isQuiet, "\(reason)")
            // A finger that did not match is one, however the request has ended.
            #expect(DesktopVerifyRequest.records(Denial(reason, mismatches: 1)), "\(reason)")
            #expect(DesktopEnrollRequest.records(Denial(reason)), "\(reason)")
            #expect(AuthenticateRequest.records(Denial(reason)), "\(reason)")
        }
    }

    @Test("is malformed with a name that is none")
    func malformed() throws {
        let name = try #require(BusClientName(":1.42"))
        let packet = try Request(DesktopListRequest(client: name, account: "alice")).encoded()
        for wrong in ["1.42:", ":1/42", "org.x"] {
            let bytes = Bytes(wrong.utf8)
            var altered = packet
            altered.replaceSubrange((altered.count - bytes.count)..., with: bytes)
            if bytes.count != 5 { continue }
            #expect(throws: WireFault.malformedValue) { try Request(decoding: altered) }
        }
    }
}
