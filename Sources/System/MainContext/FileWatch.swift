// SPDX-License-Identifier: Apache-2.0
import CGLib

/// Calls back on the service's thread whenever a descriptor is ready, until it is released.
///
/// The descriptor remains the caller's, and must stay open for as long as the watch exists.
package final class FileWatch: Sendable {
    /// The conditions that a descriptor is watched for, or ready for.
    package struct Readiness: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// There are bytes to read, or the stream has ended.
        package static let readable = Readiness(rawValue: 1)
        /// Writing would not block.
        package static let writable = Readiness(rawValue: 2)
        /// The other end is closed, or the descriptor is faulty; this is always watched for.
        package static let hungUp = Readiness(rawValue: 4)
    }

    private let source = Source()

    /// Watches `descriptor`; a hang-up is reported even if `interest` is empty, poll(2).
    @ServiceActor
    package init(
        _ descriptor: Int32, for interest: Readiness,
        body: @escaping @ServiceActor (Readiness) -> Void
    ) {
        source.attach(to: .service, watching: descriptor, for: interest) { ready in
            ServiceActor.assumeIsolated { body(ready) }
            return true
        }
    }

    /// Changes the conditions to watch for, from the next iteration of the loop on.
    @ServiceActor
    package func watch(for interest: Readiness) {
        source.watch(for: interest)
    }

    /// Ends the watch; the body does not run again.
    @ServiceActor
    package func cancel() {
        source.cancel()
    }

    /// Waits until `descriptor` is ready.
    ///
    /// - Returns: The conditions that it is ready for; empty if the task was cancelled.
    @ServiceActor
    package static func ready(_ descriptor: Int32, for interest: Readiness) async -> Readiness {
        let source = Source()
        let parked = Parked<Readiness>()
        source.attach(to: .service, watching: descriptor, for: interest) { ready in
            parked.resume(ready)
            return false
        }
        let ready = await parked.wait { source.ready() }
        return Task.isCancelled ? [] : ready
    }
}

extension FileWatch.Readiness {
    init(_ condition: GIOCondition) {
        let bits = condition.rawValue
        self = []
        if bits & G_IO_IN.rawValue != 0 { insert(.readable) }
        if bits & G_IO_OUT.rawValue != 0 { insert(.writable) }
        let ends = G_IO_HUP.rawValue | G_IO_ERR.rawValue | G_IO_NVAL.rawValue
        if bits & ends != 0 { insert(.hungUp) }
    }

    var condition: GIOCondition {
        var bits: UInt32 = 0
        if contains(.readable) { bits |= G_IO_IN.rawValue }
        if contains(.writable) { bits |= G_IO_OUT.rawValue }
        return GIOCondition(rawValue: bits)
    }
}
