// SPDX-License-Identifier: Apache-2.0
import Gate
import LoginProtocol
import Loop
import ReaderProtocol
import Store

/// Whose fingers a touch may be, and on which readers.
struct FingerQuery: Sendable {
    let gallery: Gallery
    /// The seat whose readers are meant; nil for any.
    let seat: String?
    /// Judges what a reader keeps before it is asked for a finger; nil where nothing depends on it.
    var examine: ReaderPool.Examination?
}

/// A finger that matched.
struct ScannedFinger: Sendable {
    let print: Store.StoredPrint
    /// The id of the reader that it matched on.
    let reader: String
}

extension ReaderPool: FingerScanner {
    @ServiceActor func scan(
        _ query: FingerQuery, limit: Duration, tell: @escaping @ServiceActor (Notice) -> Void
    ) async throws(Denial) -> ScannedFinger? {
        let found: ListedMatch
        let result = await match(
            among: query.gallery.templates, at: query.seat, limit: limit,
            examine: query.examine, tell: tell)
        switch result {
        case .failure(let fault): throw Denial(of: fault)
        case .success(let listed): found = listed
        }
        guard case .matched(let index) = found.result else { return nil }
        guard let print = query.gallery.print(at: index) else { throw Denial(.readerFailed) }
        return ScannedFinger(print: print, reader: found.reader)
    }
}

/// Prints in the form that readers take, with the way back.
struct Gallery: Sendable {
    /// The templates, in order.
    let templates: [Template]
    private let prints: [Store.StoredPrint]

    /// All prints whose template is in libfprint's form.
    init(_ prints: [Store.StoredPrint]) {
        let pairs = prints.compactMap { print in
            (try? Template(bytes: print.template)).map { (print, $0) }
        }
        self.prints = pairs.map(\.0)
        templates = pairs.map(\.1)
    }

    /// The print that a template was made of.
    func print(at index: Int) -> Store.StoredPrint? {
        prints.indices.contains(index) ? prints[index] : nil
    }
}
