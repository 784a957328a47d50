// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Testing

@Suite("The list of requests")
struct RequestListTests {
    @Test("has each type, kind and name once")
    func unique() {
        let all = Request.all
        #expect(Set(all.map { ObjectIdentifier($0) }).count == all.count)
        #expect(Set(all.map { $0.verb.rawValue }).count == all.count)
        #expect(Set(all.map { $0.verb.protocolName }).count == all.count)
    }

    @Test("says of each request what it is about, or what it continues")
    func families() {
        for request in Request.all {
            let families = [
                request is any AccountRequest.Type, request is any MachineRequest.Type,
                request is any ContinuingRequest.Type,
            ]
            #expect(families.count { $0 } == 1, "\(request)")
        }
    }

    @Test("is complete: a kind that is not in it is not a verb")
    func kinds() {
        let kinds = Set(Request.all.map { $0.verb.rawValue })
        for kind in UInt8.min...UInt8.max {
            #expect((Request.type(kind: kind) != nil) == kinds.contains(kind))
            #expect(Verb(rawValue: kind)?.rawValue == (kinds.contains(kind) ? kind : nil))
        }
    }

    @Test("has the requests of the PAM module, by name and number")
    func ofLogins() {
        for verb in LoginVerb.allCases {
            #expect(Verb(rawValue: verb.rawValue)?.protocolName == "\(verb)")
        }
        #expect(LoginVerb.allCases.count == 6)
    }

    @Test("has answers, each kind and name once")
    func answers() {
        let all = AnswerKind.allCases
        #expect(Set(all.map(\.rawValue)).count == all.count)
        #expect(Set(all.map(\.protocolName)).count == all.count)
    }

    @Test("has answers that include those to the PAM module, by name and number")
    func answersToLogins() {
        for kind in LoginAnswerKind.allCases {
            #expect(AnswerKind(rawValue: kind.rawValue)?.protocolName == "\(kind)")
        }
        #expect(LoginAnswerKind.allCases.count == 4)
    }
}
