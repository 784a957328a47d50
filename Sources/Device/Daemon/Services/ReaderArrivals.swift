// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import MainContext
import Posix

/// Tells `signet-fprint` when a reader may have been plugged in or unplugged.
///
/// It looks at device nodes only, and starts no process of the readers: who is told asks for the
/// list. Where there are no such nodes, the request waits and nothing is told.
@ServiceActor
final class ReaderArrivals: RequestService {
    /// How long the nodes must have been left alone until the client is told: a device appears in
    /// several steps, and one with a bad plug would be told without end.
    private static let settling = Duration.milliseconds(500)

    private let nodes: String

    init(_ parts: Collaborators) {
        nodes = parts.usbNodes
    }

    /// The handler of the watch.
    var handlers: [RequestHandler] { [RequestHandler(watch)] }

    /// Tells of changes until the client cancels the request, which throws `cancelled`.
    func watch(
        _: DesktopWatchRequest, client: any Client
    ) async throws(Denial) -> Answer {
        guard let watch = try? SharedNodeWatch(DeviceNodeWatch(below: nodes)) else {
            throw Denial(.notServed)
        }
        while !Task.isCancelled {
            guard await FileWatch.ready(watch.number, for: .readable).contains(.readable) else {
                break
            }
            do throws(CancellationError) {
                try await Timer.sleep(for: Self.settling)
            } catch { break }
            guard (try? watch.take()) != nil else { throw Denial(.notServed) }
            await client.send(.of(DesktopReadersAnswer()))
        }
        throw Denial(.cancelled)
    }
}

/// A class around a watch, which stays while its descriptor is polled.
private final class SharedNodeWatch: Sendable {
    private let watch: DeviceNodeWatch

    init(_ watch: consuming DeviceNodeWatch) { self.watch = watch }

    var number: Int32 { watch.descriptor.number }

    func take() throws(SystemFault) { try watch.take() }
}
