// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import DBus
import LoginMessages
import MainContext

/// Notifications on a user's desktop: org.freedesktop.Notifications 1.2, on the session bus.
///
/// Steps are carried out in order, one at a time, so a notification is never closed before it was
/// shown. Failures are reported to `failed` and otherwise ignored. Text from events is escaped, so
/// it cannot contain markup.
@ServiceActor
final class Desktop {
    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    /// How long the desktop may take to answer a call.
    private static let patience = Duration.seconds(10)

    private let bus: BusConnection
    private let catalogue: Catalogue?
    private let failed: (BusFault) -> Void
    /// The notifications on the screen: the desktop's id, by the number of the touch.
    private var shown: [UInt64: UInt32] = [:]
    private var waiting: [Step] = []
    private var isAtWork = false

    private enum Step {
        case show(EventAnswer)
        case close(UInt64)
        case closeAll
    }

    /// Shows notifications over a bus, in the language of a catalogue; `failed` is called with
    /// failures.
    init(
        _ bus: BusConnection, catalogue: Catalogue?, failed: @escaping (BusFault) -> Void
    ) {
        self.bus = bus
        self.catalogue = catalogue
        self.failed = failed
    }

    /// Shows that a touch is requested, or removes the notification when the touch has ended.
    func take(_ event: EventAnswer) {
        add(event.isOver ? .close(event.number) : .show(event))
    }

    /// Removes all notifications.
    func clear() { add(.closeAll) }

    /// Queues a step, and starts to work if no step is in progress.
    private func add(_ step: Step) {
        waiting.append(step)
        guard !isAtWork else { return }
        isAtWork = true
        onService { [self] in
            while !waiting.isEmpty { await perform(waiting.removeFirst()) }
            isAtWork = false
        }
    }

    private func perform(_ step: Step) async {
        do throws(BusFault) {
            switch step {
            case .show(let event): shown[event.number] = try await show(event)
            case .close(let number): try await close(shown.removeValue(forKey: number))
            case .closeAll:
                let all = shown.values
                shown = [:]
                for number in all { try await close(number) }
            }
        } catch {
            // The end of the bus is reported by its connection.
            if error != .closed { failed(error) }
        }
    }

    /// Calls `Notify`; returns the desktop's id of the notification.
    private func show(_ event: EventAnswer) async throws(BusFault) -> UInt32 {
        let call = BusCall(
            to: Self.name, path: Self.path, interface: Self.name, member: "Notify",
            arguments: [
                .string(text(NotificationText.program)), .uint32(0),
                .string("auth-fingerprint-symbolic"), .string(text(NotificationText.heading)),
                .string(Self.plain(text(NotificationText.body(event)))),
                .array(of: "s", []),
                .array(
                    of: "{sv}",
                    [
                        // Critical: it stays until it is closed.
                        .entry(.string("urgency"), .variant(.byte(2))),
                        .entry(.string("transient"), .variant(.boolean(true))),
                    ]),
                // It does not expire; it is removed when the touch ends.
                .int32(0),
            ], answer: "(u)", startsService: true)
        let answer = try await bus.call(call, limit: Self.patience)
        guard let number = answer.values.first?.uint32 else { throw .malformed }
        return number
    }

    private func close(_ number: UInt32?) async throws(BusFault) {
        guard let number else { return }
        do throws(BusFault) {
            _ = try await bus.call(
                BusCall(
                    to: Self.name, path: Self.path, interface: Self.name,
                    member: "CloseNotification", arguments: [.uint32(number)],
                    answer: "()"), limit: Self.patience)
        } catch .refused {
            // The user has already closed it.
        }
    }

    private func text(_ text: Text) -> String {
        String(decoding: text.rendered { catalogue?.translation(of: $0) }, as: UTF8.self)
    }

    /// Escapes a text so that nothing in it is interpreted as markup.
    private static func plain(_ text: String) -> String {
        text.reduce(into: "") { plain, character in
            switch character {
            case "&": plain += "&amp;"
            case "<": plain += "&lt;"
            case ">": plain += "&gt;"
            default: plain.append(character)
            }
        }
    }
}
