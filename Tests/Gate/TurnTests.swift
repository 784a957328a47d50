import Loop
import Testing

@testable import Gate

@Suite("a turn") struct TurnTests {
    @Test("is given back when it goes out of scope") func release() async {
        await withCheckedContinuation { (given: CheckedContinuation<Void, Never>) in
            _ = Turn { given.resume() }
        }
    }
}
