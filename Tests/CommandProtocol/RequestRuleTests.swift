// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FrameSamples
import LoginProtocol
import Testing

/// Every rule against the expectation of its family in `Tests/FrameSamples/Families`.
@Suite("The rule of a request")
struct RequestRuleTests {
    @Test("is expected here for every request")
    func complete() {
        let expected = SampleFrames.expectations.map { $0.type.verb }
        #expect(Set(expected) == Set(Verb.allCases))
        #expect(expected.count == Verb.allCases.count)
    }

    @Test("permits the callers that it names and no others")
    func callers() {
        for expected in SampleFrames.expectations {
            let (rule, name) = (expected.type.rule, expected.type.verb.protocolName)
            // Root in an account's place, unless it gets what would admit it elsewhere.
            #expect(rule.permits(peerUID: 0, accountUID: 1_000) == expected.root, "\(name)")
            #expect(rule.permits(peerUID: 0, accountUID: nil) == expected.root, "\(name)")
            #expect(rule.permits(peerUID: 1_000, accountUID: 1_000) == expected.owner, "\(name)")
            #expect(rule.permits(peerUID: 1_001, accountUID: 1_000) == expected.other, "\(name)")
            #expect(rule.permits(peerUID: 1_001, accountUID: 0) == expected.other, "\(name)")
            #expect(rule.permits(peerUID: 1_001, accountUID: nil) == expected.other, "\(name)")
            #expect(rule.permits(peerUID: .max, accountUID: nil) == expected.other, "\(name)")
            #expect(rule.proof == expected.proof, "\(name)")
            #expect(rule.beginsRequest == expected.begins, "\(name)")
            #expect(expected.begins != (expected.type is any ContinuingRequest.Type), "\(name)")
        }
    }

    @Test("says what precedes a touch and what the touch releases; no other request asks for one")
    func touches() {
        for expected in SampleFrames.expectations {
            let (touch, name) = (expected.type.rule.touch, expected.type.verb.protocolName)
            #expect(touch?.guards == expected.touch?.guards, "\(name)")
            #expect(touch?.releases == expected.touch?.releases, "\(name)")
            #expect(touch?.mayServeOthers == expected.touch?.mayServeOthers, "\(name)")
        }
        #expect(TouchRule.offer.guards == [.presence, .loginLists, .background, .reader, .lid])
        #expect(TouchRule.offer.releases.isEmpty && TouchRule.offer.mayServeOthers)
    }

    @Test("of a login is the only one that lets others ask for an account's finger")
    func others() {
        let forOthers = Request.all.filter { $0.rule.touch?.mayServeOthers == true }
        #expect(forOthers.map { $0.verb.protocolName } == ["authenticate"])
    }

    @Test("is not the only one: prints are opened for every request about an account but these")
    func prints() {
        for expected in SampleFrames.expectations {
            let (type, name) = (expected.type, expected.type.verb.protocolName)
            #expect((type is any AccountRequest.Type) == expected.isAboutAccount, "\(name)")
            guard let request = type as? any AccountRequest.Type else { continue }
            #expect(request.readsPrints == expected.readsPrints, "\(name)")
        }
    }
}
