// SPDX-License-Identifier: Apache-2.0
/// What a scan came to.
package enum MatchResult: Equatable, Sendable {
    /// The finger is that of the template at `index`.
    case matched(index: Int)
    /// The finger is none of the templates'.
    case noMatch
}

/// What a scan came to, and on which reader.
package struct ListedMatch: Equatable, Sendable {
    /// What the scan came to.
    package let result: MatchResult
    /// The id of the reader that scanned.
    package let reader: String
    /// The print that the reader found instead of the templates, where it keeps prints and tells.
    package var stranger: StoredPrint?
    /// The templates whose prints the reader has lost, where only a comparison tells.
    package var lost: Set<Int> = []

    /// All of it.
    package init(
        result: MatchResult, reader: String, stranger: StoredPrint? = nil, lost: Set<Int> = []
    ) {
        self.result = result
        self.reader = reader
        self.stranger = stranger
        self.lost = lost
    }
}
