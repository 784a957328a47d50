// SPDX-License-Identifier: Apache-2.0
import DBus
import DesktopInterface
import MainContext

/// What the service reports of a scan, in order, from before the scan is begun.
///
/// Only the process counts that owns the service's name now: others can send any signal. If it
/// leaves the bus, there is nothing more to hear.
@ServiceActor
final class Scan {
    /// A report.
    enum Event: Equatable {
        /// This finger is waited for.
        case selected(String)
        /// The result of a scan; whether it is the last.
        case verifying(String, isDone: Bool)
        /// The result of a stage of an enrolment; whether it is the last.
        case enrolling(String, isDone: Bool)
    }

    private var subscriptions: [BusSubscription] = []
    private var events: [Event] = []
    private var isOver = false
    private var waiting: CheckedContinuation<Void, Never>?

    /// Begins to listen for what a device reports.
    init(of device: String, on bus: BusConnection) async throws(FprintdSession.Failure) {
        let owner: String
        do throws(BusFault) {
            owner = try await bus.owner(of: InterfaceDescription.name, limit: .seconds(25))
        } catch { throw FprintdSession.Failure("failed to connect to device", error) }
        listen("VerifyFingerSelected", "(s)", of: device, from: owner, on: bus) { values in
            values[0].string.map { .selected($0) }
        }
        listen("VerifyStatus", "(sb)", of: device, from: owner, on: bus) { values in
            guard let text = values[0].string, let isDone = values[1].boolean else { return nil }
            return .verifying(text, isDone: isDone)
        }
        listen("EnrollStatus", "(sb)", of: device, from: owner, on: bus) { values in
            guard let text = values[0].string, let isDone = values[1].boolean else { return nil }
            return .enrolling(text, isDone: isDone)
        }
        let left = bus.followOwner(of: InterfaceDescription.name) { [weak self] _ in self?.end() }
        if let left { subscriptions.append(left) }
        bus.ended = { [weak self] in self?.end() }
    }

    /// Waits for the next report.
    ///
    /// - Throws: if the service has gone, because no report will follow.
    func next() async throws(FprintdSession.Failure) -> Event? {
        while events.isEmpty {
            guard !isOver else {
                throw FprintdSession.Failure("the fingerprint service has ended. Try again")
            }
            await withCheckedContinuation { waiting = $0 }
        }
        return events.removeFirst()
    }

    private func listen(
        _ member: String, _ type: String, of device: String, from owner: String,
        on bus: BusConnection, _ event: @escaping @ServiceActor ([BusValue]) -> Event?
    ) {
        let signal = BusSignal(
            from: owner, path: device, interface: InterfaceDescription.device, member: member,
            type: type)
        let heard = bus.subscribe(to: signal) { [weak self] values in
            if let event = event(values) { self?.take(event) }
        }
        guard let heard else { return end() }
        subscriptions.append(heard)
    }

    private func take(_ event: Event) {
        events.append(event)
        wake()
    }

    private func end() {
        isOver = true
        wake()
    }

    private func wake() {
        waiting?.resume()
        waiting = nil
    }
}
