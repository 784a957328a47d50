// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import State

/// Lists and deletes the prints that readers store, for root.
///
/// They are prints of accounts here, or foreign ones that another system has left. A reader that
/// cannot list its contents is shown with the prints that accounts here have on this kind of
/// reader. Only root may ask, since the list reveals whose fingers a reader stores.
@ServiceActor
final class ReaderPrints: RequestService {
    let journal: DecisionJournal
    let readers: ReaderPool
    let state: StateDirectory
    let accounts: Accounts
    let fingers: Fingers
    let upkeep: ReaderUpkeep
    let coverage: StorageCoverage
    let templates: TemplateKeyOpener
    let touches: Touches

    init(_ parts: Collaborators) {
        journal = parts.journal
        readers = parts.readers
        state = parts.state
        accounts = parts.accounts
        fingers = parts.fingers
        upkeep = parts.upkeep
        coverage = parts.coverage
        templates = parts.templates
        touches = parts.touches
    }
}

extension ReaderPrints {
    /// The handler for listing and deleting prints on readers.
    var handlers: [RequestHandler] { [RequestHandler(answerReaderPrints)] }

    /// Lists the prints, deletes the foreign ones, or deletes all of them, in a turn at the
    /// readers.
    ///
    /// The deleted prints are sent as well. Deletions before a failure stay. Throws `noReader` if
    /// no connected reader stores prints, `readerFailed` if one does not delete a print, and the
    /// denial of a fault.
    func answerReaderPrints(
        _ request: ReaderPrintsRequest, client: any Client
    ) async throws(Denial) -> Answer {
        let root = try superuser()
        let turn = try await touches.upkeepTurn("signet readers", account: root, client: client)
        defer { withExtendedLifetime(turn) {} }
        await templates.openAllTemplates()
        let all = await readers.storing(request.readerID)
        guard !all.isEmpty else { throw Denial(.noReader) }
        var told: UInt8 = 0
        for reader in all {
            switch request.action {
            case .list:
                for print in try await prints(on: reader) {
                    await client.send(.of(print.answer))
                }
            case .deleteForeign:
                for print in try await prints(on: reader) where print.answer.account == nil {
                    guard let stored = print.stored, await readers.delete(stored, on: reader.id)
                    else { throw Denial(.readerFailed) }
                    journal.service("deleted a print that no account has from \(reader.id)")
                    told = told &+ 1
                    await client.send(.of(print.answer))
                }
            case .clear:
                let before = try await prints(on: reader)
                try await clear(reader, of: before)
                for print in before { await client.send(.of(print.answer)) }
                told = UInt8(clamping: Int(told) + before.count)
            }
        }
        return .done(DoneAnswer(prints: request.action == .list ? nil : told))
    }

    /// A print that a reader stores.
    ///
    /// `stored` is nil if the reader cannot list its contents.
    private struct ListedPrint {
        let answer: StoredPrintAnswer
        let stored: ReaderPrint?
    }

    /// The account of root, in whose name the turn is taken.
    private func superuser() throws(Denial) -> Account {
        guard let root = try? Account.with(uid: 0) else { throw Denial(.unknownAccount) }
        return root
    }

    /// Returns the prints on a reader, with their owners as far as they have one here.
    private func prints(on reader: ReaderDescription) async throws(Denial) -> [ListedPrint] {
        let owners = try owners(on: reader)
        let id = Bytes(reader.id.utf8)
        guard reader.features.contains(.list) else {
            return owners.values.map { owner in
                ListedPrint(
                    answer: StoredPrintAnswer(
                        account: owner.name, finger: owner.finger, readerID: id), stored: nil)
            }
        }
        let contents: ReaderContents
        switch await readers.list(reader) {
        case .success(let listed): contents = listed
        case .failure(let fault): throw Denial(of: fault)
        }
        return contents.prints.map { stored in
            let owner = owners[stored.identity]
            return ListedPrint(
                answer: StoredPrintAnswer(
                    account: owner?.name, finger: owner?.finger ?? stored.finger, readerID: id,
                    subject: owner == nil
                        ? stored.account.map { Bytes($0.utf8.prefix(Limit.text)) } : nil),
                stored: stored)
        }
    }

    /// Returns which accounts here have the prints that this kind of reader stores.
    ///
    /// Throws if the prints of an account cannot be opened: they would seem foreign, and might be
    /// deleted as such.
    private func owners(
        on reader: ReaderDescription
    ) throws(Denial) -> [PrintIdentity: (name: AccountName, finger: Finger)] {
        var owners: [PrintIdentity: (name: AccountName, finger: Finger)] = [:]
        do throws(StoreFault) {
            for kept in try state.accounts() {
                for print in try coverage.othersEnrolment(kept).prints {
                    guard let template = try? Template(bytes: print.template),
                        template.isStoredOnReader, template.driver == reader.driver,
                        template.deviceID == reader.deviceID
                    else { continue }
                    owners[template.identity] = (kept.name, print.finger)
                }
            }
        } catch { throw accounts.denial(for: error, account: try superuser()) }
        return owners
    }

    /// Deletes everything that a reader stores.
    ///
    /// The accounts' fingers on it are deleted first, because they could never match again. A
    /// reader that cannot be cleared at once is cleared print by print.
    private func clear(
        _ reader: ReaderDescription, of prints: [ListedPrint]
    ) async throws(Denial) {
        for owned in prints.compactMap({ print in
            print.answer.account.map { (name: $0, finger: print.answer.finger) }
        }) {
            guard let name = String(validating: owned.name.bytes, as: UTF8.self),
                let account = try? Account.named(name)
            else { continue }
            var gone: [StoredPrint] = []
            var isBlind = false
            _ = try await fingers.remove(
                owned.finger, of: account, approval: .unvouched, gone: &gone, isBlind: &isBlind)
        }
        switch await readers.clear(reader.id) {
        case nil: break
        case .notSupported:
            for print in prints {
                guard let stored = print.stored else { throw Denial(.readerFailed) }
                guard await readers.delete(stored, on: reader.id) else {
                    throw Denial(.readerFailed)
                }
            }
        case let fault?: throw Denial(of: fault)
        }
        journal.service("deleted all prints from \(reader.id)")
        await upkeep.tidyReaders()
    }
}
