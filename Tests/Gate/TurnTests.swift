// SPDX-License-Identifier: Apache-2.0
import MainContext
import Testing

@testable import Gate

@Suite("a turn", .timeLimit(.minutes(5))) struct TurnTests {
    init() { MainLoop.runInBackground() }

    private enum Refusal: Error { case some }

    @ServiceActor private final class Log { var steps: [String] = [] }

    /// Holds a turn to the end of this function, however that ends.
    @ServiceActor private func serve(_ log: Log, failing: Bool) async throws {
        let turn = Turn(7) { id in log.steps.append("released \(id)") }
        try? await Timer.sleep(for: .zero)
        log.steps.append("served \(turn.id)")
        try? await Timer.sleep(for: .zero)
        log.steps.append("still")
        if failing { throw Refusal.some }
    }

    @Test("ends when its value goes out of scope, and not before", arguments: [false, true])
    @ServiceActor func scope(failing: Bool) async {
        let log = Log()
        try? await serve(log, failing: failing)
        while log.steps.last != "released 7" { try? await Timer.sleep(for: .zero) }
        #expect(log.steps == ["served 7", "still", "released 7"])
    }

    @Test("that is held ends with the last reference") @ServiceActor func held() async {
        let log = Log()
        var held: HeldTurn? = HeldTurn(Turn(1) { _ in log.steps.append("released") })
        try? await Timer.sleep(for: .zero)
        #expect(log.steps.isEmpty && held != nil)
        held = nil
        while log.steps.isEmpty { try? await Timer.sleep(for: .zero) }
    }
}
