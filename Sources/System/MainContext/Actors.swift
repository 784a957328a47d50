// SPDX-License-Identifier: Apache-2.0
/// The actor of everything that uses libfprint; it runs on the thread of the default main context.
@globalActor
package actor ReaderActor {
    /// The only instance.
    package static let shared = ReaderActor()

    /// The executor on the default main context.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe ContextExecutor.reader.asUnownedSerialExecutor()
    }

    /// Runs the operation synchronously, for callbacks that arrive on this actor's thread.
    ///
    /// Traps on any other thread.
    package static func assumeIsolated<T: Sendable>(_ operation: @ReaderActor () -> T) -> T {
        ContextExecutor.reader.checkIsolated()
        // The cast only removes the hop to the actor, which the check above has made unnecessary.
        return withoutActuallyEscaping(operation) { operation in
            unsafe unsafeBitCast(operation, to: (() -> T).self)()
        }
    }
}

/// The actor of sockets, D-Bus and decisions; it runs on the thread of a private main context.
@globalActor
package actor ServiceActor {
    /// The only instance.
    package static let shared = ServiceActor()

    /// The executor on the private main context.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe ContextExecutor.service.asUnownedSerialExecutor()
    }

    /// Runs the operation synchronously, for callbacks that arrive on this actor's thread.
    ///
    /// Traps on any other thread.
    package static func assumeIsolated<T: Sendable>(_ operation: @ServiceActor () -> T) -> T {
        ContextExecutor.service.checkIsolated()
        return withoutActuallyEscaping(operation) { operation in
            unsafe unsafeBitCast(operation, to: (() -> T).self)()
        }
    }
}
