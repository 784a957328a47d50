// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Dispatch
import Glibc
import Synchronization

/// Somebody between a program and a TPM: hears all that passes, and may keep, change or answer it.
///
/// The program's TCTI is `tcti`; it is connected to for each command, as tpm2-tss does it. Rules
/// run on threads of the interposer's own and may block; `stop()` waits for them. They must not
/// hold the interposer itself, or it ends only with `stop()`.
package final class TPMInterposer: Sendable {
    /// What becomes of a command, or of its answer.
    package enum Reaction: Sendable {
        /// It goes on as it is.
        case pass
        /// The program is answered with this, whatever the TPM said or would have said.
        case answer([UInt8])
        /// The program is answered with this response code.
        case fail(UInt32)
        /// The program's connection is closed without an answer.
        case drop
        /// The program waits, until it gives up or the interposer stops.
        case stall
    }

    /// When a rule is asked.
    package enum Moment: Sendable, CaseIterable {
        /// The command is there, and the TPM does not know it yet.
        case command
        /// The TPM has answered, and the program does not know it yet.
        case answer
    }

    /// Decides on a command, or on its answer.
    package typealias Rule = @Sendable (TPMExchange) -> Reaction

    /// The socket of commands, for programs.
    package let path: String
    /// What tpm2-tss is told to find it.
    package var tcti: String { "swtpm:path=\(path)" }

    let core: TPMInterposerCore
    private let scratch: Scratch
    private let workers = Workers()
    /// Closing it ends the threads.
    private let stopper: Mutex<Descriptor?>

    /// Stands in front of a TPM, which may be stopped, replaced and started meanwhile. Its sockets
    /// are in `directory`, a fixture's for example (`host.path("/run")`, seen there as
    /// `/run/tpm-bus`), and otherwise in a private one.
    package init(_ tpm: SoftwareTPM, socketsIn directory: String? = nil) throws(TestFault) {
        scratch = try Scratch()
        path = (directory ?? scratch.path) + "/tpm-bus"
        let stop = try Pipe()
        core = TPMInterposerCore(tpm, stop: stop.read)
        stopper = Mutex(stop.write)
        let commands = try Descriptor(unsafe listen_stream(path), "listen", path)
        let controlPath = path + ".ctrl"
        let control = try Descriptor(unsafe listen_stream(controlPath), "listen", controlPath)
        let listeners = Listeners(commands: commands, control: control)
        let (core, workers) = (core, workers)
        try workers.start {
            while let isControl = core.awaitClient(listeners.commands, listeners.control) {
                let listener = isControl ? listeners.control.number : listeners.commands.number
                let accepted = accept(listener, nil, nil)
                guard accepted >= 0 else { continue }
                // Closed with it, if no thread can be had: the program sees that.
                let client = Client(end: Descriptor(owning: accepted))
                try? workers.start {
                    if isControl { core.serveControl(client.end) } else { core.serve(client.end) }
                }
            }
        }
    }

    deinit { stop() }

    /// Closes all connections, waits for its threads and removes its sockets.
    package func stop() {
        let wasRunning = stopper.withLock { $0.take() != nil }
        guard wasRunning else { return }
        workers.join()
        // They may hold what holds them.
        removeRules()
        _ = unsafe unlink(path)
        _ = unsafe unlink(path + ".ctrl")
    }

    // MARK: What it does

    /// Asks `rule` about every command, before the TPM sees it, or about every answer; nil lets
    /// all pass.
    package func setRule(at moment: Moment, _ rule: Rule?) {
        core.state.withLock { $0.rules[moment] = rule }
    }

    /// At the `number`-th command from now on, does `act`, and gives neither that command nor a
    /// later one to every waiter: for the death of a program.
    package func cut(
        at number: Int, _ moment: Moment, _ act: @escaping @Sendable () -> Void
    ) {
        let last = core.state.withLock(\.count) + number
        setRule(at: .command) { exchange in
            guard exchange.number >= last, moment == .command || exchange.number > last else {
                return .pass
            }
            if exchange.number == last { act() }
            return .drop
        }
        setRule(at: .answer) { exchange in
            guard exchange.number == last else { return .pass }
            act()
            return .drop
        }
    }

    /// Has each command take this long from now on, as in a chip.
    package func delay(_ time: Duration) {
        let core = core
        setRule(at: .command) { _ in core.pause(time) }
    }

    /// Lets all pass again.
    package func removeRules() { core.state.withLock { $0.rules = [:] } }

    // MARK: What it heard

    /// What passed, in order, from the start or from `forget()`.
    package var exchanges: [TPMExchange] { core.state.withLock(\.exchanges) }

    /// Forgets what passed; numbers go on.
    package func forget() {
        core.state.withLock { state in
            state.exchanges = []
            state.control = []
        }
    }

    /// How many commands of a kind passed.
    package func count(of code: TPMCommandCode) -> Int {
        exchanges.count { $0.code == code }
    }

    /// Whether these bytes passed in any one message, in either direction, on either socket.
    package func contains(_ bytes: [UInt8]) -> Bool {
        let control = core.state.withLock(\.control)
        return exchanges.contains { $0.contains(bytes) }
            || control.contains { $0.firstRange(of: bytes) != nil }
    }

    /// What passed, a line each: for messages of tests.
    package var transcript: String {
        exchanges.map(\.description).joined(separator: "\n")
    }

    /// Waits until `find` has an answer in what passed, and throws when the time is over. It is
    /// asked again whenever something passes.
    package func first<Answer>(
        _ awaited: String, within limit: Duration = .seconds(20),
        _ find: ([TPMExchange]) -> Answer?
    ) throws(TestFault) -> Answer {
        let deadline = ContinuousClock.now + limit
        while true {
            let waiter = DispatchSemaphore(value: 0)
            let exchanges = core.state.withLock { state in
                state.waiting.append(waiter)
                return state.exchanges
            }
            if let answer = find(exchanges) { return answer }
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            guard left > 0 else { throw .deadline(awaited: awaited, transcript: transcript) }
            _ = waiter.wait(timeout: .now() + .milliseconds(Int(left.rounded(.up))))
        }
    }

    /// Held by the thread that accepts.
    private final class Listeners: Sendable {
        let commands: Descriptor
        let control: Descriptor

        init(commands: consuming Descriptor, control: consuming Descriptor) {
            self.commands = commands
            self.control = control
        }
    }

    /// Held by the thread that serves it.
    private final class Client: Sendable {
        let end: Descriptor

        init(end: consuming Descriptor) { self.end = end }
    }
}
