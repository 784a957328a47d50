// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import State

/// Deletes fingers from the account, and then from the readers that store them.
///
/// The deletion here takes effect first and is what counts: from then on the finger opens nothing.
/// A reader that is unplugged or fails still stores the print, and is cleaned up later by
/// `ReaderUpkeep`.
@ServiceActor
final class Fingers {
    let journal: DecisionJournal
    let readers: ReaderPool
    let state: StateDirectory
    let accounts: Accounts
    let changes: FingerChanges
    let upkeep: ReaderUpkeep
    let coverage: StorageCoverage
    let sessionTokens: SessionTokens
    let templates: TemplateKeyOpener
    let touches: Touches

    init(
        journal: DecisionJournal, readers: ReaderPool, state: StateDirectory, accounts: Accounts,
        changes: FingerChanges, upkeep: ReaderUpkeep, coverage: StorageCoverage,
        sessionTokens: SessionTokens, templates: TemplateKeyOpener, touches: Touches
    ) {
        self.journal = journal
        self.readers = readers
        self.state = state
        self.accounts = accounts
        self.changes = changes
        self.upkeep = upkeep
        self.coverage = coverage
        self.sessionTokens = sessionTokens
        self.templates = templates
        self.touches = touches
    }
}

extension Fingers {
    /// The handler for deleting fingers.
    var handlers: [RequestHandler] { [RequestHandler(foretelling: foretell, delete)] }

    /// Tells what deleting will end; throws as `check`.
    func foretell(
        _ request: DeleteRequest, account: Account, client: any Client
    ) async throws(Denial) -> ChangeForecast? {
        let isLast = try check(request, account: account)
        // Fingers that cannot be opened can be deleted all the same.
        await templates.openTemplates(of: account)
        let forecast = try changes.forecast(
            ForetoldChange(isAuthorized: client.peer.uid != 0, leavesFinger: !isLast), of: account)
        await changes.tell(forecast, to: client)
        return forecast
    }

    /// Returns whether no finger will be left; throws `notEnrolled` or `unknownFinger` before a
    /// password is given for nothing.
    func check(_ request: DeleteRequest, account: Account) throws(Denial) -> Bool {
        let listed = try accounts.reading(account) { () throws(StoreFault) in
            // What another account has left can only be deleted as a whole.
            request.finger == nil
                ? try accounts.keptOfAnyone(account)?.prints.fingers()
                : try accounts.kept(account)?.prints.fingers()
        }
        guard let listed else { throw Denial(.notEnrolled) }
        guard let finger = request.finger else { return true }
        guard listed.contains(nil) || listed.contains(finger) else {
            throw Denial(.unknownFinger, finger: finger)
        }
        return !listed.contains { $0 != finger }
    }

    /// Deletes one finger, or all fingers, of an account.
    ///
    /// Root may ask, or the account itself with its password. The credential is issued again for
    /// the remaining fingers, or withdrawn if none is left (`FingerChanges`). Damaged prints can be
    /// deleted as well. Deleting all fingers also removes prints that cannot be opened; otherwise
    /// there would be no way forward after the loss of a template key.
    ///
    /// Throws `unknownFinger` or `notEnrolled`, or the denial of a storage or vault fault. Prints
    /// that could not be deleted from their readers are counted in the answer (`printsLeft`).
    func delete(
        _ request: DeleteRequest, account: Account, approval: ChangeApproval,
        client: any Client
    ) async throws(Denial) -> Answer {
        if request.finger == nil, try isLeftByAnother(account) {
            return try await forgetFormer(account, client: client)
        }
        var gone: [StoredPrint] = []
        // Whether all fingers were deleted although some prints could not be read, so that it is
        // unknown which prints on readers were theirs.
        var isBlind = false
        let answer: Result<DoneAnswer, Denial>
        do throws(Denial) {
            answer = .success(
                try await remove(
                    request.finger, of: account, approval: approval, gone: &gone, isBlind: &isBlind)
            )
        } catch { answer = .failure(error) }
        let left = await forget(gone, of: account, client: client)
        if isBlind, case .success = answer { await forgetRemembered(of: account, client: client) }
        var done = try answer.get()
        if left > 0 { done.printsLeft = UInt8(clamping: left) }
        return .done(done)
    }

    /// Deletes fingers from the account, but not yet from readers.
    ///
    /// - Parameters:
    ///   - finger: the finger to delete; nil for all.
    ///   - approval: what vouches for the change.
    ///   - gone: receives the deleted prints that could be read, even if an error is thrown, for
    ///     `forget`.
    ///   - isBlind: receives whether all fingers were to be deleted and some prints could not be
    ///     read.
    func remove(
        _ finger: Finger?, of account: Account, approval: ChangeApproval,
        gone: inout [StoredPrint], isBlind: inout Bool
    ) async throws(Denial) -> DoneAnswer {
        do {
            guard let kept = try accounts.kept(account) else { throw Denial(.notEnrolled) }
            let before: Enrolment
            do throws(StoreFault) {
                before = try kept.prints.enrolment()
            } catch {
                guard case .closed = error, finger == nil else { throw error }
                let change = try kept.prints.draftRemovingAll()
                gone = change.removed
                isBlind = true
                return try await changes.make(
                    change, account: account, kept: kept, from: nil, finger: nil, contents: nil,
                    approval: approval,
                    because: "all fingers were deleted")
            }
            gone = before.prints.filter { finger == nil || $0.finger == finger }
            let damaged = before.damaged.filter { finger == nil || $0.finger == finger }
            guard !gone.isEmpty || !damaged.isEmpty else {
                throw Denial(.unknownFinger, finger: finger)
            }
            let all = before.prints.count + before.damaged.count
            isBlind = !damaged.isEmpty && gone.count + damaged.count == all
            let change = try kept.prints.draft(
                removing: gone.map(\.identifier) + damaged.map(\.identifier))
            return try await changes.make(
                change, account: account, kept: kept, from: before, finger: finger, contents: nil,
                approval: approval,
                because: "a finger was deleted")
        } catch { throw accounts.denial(for: error, account: account) }
    }

    /// Deletes prints from the readers that store them, in its own turn, and returns how many are
    /// left there.
    ///
    /// A reader does one thing at a time, so the turn is needed. Does nothing if no print is stored
    /// on a reader; if it gets no turn, that is logged.
    @discardableResult
    func forget(
        _ prints: [StoredPrint], of account: Account, client: any Client
    ) async -> Int {
        let stored = prints.count(where: \.isStoredOnReader)
        guard stored > 0 else { return 0 }
        guard let turn = await turnToForget(account, client: client) else { return stored }
        defer { withExtendedLifetime(turn) {} }
        return await forget(prints, of: account)
    }

    /// Deletes from readers all prints that are remembered as those of an account that no
    /// longer has a finger.
    ///
    /// Needed if the account's prints could not be read, so that it is unknown which prints they
    /// were. Only connected readers that list their contents and can delete prints are searched. A
    /// print that belongs to any account stays.
    private func forgetRemembered(of account: Account, client: any Client) async {
        guard await !readers.listing().isEmpty else { return }
        guard let turn = await turnToForget(account, client: client) else { return }
        defer { withExtendedLifetime(turn) {} }
        await templates.openAllTemplates()
        for reader in await readers.listing() where reader.features.contains(.delete) {
            guard case .success(let contents) = await readers.list(reader) else { continue }
            do throws(StoreFault) {
                let owned = try coverage.ownedPrints()
                for print in contents.prints {
                    let digest = try print.identity.digest()
                    guard state.owners.hint(of: digest) == account.uid, !owned.contains(digest),
                        await readers.delete(print, on: reader.id)
                    else { continue }
                    try state.owners.remember(nil, asOwnerOf: digest)
                }
            } catch {
                journal.fault(
                    "deleted prints remain on \(reader.id): \(error)", account: account.name)
            }
        }
    }

    /// Waits for a turn to delete prints from readers; returns nil, and logs that, if there was
    /// none.
    private func turnToForget(_ account: Account, client: any Client) async -> HeldTurn? {
        do throws(Denial) {
            return try await touches.upkeepTurn("signet delete", account: account, client: client)
        } catch {
            journal.fault("a deleted print remains on its reader for now", account: account.name)
            return nil
        }
    }

    /// Deletes prints from the readers that store them, and returns how many are left there; the
    /// caller must have the turn.
    ///
    /// Prints that still belong to a finger of the account are left alone (`isUncounted`) and not
    /// counted. Readers that cannot list their contents are asked to delete each print, once; the
    /// others are tidied by `ReaderUpkeep`, which has a record of what to delete.
    @discardableResult
    func forget(_ prints: [StoredPrint], of account: Account) async -> Int {
        var left = 0
        var recorded: [StoredPrint] = []
        for print in prints where isUncounted(print.template, of: account) {
            guard let template = try? Template(bytes: print.template) else { continue }
            switch await readers.forget(template) {
            case .noReader: recorded.append(print)
            case .deleted: upkeep.noteDeleted(print)
            case .failed:
                upkeep.noteDeleted(print)
                left += 1
            }
        }
        await upkeep.tidyReaders()
        return left + recorded.count { upkeep.isToBeDeleted($0) }
    }

    /// Whether a template certainly belongs to no finger of the account.
    ///
    /// A change that seemed to fail may have taken effect, and one that did not leaves the old
    /// fingers, so the records on disk decide. False if they cannot be read.
    func isUncounted(_ template: [UInt8], of account: Account) -> Bool {
        do throws(StoreFault) {
            guard let enrolment = try accounts.kept(account)?.prints.enrolment() else {
                return true
            }
            return !enrolment.prints.contains { $0.template == template }
        } catch { return false }
    }

    /// Whether the records of the account's uid belong, or may belong, to a former account.
    private func isLeftByAnother(_ account: Account) throws(Denial) -> Bool {
        // An account that is gone has left all that is there; a look-up that fails shows nothing.
        if let found = try? [Account.named(account.name)], found == [nil] { return true }
        do throws(StoreFault) {
            _ = try accounts.kept(account)
            return false
        } catch {
            switch error {
            case .anotherAccount, .anotherLife: return true
            default: throw accounts.denial(for: error, account: account)
            }
        }
    }

    /// Deletes everything that a former account has left under this uid: receipts, keys and secrets,
    /// too, which are not the successor's.
    ///
    /// Its prints on readers are deleted as well, at the latest when the readers are there again.
    private func forgetFormer(_ account: Account, client: any Client) async throws(Denial) -> Answer
    {
        sessionTokens.forgetToken(of: account)
        // They are not opened for the request, which is about the present account; a reader that cannot
        // list what it stores deletes a print only by its template.
        if let left = (try? accounts.keptOfAnyone(account)) ?? nil {
            await templates.openTemplates(of: left)
        }
        let gone = try accounts.reading(account) { () throws(StoreFault) -> [StoredPrint] in
            guard let left = try accounts.keptOfAnyone(account) else { return [] }
            let removed = try left.prints.draftRemovingAll().removed
            try upkeep.noteDeletion(of: removed)
            try state.removeAccount(uid: account.uid)
            let name = String(decoding: left.name.bytes, as: UTF8.self)
            journal.service("deleted what \(name) has left under uid \(account.uid)")
            return removed
        }
        let left = await forget(gone, of: account, client: client)
        await forgetRemembered(of: account, client: client)
        var done = DoneAnswer(prints: 0, state: CredentialState.none)
        if left > 0 { done.printsLeft = UInt8(clamping: left) }
        return .done(done)
    }
}
