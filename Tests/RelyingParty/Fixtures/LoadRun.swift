// SPDX-License-Identifier: Apache-2.0
import Synchronization

@testable import RelyingParty

/// A device that one task at a time uses, of an account of its own.
// SAFETY: each is used by the one task that `LoadRun` gives it to, or by none that runs.
final class LoadDevice: @unchecked Sendable {
    let device: TestDevice

    private init(_ device: TestDevice) {
        self.device = device
    }

    /// Registers so many.
    static func register(_ count: Int, at server: ServerProcess) async throws -> [LoadDevice] {
        var devices: [LoadDevice] = []
        for number in 0..<count {
            let device = try TestDevice(id: UInt8(number + 1))
            device.account = "load\(number)-\(UInt32.random(in: 0 ... .max))"
            try await server.register(device)
            devices.append(LoadDevice(device))
        }
        return devices
    }
}

/// Devices at work at a server until it ends, each as fast as it is answered.
final class LoadRun: Sendable {
    private struct State {
        var done = 0
        var waiting: (count: Int, waiter: CheckedContinuation<Void, Never>)?
        /// How many devices are still at work.
        var running = 0
    }

    private let state = Mutex(State())

    /// Has each device do its work over and over, until it says false; when so much was done in all,
    /// does `end` while they go on. Returns when each has met the end.
    func run<T: Sendable>(
        _ devices: [LoadDevice], upTo count: Int,
        _ work: @escaping @Sendable (TestDevice) async -> Bool,
        _ end: @Sendable () async throws -> T
    ) async throws -> T {
        try await withThrowingTaskGroup(of: Void.self) { group in
            state.withLock { $0.running = devices.count }
            for registered in devices {
                group.addTask { [self] in
                    while await work(registered.device) { note() }
                    leave()
                }
            }
            await reached(count)
            let result = try await end()
            try await group.waitForAll()
            return result
        }
    }

    private func note() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.done += 1
            guard let waiting = state.waiting, state.done >= waiting.count else { return nil }
            state.waiting = nil
            return waiting.waiter
        }
        waiter?.resume()
    }

    /// When no worker is left, no one waits for more work.
    private func leave() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.running -= 1
            return state.running == 0 ? state.waiting.take()?.waiter : nil
        }
        waiter?.resume()
    }

    private func reached(_ count: Int) async {
        await withCheckedContinuation { waiter in
            state.withLock { state in
                if state.done >= count || state.running == 0 { return true }
                state.waiting = (count, waiter)
                return false
            } ? waiter.resume() : ()
        }
    }
}
