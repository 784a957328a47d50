// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import ReaderProtocol
import Store
import Vault

/// Fingers added and deleted: the password was given, so the credential is issued anew at once.
extension Service {
    /// Adds a finger, in the place of an older print of the same finger.
    func enroll(
        _ account: Account, _ finger: Finger, _ readerID: Bytes?, _ password: VerifiedPassword?,
        _ client: any Client
    ) async throws(Denial) -> Answer {
        let limit = settings.duration(Settings.enrolmentTimeout) ?? .seconds(120)
        var plan = plan(.enroll, "signet enroll", account, milliseconds: .max)
        plan.timeout = limit
        let presence = try await admit(plan, client)
        let turn = try await gate.turn(
            for: applicant(.enrolment, account, asker(plan, presence), client), within: limit)
        let interruption = Interruption()
        queue.mayInterrupt(turn, by: interruption)
        // All accounts' fingers are compared with a new one.
        await openAllTemplates()
        await tidyReaders()
        let chosen: ReaderDescription?
        do throws(ReaderFault) {
            chosen = try await readers.choose(readerID)
        } catch { throw Denial(of: error) }
        guard let reader = chosen else { throw Denial(.noReader) }
        let end = clock.sinceBoot() + limit
        try checkRoom(account, finger)
        // Before anybody touches anything for a print that could not be sealed.
        _ = try await answering(account) { try await sealingKey(of: account) }
        let scans = EnrolmentScans(reader: reader, end: end, interruption: interruption)
        do throws(Denial) {
            let comparison = try await compare(account, finger, scans, during: turn, client)
            return try await enroll(
                account, finger, scans, comparison, during: turn, password, client)
        } catch {
            guard error.reason == .cancelled, queue.hasYielded(turn) else { throw error }
            throw Denial(.enrolmentYielded)
        }
    }

    /// Where and until when an enrolment scans, and what ends it early for a touch.
    struct EnrolmentScans {
        let reader: ReaderDescription
        let end: Duration
        let interruption: Interruption
    }

    /// The enrolment itself. Whatever it comes to, no print stays on the reader that does not count.
    private func enroll(
        _ account: Account, _ finger: Finger, _ scans: EnrolmentScans,
        _ comparison: EnrolmentComparison, during turn: borrowing Turn,
        _ password: VerifiedPassword?, _ client: any Client
    ) async throws(Denial) -> Answer {
        let before = EnrolmentBefore()
        let (reader, left) = (scans.reader, scans.end - clock.sinceBoot())
        let noteTouch = queue.touchNote(turn)
        // Such a reader has no place for two prints of one finger.
        let old = reader.features.contains(.duplicateCheck) ? comparison.own : nil
        let scanned = await interruptible(by: scans.interruption) { [self] in
            await readers.enroll(
                finger, account: account.name, on: reader.id, limit: left, replacing: old,
                examine: { [self] _, contents in begin(on: contents, account, before) },
                tidy: tidyReaders
            ) { notice in
                if notice.kind != .touch { noteTouch() }
                client.post(.notice(notice))
            }
        }
        let answer: Result<Answer, Denial>
        switch scanned {
        case .failure(let fault):
            let denial = fault == .duplicate ? comparison.duplicate : Denial(of: fault)
            answer = .failure(before.denial ?? denial)
            if old != nil {
                // Also where the request was taken back: its task reaches no reader any more.
                await onService { [self] in
                    await dropLost(finger, of: account, on: reader, password)
                }.value
            }
        case .success(let (template, contents)):
            do throws(Denial) {
                try comparison.refuseTaken()
                answer = .success(
                    try await keep(template, finger, reader, contents, password, for: account))
                comparison.completed()
            } catch { answer = .failure(error) }
            if isUncounted(template.bytes, of: account) { _ = await readers.forget(template) }
        }
        await tidyReaders()
        return try answer.get()
    }

    /// Deletes the print of a finger that was to be replaced, if the reader does not have it any more:
    /// the account's other fingers stay good.
    private func dropLost(
        _ finger: Finger, of account: Account, on reader: ReaderDescription,
        _ password: VerifiedPassword?
    ) async {
        guard case .success(let contents) = await readers.list(reader) else { return }
        var gone: [Store.StoredPrint] = []
        var isBlind = false
        do throws(Denial) {
            let isThere = try reading(account) { () throws(StoreFault) -> Bool in
                let prints = try kept(account)?.prints.enrolment().prints ?? []
                let old = prints.first { $0.finger == finger }
                return contents.prints.contains { stored in
                    (old.flatMap { try? Template(bytes: $0.template) }).map(stored.isSame) ?? false
                }
            }
            guard !isThere else { return }
            _ = try await remove(finger, of: account, password, &gone, &isBlind)
            journal.fault(
                "the reader gave up a print that was not replaced", account: account.name)
        } catch { journal.fault(error.reason.protocolName, account: account.name) }
    }

    /// What came out before an enrolment on a reader.
    private final class EnrolmentBefore {
        var denial: Denial?
    }

    /// Takes down what the reader keeps, before it keeps more; false if that cannot be.
    private func begin(
        on contents: ReaderContents, _ account: Account, _ before: EnrolmentBefore
    ) -> Bool {
        do throws(Denial) {
            try reading(account) { () throws(StoreFault) in
                try judge(contents, account)
                try noteEnrolment(on: contents)
            }
            return true
        } catch {
            before.denial = error
            return false
        }
    }

    /// Deletes one finger, or all: damaged prints included, and with all also those that cannot be
    /// opened now, or there would be no way on from a key that is lost.
    func delete(
        _ account: Account, _ finger: Finger?, _ password: VerifiedPassword?,
        _ client: any Client
    ) async throws(Denial) -> Answer {
        var gone: [Store.StoredPrint] = []
        // Whether there were any that did not open, of which nobody knows what a reader keeps.
        var isBlind = false
        let answer: Result<DoneAnswer, Denial>
        do throws(Denial) {
            answer = .success(
                try await remove(finger, of: account, password, &gone, &isBlind))
        } catch { answer = .failure(error) }
        await forget(gone, of: account, client)
        if isBlind, case .success = answer { await forgetRemembered(of: account, client) }
        return .done(try answer.get())
    }

    func remove(
        _ finger: Finger?, of account: Account, _ password: VerifiedPassword?,
        _ gone: inout [Store.StoredPrint], _ isBlind: inout Bool
    ) async throws(Denial) -> DoneAnswer {
        do {
            guard let kept = try kept(account) else { throw Denial(.notEnrolled) }
            let before: Enrolment
            do throws(StoreFault) {
                before = try kept.prints.enrolment()
            } catch {
                guard case .closed = error, finger == nil else { throw error }
                let change = try kept.prints.draftRemovingAll()
                gone = change.removed
                isBlind = true
                return try await make(
                    change, account, kept, from: nil, nil, nil, password,
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
            return try await make(
                change, account, kept, from: before, finger, nil, password,
                because: "a finger was deleted")
        } catch { throw denial(for: error, account) }
    }

    /// Deletes from the readers what they keep of prints that are deleted here, in a turn of its own:
    /// a reader does one thing at a time.
    private func forget(
        _ prints: [Store.StoredPrint], of account: Account, _ client: any Client
    ) async {
        guard prints.contains(where: \.isStoredOnReader) else { return }
        guard let turn = await turnToForget(account, client) else { return }
        defer { withExtendedLifetime(turn) {} }
        await forget(prints, of: account)
    }

    /// Deletes from the readers that list what they keep all that is remembered as an account's that
    /// has no finger any more, where it could not be told which prints these are.
    private func forgetRemembered(of account: Account, _ client: any Client) async {
        guard await !readers.listing().isEmpty else { return }
        guard let turn = await turnToForget(account, client) else { return }
        defer { withExtendedLifetime(turn) {} }
        await openAllTemplates()
        for reader in await readers.listing() where reader.features.contains(.delete) {
            guard case .success(let contents) = await readers.list(reader) else { continue }
            do throws(StoreFault) {
                let owned = try ownedPrints()
                for print in contents.prints {
                    let digest = try print.identity.digest()
                    guard state.owners.hint(of: digest) == account.uid, !owned.contains(digest),
                        await readers.delete(print, on: reader.id)
                    else { continue }
                    try state.owners.remember(nil, asOwnerOf: digest)
                }
            } catch {
                journal.fault(
                    "deleted prints stay on \(reader.id): \(error)", account: account.name)
            }
        }
    }

    /// Waits for the turn at the readers, to delete what they keep; nil where it does not come.
    private func turnToForget(_ account: Account, _ client: any Client) async -> HeldTurn? {
        do throws(Denial) {
            return try await upkeepTurn("signet delete", account, client)
        } catch {
            journal.fault("a deleted print stays on its reader for now", account: account.name)
            return nil
        }
    }

    /// The same for whoever has the turn.
    private func forget(_ prints: [Store.StoredPrint], of account: Account) async {
        for print in prints where isUncounted(print.template, of: account) {
            guard let template = try? Template(bytes: print.template) else { continue }
            if await readers.forget(template) { noteDeleted(print) }
        }
        await tidyReaders()
    }

    /// Whether a template surely belongs to no finger of the account's: a change that failed may
    /// have come about all the same, and one that did not leaves the old fingers.
    func isUncounted(_ template: [UInt8], of account: Account) -> Bool {
        do throws(StoreFault) {
            guard let enrolment = try kept(account)?.prints.enrolment() else { return true }
            return !enrolment.prints.contains { $0.template == template }
        } catch { return false }
    }

    /// Throws where there is no room for a finger.
    private func checkRoom(_ account: Account, _ finger: Finger) throws(Denial) {
        let others = try reading(account) { () throws(StoreFault) in
            try keptForEnrolment(account)?.prints.enrolment().prints.count { $0.finger != finger }
        }
        guard (others ?? 0) < settings.count(Settings.fingers) else {
            throw Denial(.tooManyFingers)
        }
    }

    /// What is kept for an account; a former owner of its uid leaves nothing behind.
    func keptForEnrolment(_ account: Account) throws(StoreFault) -> AccountState? {
        do throws(StoreFault) {
            return try kept(account)
        } catch {
            guard case .anotherAccount(let former) = error else { throw error }
            let name = String(decoding: former, as: UTF8.self)
            journal.fault("removing what was kept for \(name), who had the uid of \(account.name)")
            if let left = try state.account(uid: account.uid) {
                try noteDeletion(of: try left.prints.draftRemovingAll().removed)
            }
            try state.removeAccount(uid: account.uid)
            return nil
        }
    }

    /// Writes a new print to disk and issues the credential anew, for what the reader keeps now.
    private func keep(
        _ template: Template, _ finger: Finger, _ reader: ReaderDescription,
        _ contents: ReaderContents?, _ password: VerifiedPassword?, for account: Account
    ) async throws(Denial) -> Answer {
        // Whoever trusts the TPM anew, while a finger is awaited, closes what it kept.
        await openAllTemplates()
        var replaced: [Store.StoredPrint] = []
        let answer: Result<DoneAnswer, Denial>
        do {
            let key = try await sealingKey(of: account)
            let name = Bytes(account.name.utf8)
            let kept = try state.makeAccount(name, uid: account.uid, now: instant)
            var bytes = template.bytes
            let change = try kept.prints.draft(
                adding: &bytes, finger: finger, reader: Bytes(reader.id.utf8), sealedWith: key,
                now: instant)
            replaced = change.removed
            answer = .success(
                try await make(
                    change, account, kept, from: try kept.prints.enrolment(), finger, contents,
                    password, because: "a finger was added"))
        } catch { answer = .failure(denial(for: error, account)) }
        if !isUncounted(template.bytes, of: account) { await counted(template, contents, account) }
        await forget(replaced, of: account)
        return .done(try answer.get())
    }

    /// Notes that a print which a reader keeps is an account's.
    private func counted(
        _ template: Template, _ contents: ReaderContents?, _ account: Account
    ) async {
        guard let contents else { return }
        do throws(StoreFault) {
            try state.owners.remember(
                account.uid, asOwnerOf: try template.identity.digest())
            try noteEnrolled(on: contents)
        } catch { journal.fault(error.description, account: account.name) }
    }
}
