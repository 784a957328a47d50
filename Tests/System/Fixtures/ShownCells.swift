// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

/// Notes, for the README's table, the cells that a test names with `shows`: once it has passed.
struct ShownCells: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal fileprivate static var current: Notes?

    var isRecursive: Bool { true }

    fileprivate final class Notes: Sendable {
        let cells = Mutex<[Compatibility.Cell]>([])
        let hasFailed = Mutex(false)
    }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let notes = Notes()
        let watch = IssueHandlingTrait.compactMapIssues { issue in
            if issue.isFailure { notes.hasFailed.withLock { $0 = true } }
            return issue
        }
        var thrown: (any Error)?
        do {
            try await watch.provideScope(for: test, testCase: testCase) {
                try await Self.$current.withValue(notes) { try await function() }
            }
        } catch {
            thrown = error
        }
        try Compatibility.note(
            notes.cells.withLock { $0 }, by: "\(test.id)",
            passed: thrown == nil && !notes.hasFailed.withLock { $0 })
        if let thrown { throw thrown }
    }
}

extension Trait where Self == ShownCells {
    /// What the tests show of the README's table counts when they have passed.
    static var notingCells: Self { ShownCells() }
}

/// Says that the running test shows these cases of a program, if it passes.
func shows(
    _ program: Compatibility.Program, _ cases: Compatibility.Case...,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    guard let notes = ShownCells.current else {
        Issue.record("the suite is not .notingCells", sourceLocation: sourceLocation)
        return
    }
    for `case` in cases {
        let cell = Compatibility.Cell(program, `case`)
        #expect(
            Compatibility.applies(cell), "the table has no such cell",
            sourceLocation: sourceLocation)
        notes.cells.withLock { $0.append(cell) }
    }
}
