import Loop
import Policy
import Posix
import Reader
import Store
import Wire

/// Fingers added and deleted: the password was given, so the credential is issued anew at once.
extension Service {
    /// Adds a finger, in the place of an older print of the same finger.
    func enroll(
        _ account: Account, _ finger: Finger, _ readerID: Bytes?, _ client: any Client
    ) async -> Answer {
        let limit = settings.duration(Settings.enrolmentTimeout) ?? .seconds(120)
        let wish = TouchWish(
            account: account, who: Bytes("signet enroll (\(account.name))".utf8), tries: 1,
            timeout: limit)
        if let denial = await turnDenial(wish, client) { return .denial(denial) }
        defer { queue.leave() }
        guard let reader = await readers.choose(readerID) else {
            return .denial(Denial(.noReader))
        }
        let end = clock.sinceBoot() + limit
        if let denial = roomDenial(account, finger) { return .denial(denial) }
        if let denial = await takenDenial(account, finger, reader, until: end, client) {
            return .denial(denial)
        }
        let scanned = await readers.enroll(
            finger, account: account.name, on: reader.id, limit: end - clock.sinceBoot()
        ) { client.post(.notice($0)) }
        switch scanned {
        case .failure(let fault): return .denial(Denial(of: fault))
        case .success(let template):
            let answer = await keep(template, finger, reader, for: account)
            if case .denial = answer, isUncounted(template.bytes, of: account) {
                await readers.forget(template)
            }
            return answer
        }
    }

    /// Deletes one finger, or all, damaged prints included.
    func delete(
        _ account: Account, _ finger: Finger?, _ client: any Client
    ) async -> Answer {
        var gone: [Store.StoredPrint] = []
        let answer = await answering(account) { () async throws(StoreFault) in
            guard let kept = try kept(account) else { return .denial(Denial(.notEnrolled)) }
            let before = try kept.prints.enrolment()
            gone = before.prints.filter { finger == nil || $0.finger == finger }
            let damaged = before.damaged.filter { finger == nil || $0.finger == finger }
            guard !gone.isEmpty || !damaged.isEmpty else {
                return .denial(Denial(.unknownFinger, finger: finger))
            }
            let change = try kept.prints.draft(
                removing: gone.map(\.identifier) + damaged.map(\.identifier))
            return try await make(
                change, account, kept, from: before, finger, because: "a finger was deleted")
        }
        await forget(gone, of: account, client)
        return answer
    }

    /// Deletes from the readers what they keep of prints that are deleted here, in a turn of its own:
    /// a reader does one thing at a time.
    private func forget(
        _ prints: [Store.StoredPrint], of account: Account, _ client: any Client
    ) async {
        let templates = prints.filter { isUncounted($0.template, of: account) }
            .compactMap { try? Template(bytes: $0.template) }.filter(\.isStoredOnReader)
        guard !templates.isEmpty else { return }
        let wish = TouchWish(
            account: account, who: Bytes("signet delete (\(account.name))".utf8), tries: 1,
            timeout: settings.duration(Settings.touchTimeout) ?? .seconds(60))
        if await turnDenial(wish, client) != nil {
            return journal.fault("a deleted print stays on its reader", account: account.name)
        }
        defer { queue.leave() }
        for template in templates { await readers.forget(template) }
    }

    /// Whether a template surely belongs to no finger of the account's: a change that failed may
    /// have come about all the same, and one that did not leaves the old fingers.
    private func isUncounted(_ template: [UInt8], of account: Account) -> Bool {
        do throws(StoreFault) {
            guard let enrolment = try kept(account)?.prints.enrolment() else { return true }
            return !enrolment.prints.contains { $0.template == template }
        } catch { return false }
    }

    /// Why there is no room for a finger; nil if there is.
    private func roomDenial(_ account: Account, _ finger: Finger) -> Denial? {
        let ruling: Ruling<Void> = reading(account) { () throws(StoreFault) in
            guard let enrolment = try keptForEnrolment(account)?.prints.enrolment() else {
                return .allow(())
            }
            let others = enrolment.prints.filter { $0.finger != finger }
            let isFull = others.count >= settings.count(Settings.fingers)
            return isFull ? .deny(Denial(.tooManyFingers)) : .allow(())
        }
        if case .deny(let denial) = ruling { return denial }
        return nil
    }

    /// What is kept for an account; a former owner of its uid leaves nothing behind.
    private func keptForEnrolment(_ account: Account) throws(StoreFault) -> AccountState? {
        do throws(StoreFault) {
            return try kept(account)
        } catch {
            guard case .anotherAccount(let former) = error else { throw error }
            let name = String(decoding: former, as: UTF8.self)
            journal.fault("removing what was kept for \(name), who had the uid of \(account.name)")
            try state.removeAccount(uid: account.uid)
            return nil
        }
    }

    /// Scans once to see whether the finger is known here already: another account's is refused.
    ///
    /// Only readers that find one among many can tell.
    private func takenDenial(
        _ account: Account, _ finger: Finger, _ reader: ReaderDescription,
        until end: Duration, _ client: any Client
    ) async -> Denial? {
        guard reader.features.contains(.identify) else { return nil }
        let ruling: Ruling<[OwnedTemplate]> = reading(account) { () throws(StoreFault) in
            .allow(try ownedTemplates(on: reader))
        }
        let owned: [OwnedTemplate]
        switch ruling {
        case .deny(let denial): return denial
        case .allow(let templates): owned = templates
        }
        guard !owned.isEmpty else { return nil }
        let result = await readers.match(
            among: owned.map(\.template), on: reader.id, limit: end - clock.sinceBoot()
        ) { client.post(.notice($0)) }
        switch result {
        case .failure(let fault): return Denial(of: fault)
        case .success(.noMatch): return nil
        case .success(.matched(let index, _)):
            let owner = owned[index]
            guard owner.uid == account.uid else { return Denial(.fingerTaken) }
            return owner.finger == finger ? nil : Denial(.fingerKnown, finger: owner.finger)
        }
    }

    private struct OwnedTemplate {
        let uid: UInt32
        let finger: Finger
        let template: Template
    }

    private func ownedTemplates(
        on reader: ReaderDescription
    ) throws(StoreFault) -> [OwnedTemplate] {
        var owned: [OwnedTemplate] = []
        for kept in try state.accounts() {
            for print in try kept.prints.enrolment().prints {
                guard let template = try? Template(bytes: print.template),
                    template.driver == reader.driver, template.deviceID == reader.deviceID
                else { continue }
                owned.append(
                    OwnedTemplate(uid: kept.uid, finger: print.finger, template: template))
            }
        }
        return owned
    }

    /// Writes a new print to disk and issues the credential anew.
    private func keep(
        _ template: Template, _ finger: Finger, _ reader: ReaderDescription,
        for account: Account
    ) async -> Answer {
        var replaced: [Store.StoredPrint] = []
        let answer = await answering(account) { () async throws(StoreFault) in
            let name = Bytes(account.name.utf8)
            let kept = try state.makeAccount(name, uid: account.uid, now: instant)
            var bytes = template.bytes
            let change = try kept.prints.draft(
                adding: &bytes, finger: finger, reader: Bytes(reader.id.utf8), now: instant)
            replaced = change.removed
            return try await make(
                change, account, kept, from: try kept.prints.enrolment(), finger,
                because: "a finger was added")
        }
        for print in replaced where isUncounted(print.template, of: account) {
            if let template = try? Template(bytes: print.template) {
                await readers.forget(template)
            }
        }
        return answer
    }

    /// Whether a change of fingers by the account itself leaves login by finger on.
    ///
    /// Not where it was switched off; nor where a change of another kind had ended it: issuing
    /// anew would then bless fingers that nobody has vouched for. `signet enable` does that.
    private func isOn(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment
    ) throws(StoreFault) -> Bool {
        switch try credentialState(account, kept, enrolment) {
        case .none, .issued: true
        case .disabled, .destroyed, .damaged: false
        }
    }

    /// Makes a change of fingers, and issues the credential for what they are then.
    private func make(
        _ change: PrintChange, _ account: Account, _ kept: AccountState, from before: Enrolment,
        _ finger: Finger?, because reason: String
    ) async throws(StoreFault) -> Answer {
        let isOn = try isOn(account, kept, before)
        let ended = secrets(kept, fitting: before.state)
        if change.enrolment.isEmpty {
            try kept.prints.commit(change)
            try kept.credential.withdraw()
            journal.credential(of: account, "destroyed", because: "no finger is left")
        } else if isOn {
            try await issue(account, kept, change.enrolment, with: change, because: reason)
        } else {
            try kept.prints.commit(change)
        }
        let enrolment = try kept.prints.enrolment()
        let state = try credentialState(account, kept, enrolment)
        return .done(
            DoneAnswer(
                finger: finger, prints: enrolment.count, state: state.onTheWire,
                secrets: ended))
    }
}

extension Store.CredentialState {
    /// As the socket has it.
    var onTheWire: Wire.CredentialState {
        switch self {
        case .none, .damaged: .none
        case .issued: .valid
        case .disabled: .disabled
        case .destroyed: .invalidated
        }
    }
}
