// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@testable import Command

@Suite("signet pulse")
struct PulseTests {
    @Test("shows how long the machine has run, to people and to programs")
    func shows() throws {
        let script: [DaemonStep] = [
            .receive, .send(.of(PulseAnswer(seconds: 61))), .send(.done(DoneAnswer())),
        ]
        let run = try signet(["pulse"], [script])
        #expect(run.requests == [.pulse(beats: 1)])
        #expect(run.output == "the machine has run for 61 s\n")
        let document = try signet(["pulse", "--json"], [script]).document("pulse")
        #expect(document["seconds"] as? Int == 61)
    }

    @Test("shows nothing if there is another answer than the one that it asked for")
    func refused() throws {
        for answer in [Answer.signer([1]), .of(SettingAnswer(name: [1], value: [], origin: []))] {
            let run = try signet(["pulse"], [[.receive, .send(answer)]])
            #expect(run.output.isEmpty && run.code != .done)
        }
        #expect(try signet(["pulse"], [[.receive, .send(.done(DoneAnswer()))]]).code != .done)
    }
}
