// SPDX-License-Identifier: Apache-2.0
/// Everything that touches libfprint runs here: on the thread of the default main context.
@globalActor
package actor ReaderActor {
    /// The one instance.
    package static let shared = ReaderActor()

    /// The executor on the default main context.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe ContextExecutor.reader.asUnownedSerialExecutor()
    }

    /// Runs the operation at once, for callbacks that arrive on this actor's thread; traps elsewhere.
    package static func assumeIsolated<T: Sendable>(_ operation: @ReaderActor () -> T) -> T {
        ContextExecutor.reader.checkIsolated()
        // Casting the actor away only drops the hop, which the check above made needless.
        return withoutActuallyEscaping(operation) { operation in
            unsafe unsafeBitCast(operation, to: (() -> T).self)()
        }
    }
}

/// Sockets, D-Bus and decisions run here: on the thread of a private main context.
@globalActor
package actor ServiceActor {
    /// The one instance.
    package static let shared = ServiceActor()

    /// The executor on the private main context.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe ContextExecutor.service.asUnownedSerialExecutor()
    }

    /// Runs the operation at once, for callbacks that arrive on this actor's thread; traps elsewhere.
    package static func assumeIsolated<T: Sendable>(_ operation: @ServiceActor () -> T) -> T {
        ContextExecutor.service.checkIsolated()
        return withoutActuallyEscaping(operation) { operation in
            unsafe unsafeBitCast(operation, to: (() -> T).self)()
        }
    }
}
