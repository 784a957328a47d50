// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
import DesktopInterface
import Domain
import LoginProtocol
import MainContext
import Posix

/// One reader, as programs on the bus see it.
///
/// `DeviceState` decides which calls are in order; signetd decides whether the caller gets what it
/// asks for. Results of scans go to the claimer alone.
@ServiceActor
final class DeviceObject: BusObject {
    /// How long a scan may take to end by itself before the machine sleeps.
    private static let endPatience = Duration.seconds(2)

    let path: String
    /// The reader's identifier in signetd.
    let readerID: Bytes
    private let host: DesktopHost
    private let reader: ReaderAnswer
    private var state = DeviceState()
    private var claimer: BusSubscription?
    private var vocabulary = ClientVocabulary.current
    private var expiry: Timer?
    private let deletions: FingerDeletions
    private var scans: [DeviceState.ScanID: RunningScan] = [:]
    private let finger: FingerProperties
    private let signals: ScanSignals

    init(_ reader: ReaderAnswer, number: Int, host: DesktopHost) {
        self.reader = reader
        self.host = host
        readerID = reader.readerID
        path = InterfaceDescription.path(ofDevice: number)
        deletions = FingerDeletions(host: host)
        finger = FingerProperties(of: path, host: host)
        signals = ScanSignals(of: path, host: host)
    }

    /// Whether signetd lists the reader no more. The object stays until it is not in use.
    var isGone = false
    /// Called when the reader is gone and the object not in use any more.
    var withdraw: () -> Void = {}

    /// Whether a client has claimed it, or a scan has not ended.
    var isInUse: Bool { state.claim != nil || !scans.isEmpty }

    func answer(_ call: BusMethodCall) async throws(BusMethodFault) -> [BusValue] {
        let text = call.arguments.first?.string ?? ""
        if state.expire(at: host.now) { settle() }
        switch call.member {
        // What only ends something is always possible.
        case "Release":
            return try await ending { () throws(DesktopFault) in
                try await release(by: call.sender)
                return []
            }
        case "VerifyStop":
            return try await ending { () throws(DesktopFault) in
                try await stop(.verify, by: call.sender)
                return []
            }
        case "EnrollStop":
            return try await ending { () throws(DesktopFault) in
                try await stop(.enroll, by: call.sender)
                return []
            }
        default:
            if call.member == "ListEnrolledFingers",
                let list = host.recentLists.list(of: text, for: call.sender, at: host.now)
            {
                return try await ending { () throws(DesktopFault) in [Self.value(try list.get())] }
            }
            return try await host.serve(call) { (caller) throws(DesktopFault) in
                switch call.member {
                case "Claim": try await claim(text, for: caller)
                case "ListEnrolledFingers": return [try await list(text, for: caller)]
                case "VerifyStart": try await start(.verify, finger: text, for: caller)
                case "EnrollStart": try await start(.enroll, finger: text, for: caller)
                case "DeleteEnrolledFinger": try await delete(text, for: caller)
                case "DeleteEnrolledFingers2": try await delete(nil, for: caller)
                case "DeleteEnrolledFingers": try await deleteUnclaimed(text, for: caller)
                default: throw DesktopFault(.internal, "there is no method \(call.member)")
                }
                return []
            }
        }
    }

    private func ending(
        _ body: () async throws(DesktopFault) -> [BusValue]
    ) async throws(BusMethodFault) -> [BusValue] {
        do throws(DesktopFault) { return try await body() } catch {
            throw BusMethodFault(error.name, error.message)
        }
    }
}

// MARK: - Properties

extension DeviceObject {
    func property(_ name: String, of interface: String) -> BusValue? {
        properties.first { $0.name == name }?.value
    }

    /// All properties with their values now.
    var properties: [(name: String, value: BusValue)] {
        [
            ("name", .string(String(decoding: reader.name, as: UTF8.self))),
            ("num-enroll-stages", .int32(stages)),
            ("scan-type", .string(reader.scan == .swipe ? "swipe" : "press")),
        ] + finger.all
    }

    /// How many scans an enrolment takes: one more where the reader can tell fingers apart, because
    /// the finger is compared with the others first.
    private var stages: Int32 {
        Int32(reader.total) + (reader.features.contains(.identify) ? 1 : 0)
    }
}

// MARK: - Claims

extension DeviceObject {
    private func claim(_ user: String, for caller: DesktopCaller) async throws(DesktopFault) {
        try state.checkUnclaimed()
        let account = user.isEmpty ? nil : try caller.account(named: user)
        let client = caller.name.text
        // The bus answers while signetd does. From the answer on, the client's leaving is reported.
        var hasLeft = false
        let following = host.bus.followOwner(of: client) { [weak self] owner in
            guard owner == nil else { return }
            hasLeft = true
            self?.vanished(client)
        }
        let owner = await Ahead.begin { [host] in
            try? await host.bus.owner(of: client, limit: DesktopHost.limit)
        }
        defer { owner.cancel() }
        let answer = try await host.ask(
            Request(DesktopClaimRequest(client: caller.name, account: account)))
        let claimed = try answer.admitted(DesktopAccountAnswer.self)
        guard await owner.result() != nil, following != nil, !hasLeft else {
            throw DesktopFault(.claimDevice, "the client has left the bus")
        }
        // Another client may have been faster.
        try state.claim(for: claimed.account, by: client, at: host.now)
        vocabulary = ClientVocabulary(of: claimed.program)
        claimer = following
        settle()
    }

    /// Throws `internal` if the reader is gone; the claim has ended nevertheless.
    private func release(by client: String) async throws(DesktopFault) {
        let wasGone = isGone
        let scan = try state.release(by: client)
        deletions.cancel(of: client)
        settle()
        if let scan { await end(scan) }
        if wasGone { throw DesktopFault(.internal, "the reader is gone") }
    }

    private func vanished(_ client: String) {
        let scan = state.vanish(client)
        deletions.cancel(of: client)
        settle()
        if let scan { scans[scan]?.cancel() }
    }

    /// Sets the timer for the end of an unused claim, after each change of the state.
    private func settle() {
        host.recentLists.forget()
        expiry = nil
        if state.claim == nil { claimer = nil }
        if let end = state.expiry {
            expiry = Timer(after: max(.zero, end - host.now)) { [weak self] in
                guard let self else { return }
                _ = state.expire(at: host.now)
                settle()
            }
        }
        host.activityChanged()
        if isGone, !isInUse { withdraw() }
    }
}

// MARK: - Scans

extension DeviceObject {
    /// Begins a scan, and returns when the daemon waits for a finger.
    private func start(
        _ action: DeviceState.Action, finger name: String, for caller: DesktopCaller
    ) async throws(DesktopFault) {
        let client = caller.name.text
        let claim = try state.checkClaimed(by: client)
        let request: Request
        switch action {
        case .verify:
            request = Request(
                DesktopVerifyRequest(
                    client: caller.name, account: claim.account,
                    finger: FingerName.finger(named: name)))
        case .enroll:
            request = Request(
                DesktopEnrollRequest(
                    client: caller.name, account: claim.account,
                    finger: try FingerName.required(name), readerID: readerID))
        }
        let id = try state.begin(action, by: client)
        let scan: RunningScan
        do throws(DesktopFault) {
            scan = try RunningScan(
                action, client: client, vocabulary: vocabulary, request: request,
                on: host.daemon, paths: host.paths)
        } catch {
            state.ended(id, at: host.now)
            throw error
        }
        scans[id] = scan
        settle()
        let begun = await withCheckedContinuation { continuation in
            scan.start = continuation
            onService { [self] in await follow(scan, id: id) }
        }
        let selected = try begun.get()
        // The call is answered first, which happens before anything else runs on this thread.
        onService { [self] in
            if action == .verify { signals.tell(scan, selected: selected) }
            scan.told?.resume()
            scan.told = nil
        }
    }

    /// Hears what the daemon says about a scan, to its end.
    private func follow(_ scan: RunningScan, id: DeviceState.ScanID) async {
        let end = await self.end(of: scan, id: id)
        // Before the result: fprintd's clients find the property changed when they hear it.
        finger.isNoMoreNeeded(by: id)
        scans[id] = nil
        if scan.wasAdmitted {
            let report =
                scan.action == .verify ? ScanReport.verified(end) : ScanReport.enrolled(end)
            signals.tell(scan, report)
        }
        state.ended(id, at: host.now)
        let fault: DesktopFault =
            if case .denied(let denial) = end { DesktopFault(of: denial) } else { .noDaemon }
        scan.start?.resume(returning: .failure(fault))
        scan.start = nil
        for call in scan.waiting { call.resume() }
        scan.waiting = []
        settle()
    }

    /// Hears what the daemon says about a scan, and returns how it has ended.
    ///
    /// A verification ends only with a result, with its claimer, or with what does not pass by
    /// itself: each request is judged anew, and between two of them the reader rests.
    private func end(of scan: RunningScan, id: DeviceState.ScanID) async -> ScanEnd {
        while true {
            let end = await scan.end { answer in await hear(answer, of: scan, id: id) }
            guard scan.action == .verify, state.isScanning(id), end.isPassing else { return end }
            finger.isNoMoreNeeded(by: id)
            if let reason = await scan.rest() { return .denied(Denial(reason)) }
            do throws(DesktopFault) { try scan.repeatRequest() } catch { return .lost }
        }
    }

    private func hear(_ answer: Answer, of scan: RunningScan, id: DeviceState.ScanID) async {
        if let admitted = answer.own(DesktopAdmittedAnswer.self) {
            guard state.admitted(id), let start = scan.start else { return }
            scan.wasAdmitted = true
            scan.start = nil
            return await withCheckedContinuation { continuation in
                scan.told = continuation
                start.resume(returning: .success(admitted.finger))
            }
        }
        guard state.isScanning(id) else { return }
        if answer.own(DesktopComparedAnswer.self) != nil {
            scan.isCompared = true
            return
        }
        guard case .notice(let notice) = answer else { return }
        switch notice.kind {
        case .touch:
            scan.awaitsFinger()
            finger.isNeeded(by: id)
            // Only now, when the reader waits for the finger again.
            if scan.isCompared { signals.tell(scan, .compared) }
            scan.isCompared = false
        case .waiting: finger.isNoMoreNeeded(by: id)
        case .fingerPresent: finger.isPresent = true
        case .fingerGone: finger.isPresent = false
        default: break
        }
        let report =
            scan.action == .verify ? ScanReport.verifying(notice) : ScanReport.enrolling(notice)
        if let report { signals.tell(scan, report) }
    }

    private func stop(
        _ action: DeviceState.Action, by client: String
    ) async throws(DesktopFault) {
        let scan = try state.stop(action, by: client)
        if let scan { await end(scan) }
        settle()
    }

    /// Cancels a scan, and waits for its end.
    private func end(_ id: DeviceState.ScanID) async {
        guard let scan = scans[id] else { return }
        scan.cancel()
        await withCheckedContinuation { scan.waiting.append($0) }
    }

    /// Waits until no scan runs; one that does not end soon is cancelled.
    ///
    /// signetd ends scans before the machine sleeps, and says why; a cancelled one would look as if
    /// the claimer had stopped it.
    func awaitScans() async {
        for (id, scan) in scans {
            scan.stop(because: .suspending)
            // It may have ended while another was awaited, and then nothing would resume this.
            guard scans[id] === scan else { continue }
            let limit = Timer(after: Self.endPatience) { scan.cancel() }
            await withCheckedContinuation { scan.waiting.append($0) }
            limit.cancel()
        }
    }
}

// MARK: - Fingers

extension DeviceObject {
    private func list(
        _ user: String, for caller: DesktopCaller
    ) async throws(DesktopFault) -> BusValue {
        var fingers: [Finger] = []
        let request = DesktopListRequest(
            client: caller.name, account: try caller.account(named: user))
        let last = try await host.ask(Request(request)) { answer in
            if case .print(let print) = answer, let finger = print.finger { fingers.append(finger) }
        }
        var list = RecentLists.List.success(fingers)
        if case .denial(let denial) = last {
            list = .failure(
                denial.reason == .unknownAccount
                    ? DesktopFault(.noEnrolledPrints, "no finger is enrolled")
                    : DesktopFault(of: denial))
        }
        host.recentLists.note(list, of: user, for: caller.name.text, at: host.now)
        return Self.value(try list.get())
    }

    private static func value(_ fingers: [Finger]) -> BusValue {
        .array(of: "s", fingers.map { .string(FingerName.text($0)) })
    }

    /// Deletes a finger of the claimer's account; all if the name is nil.
    private func delete(
        _ name: String?, for caller: DesktopCaller
    ) async throws(DesktopFault) {
        try state.checkClaimed(by: caller.name.text)
        var finger: Finger?
        if let name { finger = try FingerName.required(name) }
        await deletions.awaitTurn()
        let claim = try state.beginDeletion(by: caller.name.text)
        deletions.beginTurn()
        settle()
        var isDone = false
        defer {
            state.endDeletion(claim, succeeded: isDone, at: host.now)
            deletions.endTurn()
            settle()
        }
        let isLeft = try await deletions.delete(finger, of: claim.account, for: caller)
        isDone = true
        if isLeft { throw .printsLeftOnReader }
    }

    /// Deletes all fingers of an account, by a client that need not have claimed the device.
    private func deleteUnclaimed(
        _ user: String, for caller: DesktopCaller
    ) async throws(DesktopFault) {
        if state.claim != nil {
            try state.checkClaimed(by: caller.name.text)
            try state.checkFree()
        }
        let isLeft = try await deletions.delete(
            nil, of: try caller.account(named: user), for: caller)
        if isLeft { throw .printsLeftOnReader }
    }
}
