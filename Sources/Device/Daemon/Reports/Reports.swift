// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import CommandProtocol
import Configuration
import Domain
import LoginMessages
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import Sealing
import SignedFormats
import State

/// Answers the requests that only report something: status, fingers, readers, settings, vaults,
/// receipts and touch events.
///
/// Apart from `trustVault`, nothing on disk is changed. A reader process that says nothing is awaited for
/// `patience`, so that a reader that hangs does not delay the rest of the report; what is only slow, that
/// process as it starts or a TPM, is given its time. Who may ask is in the rule of each request.
@ServiceActor
final class Reports {
    let configurationFault: ConfigurationFault?
    let journal: DecisionJournal
    let readers: ReaderPool
    let removals: RemovalRounds
    let settings: Configuration
    let state: StateDirectory
    let vaults: Vaults
    let watchers: Watchers
    let accounts: Accounts
    let holdings: Holdings
    let policy: LoginPolicy
    let refusedAttempts: RefusedAttempts
    let guards: TouchGuards

    init(
        configurationFault: ConfigurationFault?, journal: DecisionJournal, readers: ReaderPool,
        removals: RemovalRounds, settings: Configuration, state: StateDirectory, vaults: Vaults,
        watchers: Watchers,
        accounts: Accounts, holdings: Holdings,
        policy: LoginPolicy, refusedAttempts: RefusedAttempts, guards: TouchGuards
    ) {
        self.configurationFault = configurationFault
        self.journal = journal
        self.readers = readers
        self.removals = removals
        self.settings = settings
        self.state = state
        self.vaults = vaults
        self.watchers = watchers
        self.accounts = accounts
        self.holdings = holdings
        self.policy = policy
        self.refusedAttempts = refusedAttempts
        self.guards = guards
    }
}

extension Reports {
    /// The handlers for reports, and for trusting the TPM.
    var handlers: [RequestHandler] {
        [
            RequestHandler(status), RequestHandler(list), RequestHandler(log),
            RequestHandler(watch), RequestHandler(listReaders), RequestHandler(listSettings),
            RequestHandler(listVaults), RequestHandler(trustVault),
        ]
    }

    /// How long to wait for a sign of the reader process; less than a client waits for an answer.
    private static let patience = Duration.seconds(4)

    /// What the body says; nil if readers or TPM do not answer, nor show that they are at work, or if the
    /// caller's task is cancelled meanwhile.
    private func unlessDead<Value: Sendable>(
        _ body: @escaping @ServiceActor () async -> Value
    ) async -> Value? {
        let interruption = Interruption()
        return await withTaskCancellationHandler {
            await unlessLate(
                Self.patience,
                extendedIf: { [vaults, readers] in
                    guard !interruption.isRaised else { return false }
                    if vaults.isAtWork(within: Self.patience) { return true }
                    return await readers.isAtWork(within: Self.patience)
                }, body)
        } onCancel: {
            onService { interruption.raise() }
        }
    }

    /// Reports the state of an account with its fingers, its keys and this machine's readers,
    /// including why a login would be refused now.
    ///
    /// If the prints cannot be opened, it reports that, and the rest as far as it is known without
    /// them. The reason for a refusal is that of the first guard that a login of this client would
    /// not pass (`TouchGuards.verdict`).
    func status(
        _: StatusRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        var (report, enrolment) = try recorded(account)
        let verdict = await unlessDead { [self] in
            await guards.verdict(on: account, client: client)
        }
        guard !Task.isCancelled else { throw Denial(.cancelled) }
        let isTPMSilent = verdict == nil && vaults.isAwaited
        let unheard =
            isTPMSilent ? Denial(of: VaultError.trouble(.noAnswer)) : Denial(of: .processEnded)
        report.status.refusal = verdict.map(\.refusal) ?? unheard
        // A key may not open although its record says that it fits.
        if let cause = report.status.refusal?.cause {
            report.status.cause = report.status.cause ?? cause
        }
        report.status.elsewhere = verdict?.elsewhere
        // There is no key: show the vault in which the next one would be created.
        if report.status.vault.isEmpty { report.status.vault = await vaults.announced().name }
        // As for a list of servers: what they have not been told yet is tried again.
        defer { removals.want() }
        for part in report.parts { await client.send(part) }
        // Readers that do not answer are not asked again.
        let areReadersSilent = verdict == nil && !isTPMSilent
        switch areReadersSilent ? .failure(.processEnded) : await readerAnswers() {
        case .success(let answers):
            for answer in answers { await client.send(.reader(answer)) }
        case .failure(let fault): report.status.readersUnknown = fault != .noReader
        }
        if let enrolment {
            let places = report.status.readersUnknown ? nil : await places(account, client: client)
            await send(enrolment, places: places, to: client)
        }
        return .status(report.status)
    }

    /// What the records say of an account, and its enrolment if it can be opened.
    private func recorded(
        _ account: Account
    ) throws(Denial) -> (report: AccountReport, enrolment: Enrolment?) {
        var report = AccountReport(
            status: StatusAnswer(
                account: AccountName(account.name),
                configurationFault: configurationFault.map {
                    Bytes($0.text.utf8.prefix(Limit.text))
                },
                prints: 0, damaged: 0, state: .none, generation: 0, lock: .open,
                program: Bytes(Version.text.utf8), vault: [],
                device: state.device))
        report.status.keptOut = policy.exclusion(of: account).map { Bytes($0.name.utf8) }
        let enrolment = try accounts.reading(account) { () throws(StoreFault) -> Enrolment? in
            let found: AccountState?
            do throws(StoreFault) {
                found = try accounts.kept(account)
            } catch {
                switch error {
                // The refusal says so, too, and names the former account.
                case .anotherAccount, .anotherLife:
                    report.status.state = .invalidated
                    report.status.cause = accounts.denial(for: error, account: account).cause
                    report.status.serversUnknown = true
                    return nil
                default: throw error
                }
            }
            guard let kept = found else { return nil }
            describe(kept.lockout.load(), in: &report.status)
            let enrolment: Enrolment
            do throws(StoreFault) {
                enrolment = try kept.prints.enrolment()
            } catch {
                guard case .closed(let why) = error else { throw error }
                report.status.closed = Bytes(why.description.utf8.prefix(Limit.text))
                report.status.prints = UInt8(clamping: try kept.prints.count())
                report.status.generation = try kept.generation()
                report.status.serversUnknown = true
                describe(try kept.credential.recorded(), in: &report.status)
                return nil
            }
            try describe(kept, account: account, enrolment: enrolment, in: &report)
            return enrolment
        }
        return (report, enrolment)
    }

    /// Adds an account's fingers, its credential, and what is sealed to the fingers.
    private func describe(
        _ kept: AccountState, account: Account, enrolment: Enrolment,
        in report: inout AccountReport
    ) throws(StoreFault) {
        report.status.prints = UInt8(clamping: enrolment.prints.count)
        report.status.damaged = UInt8(clamping: enrolment.damaged.count)
        report.status.generation = enrolment.state.generation
        let credential = try kept.credential.judgement(on: enrolment)
        describe(credential, in: &report.status)
        try holdings.show(
            Holder(account: account, kept: kept), for: enrolment, credential: credential,
            in: &report)
    }

    /// Adds the state of a lockout, with the seconds left rounded up.
    func describe(_ lockout: Lockout, in status: inout StatusAnswer) {
        switch lockout.verdict(at: accounts.now) {
        case .open: status.lock = .open
        case .lockedForNow(let left):
            status.lock = .forNow
            status.seconds = left.wholeSecondsUp
        case .lockedUntilPassword: status.lock = .untilPassword
        }
    }

    /// Where the account's fingers can be used now; nil if it has none, or the readers do not answer
    /// in time.
    private func places(_ account: Account, client: any Client) async -> FingerPlaces? {
        guard let kept = (try? accounts.kept(account)) ?? nil else { return nil }
        return await unlessDead { [guards] in
            await guards.fingerPlaces(kept, account: account, client: client)
        } ?? nil
    }

    /// Sends an account's prints, intact and damaged, but not their templates, with whether a finger
    /// could match them now.
    func list(
        _: ListRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let found = try accounts.reading(account) {
            () throws(StoreFault) -> (Enrolment, DoneAnswer)? in
            guard let kept = try accounts.kept(account) else { return nil }
            let enrolment = try kept.prints.enrolment()
            var done = DoneAnswer(prints: enrolment.count)
            holdings.report(kept, fitting: enrolment.state, in: &done)
            return (enrolment, done)
        }
        guard let (enrolment, done) = found else { return .done(DoneAnswer(prints: 0)) }
        await send(enrolment, places: await places(account, client: client), to: client)
        return .done(done)
    }

    /// Sends the prints, intact and damaged, with whether a finger could match them in these places.
    private func send(
        _ enrolment: Enrolment, places: FingerPlaces?, to client: any Client
    ) async {
        for (print, var answer) in zip(enrolment.prints, enrolment.answers) {
            answer.state = places?.state(of: print)
            await client.send(.print(answer))
        }
        for print in enrolment.damaged {
            await client.send(
                .print(
                    PrintAnswer(
                        finger: print.finger, printID: print.identifier, readerID: [],
                        since: nil, intact: false)))
        }
    }

    /// Sends the readers of this machine; throws the fault if they cannot be determined in time.
    func listReaders(
        _: ReadersRequest, client: any Client
    ) async throws(Denial) -> Answer {
        switch await readerAnswers() {
        case .success(let answers):
            for reader in answers { await client.send(.reader(reader)) }
            return .done(DoneAnswer())
        case .failure(let fault): throw Denial(of: fault)
        }
    }

    /// The readers; `processEnded` if their process does not answer in time.
    private func readerAnswers() async -> Result<[ReaderAnswer], ReaderFault> {
        await unlessDead { [readers] in await readers.answers() }
            ?? .failure(.processEnded)
    }

    /// Sends the effective value and the origin of every setting.
    func listSettings(_: ConfigurationRequest, client: any Client) async -> Answer {
        for setting in Settings.all {
            await client.send(
                .of(
                    SettingAnswer(
                        name: Bytes(setting.name.utf8),
                        value: Bytes(settings.value(setting).text.utf8.prefix(Limit.text)),
                        origin: Bytes(settings.origin(setting).utf8.prefix(Limit.text)))))
        }
        return .done(DoneAnswer())
    }
}

extension Enrolment {
    /// The intact prints, as the command protocol expresses them.
    var answers: [PrintAnswer] {
        prints.map {
            PrintAnswer(
                finger: $0.finger, printID: $0.identifier, readerID: $0.reader,
                since: $0.added.seconds, intact: true)
        }
    }
}

extension Reports {
    /// Adds the state of a credential: since when, in which vault, or why it is no longer valid.
    func describe(_ credential: CredentialFileState, in status: inout StatusAnswer) {
        status.state = credential.onTheWire
        switch credential {
        case .none, .damaged: break
        case .issued(let found):
            status.since = found.created.seconds
            status.vault = found.vault.name
        case .unfit(let cause): status.cause = cause
        case .disabled(let since): status.since = since.seconds
        case .destroyed(let cause, let since):
            status.cause = cause
            status.since = since.seconds
        }
    }

    /// Sends an account's receipts together with the signers' keys, the head of their chain, and
    /// the refused attempts.
    ///
    /// The client verifies signatures and chain itself. Throws `storage` if a receipt is damaged,
    /// after the intact ones before it were sent.
    func log(
        _ request: LogRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        try await accounts.answering(account) {
            guard let kept = try accounts.kept(account) else { return .done(DoneAnswer()) }
            let log = try kept.receipts()
            let head = try log.head()
            await client.send(.chainHead(counter: head.counter, digest: head.digest))
            for line in try kept.credential.signers().split(separator: UInt8(ascii: "\n")) {
                await client.send(.signer(Bytes(line.prefix(Limit.text))))
            }
            for refusal in refusedAttempts.refusals(of: account, kept: kept).refusals {
                await client.send(.refusal(refusal))
            }
            return try await send(log, request: request, account: account, client: client)
        }
    }

    /// Sends the receipts from number `request.first` on, at most `request.count` of them; 0 means
    /// all.
    ///
    /// They are read in pages of at most 32.
    private func send(
        _ log: ReceiptLog, request: LogRequest, account: Account, client: any Client
    ) async throws -> Answer {
        var offset = 0
        var index: UInt64 = 0
        var left = request.count == 0 ? UInt32.max : request.count
        while left > 0 {
            // Yield between pages, so that a long log does not hold up other clients.
            do {
                try await Timer.sleep(for: .zero)
            } catch { throw Denial(.cancelled) }
            let page = try log.read(from: offset, limit: 32)
            for bytes in page.entries {
                defer { index += 1 }
                guard index >= request.first, left > 0 else { continue }
                left -= 1
                guard let answer = ReceiptAnswer(ReceiptEntry(bytes)) else {
                    throw Denial(.storage, subject: Detail.receiptDamaged.bytes)
                }
                await client.send(.receipt(answer))
            }
            if page.entries.isEmpty {
                guard page.remainder == 0 else {
                    throw Denial(.storage, subject: Detail.receiptsEndInDamage.bytes)
                }
                break
            }
            offset = page.next
        }
        return .done(DoneAnswer())
    }
}

extension ReceiptAnswer {
    /// Creates the answer for an entry of the receipt log.
    ///
    /// Nil if there is no entry, or if its line about being granted names another receipt.
    fileprivate init?(_ entry: ReceiptEntry?) {
        guard let entry else { return nil }
        let counter = (try? Statement(parsing: entry.statement))?.counter
        guard entry.grantedCounter == nil || entry.grantedCounter == counter else { return nil }
        self.init(
            statement: entry.statement, signature: entry.signature,
            isGranted: entry.grantedCounter != nil)
    }
}

extension Reports {
    /// Sends the account's touch events to the client until the request is cancelled.
    ///
    /// Meanwhile the client is passive, so it does not prevent the daemon from exiting when idle.
    func watch(_: WatchRequest, account: Account, client: any Client) async -> Answer {
        watchers.add(client, for: account)
        client.setPassive(true)
        await untilCancelled()
        watchers.remove(client)
        client.setPassive(false)
        return .denial(Denial(.cancelled))
    }
}
