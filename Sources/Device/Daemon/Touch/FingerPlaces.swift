// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import ReaderProtocol
import State

/// The readers that may be asked for a finger now, and what they have reported about prints.
///
/// A print can be matched only by readers of the kind that it was made on. The guards of a login and
/// the lists of fingers both judge by it, so that they cannot differ.
struct FingerPlaces {
    /// The connected readers that are not ignored.
    let readers: [ReaderDescription]
    /// The seat whose readers may be used; nil for any.
    let seat: String?
    /// The prints that readers have reported as lost.
    var lost = LostPrintList()

    /// The state of a print: whether a finger could match it now.
    func state(of print: StoredPrint) -> PrintState {
        guard let template = try? Template(bytes: print.template) else { return .unusable }
        let fitting = ReaderPool.fitting(template, among: readers)
        guard !fitting.isEmpty else { return .readerAway }
        guard fitting.contains(where: { seat == nil || $0.seat == seat }) else {
            return .otherSeat
        }
        return lost.since(print.identifier) == nil ? .usable : .lost
    }

    /// Whether a reader could be asked for one of these prints, whatever it has reported before.
    ///
    /// For no prints, any reader will do: it is not known which fingers are meant.
    func canServe(_ prints: [StoredPrint]) -> Bool {
        guard !prints.isEmpty else { return !readers.isEmpty }
        return prints.contains { print in
            switch state(of: print) {
            case .usable, .lost: true
            case .readerAway, .otherSeat, .unusable: false
            }
        }
    }

    /// The identifiers of the readers to connect for these prints, for people.
    func missing(_ prints: [StoredPrint]) -> Bytes {
        var names: [Bytes] = []
        for print in prints where state(of: print) == .readerAway {
            if !names.contains(print.reader) { names.append(print.reader) }
        }
        return Bytes(names.joined(separator: Bytes(", ".utf8)).prefix(Limit.text))
    }
}
