// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import MainContext
import ReaderProtocol
import SignedFormats
import State

/// What a touch may match: the account's prints, and the readers to use.
struct FingerQuery: Sendable {
    let gallery: Gallery
    /// The seat whose readers may be used; nil for any reader.
    let seat: String?
    /// Examines the prints stored on a reader before it is asked for a finger; nil to skip that.
    var examine: ReaderPool.Examination?
    /// Records what readers report about the prints.
    var reports: PrintReports?
}

/// A finger that matched, and the reader on which it matched.
struct ScannedFinger: Sendable {
    let print: StoredPrint
    /// The identifier of the reader.
    let reader: String
}

extension ReaderPool: FingerScanner {
    /// Waits at most `limit` for one finger on a permitted reader, and compares it with the
    /// gallery.
    ///
    /// Returns nil if the finger matches none of the prints. Throws the denial of a reader's fault,
    /// and `readerFailed` if a reader reports a match with a print that it was not given.
    @ServiceActor func scan(
        _ query: FingerQuery, limit: Duration, tell: @escaping @ServiceActor (Notice) -> Void
    ) async throws(Denial) -> ScannedFinger? {
        let found: ListedMatch
        let result = await match(
            among: query.gallery.templates, at: query.seat, limit: limit, examine: query.examine
        ) { notice in
            if notice.kind == .printLost, let print = query.gallery.print(named: notice.subject) {
                query.reports?.lost(print)
            }
            tell(notice)
        }
        switch result {
        case .failure(let fault): throw Denial(of: fault)
        case .success(let listed): found = listed
        }
        guard case .matched(let index) = found.result else { return nil }
        guard let print = query.gallery.print(at: index) else { throw Denial(.readerFailed) }
        query.reports?.found(print)
        return ScannedFinger(print: print, reader: found.reader)
    }
}

/// Prints as templates for a reader, with the way back from a template's index to its print.
struct Gallery: Sendable {
    /// The templates, in the order of their prints.
    ///
    /// The index of a match refers to this array.
    let templates: [Template]
    private let prints: [StoredPrint]

    /// Takes the prints whose template can be decoded, and leaves out the others.
    init(_ prints: [StoredPrint]) {
        let pairs = prints.compactMap { print in
            (try? Template(bytes: print.template)).map { (print, $0) }
        }
        self.prints = pairs.map(\.0)
        templates = pairs.map(\.1)
    }

    /// The print of a finger; nil if there is none of that name.
    func print(named finger: Bytes?) -> StoredPrint? {
        prints.first { $0.finger.name.bytes == finger }
    }

    /// The print behind the template at this index; nil if the index is out of range.
    func print(at index: Int) -> StoredPrint? {
        prints.indices.contains(index) ? prints[index] : nil
    }
}
