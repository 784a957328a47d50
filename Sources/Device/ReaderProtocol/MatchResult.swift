// SPDX-License-Identifier: Apache-2.0
/// The result of comparing a finger with a list of templates.
package enum MatchResult: Equatable, Sendable {
    /// The finger matches the template at `index` of the list that was passed, counted from 0.
    case matched(index: Int)
    /// The finger matches none of the templates.
    case noMatch
}

/// The result of a match, with the reader and what the scan revealed about the reader's storage.
package struct ListedMatch: Equatable, Sendable {
    /// The result of the match.
    package let result: MatchResult
    /// The id of the reader that scanned.
    package let reader: String
    /// The other print in the reader's own storage that matched instead, if the reader reports it.
    package var stranger: ReaderPrint?
    /// The indices of templates whose prints the reader has lost, on readers that cannot list their
    /// storage.
    package var lost: Set<Int> = []

    /// Describes a result by its values.
    package init(
        result: MatchResult, reader: String, stranger: ReaderPrint? = nil, lost: Set<Int> = []
    ) {
        self.result = result
        self.reader = reader
        self.stranger = stranger
        self.lost = lost
    }
}
