// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Dispatch
import Glibc
import Synchronization

/// What the threads of an interposer share.
final class TPMInterposerCore: Sendable {
    struct State {
        var rules: [TPMInterposer.Moment: TPMInterposer.Rule] = [:]
        var count = 0
        var exchanges: [TPMExchange] = []
        var control: [[UInt8]] = []
        var waiting: [DispatchSemaphore] = []
    }

    let state = Mutex(State())
    let tpm: SoftwareTPM
    private let stop: Descriptor
    /// A TPM does one thing at a time; who waits here does not wait in its socket's queue.
    private let turn = Mutex(())

    init(_ tpm: SoftwareTPM, stop: consuming Descriptor) {
        self.tpm = tpm
        self.stop = stop
    }

    // MARK: Commands

    /// Serves one connection until it, or the interposer, ends.
    func serve(_ client: borrowing Descriptor) {
        while let command = message(from: client.number) {
            var exchange = begin(command)
            guard let reaction = react(at: .command, exchange) else { return }
            if case .pass = reaction {
                guard let response = forward(command, for: client) else { return }
                exchange.response = response
                note(exchange)
                guard let reaction = react(at: .answer, exchange) else { return }
                exchange.answer = answer(reaction, else: response, for: client)
            } else {
                exchange.answer = answer(reaction, else: nil, for: client)
            }
            guard let answer = exchange.answer else { return }
            // Noted first: the receiver of the answer finds it in what passed.
            note(exchange)
            guard (try? client.write(answer)) != nil else { return }
        }
    }

    private func begin(_ command: [UInt8]) -> TPMExchange {
        change { state in
            state.count += 1
            let exchange = TPMExchange(number: state.count, command: command)
            state.exchanges.append(exchange)
            return exchange
        }
    }

    private func note(_ exchange: TPMExchange) {
        change { state in
            let index = state.exchanges.lastIndex { $0.number == exchange.number }
            if let index { state.exchanges[index] = exchange }
        }
    }

    /// What the rule says; nil if the interposer has been stopped.
    private func react(
        at moment: TPMInterposer.Moment, _ exchange: TPMExchange
    ) -> TPMInterposer.Reaction? {
        let rule = state.withLock { $0.rules[moment] }
        let reaction = rule?(exchange) ?? .pass
        return stop.isReady(within: .zero) ? nil : reaction
    }

    /// Lets a command pass after a time, unless the interposer is stopped before.
    func pause(_ time: Duration) -> TPMInterposer.Reaction {
        _ = stop.isReady(within: time)
        return .pass
    }

    /// What the program is given; nil closes its connection.
    private func answer(
        _ reaction: TPMInterposer.Reaction, else response: [UInt8]?,
        for client: borrowing Descriptor
    ) -> [UInt8]? {
        switch reaction {
        case .pass: return response
        case .answer(let bytes): return bytes
        case .fail(let code): return [0x80, 1, 0, 0, 0, 10] + [UInt8](bigEndian: code)
        case .drop: return nil
        case .stall:
            _ = ready(nil, orGone: client.number)
            return nil
        }
    }

    private func forward(_ command: [UInt8], for client: borrowing Descriptor) -> [UInt8]? {
        let number = client.number
        return turn.withLock { _ in
            let opened = unsafe connect_stream(tpm.path)
            guard opened >= 0 else { return nil }
            let stream = Descriptor(owning: opened)
            guard (try? stream.write(command)) != nil else { return nil }
            return message(from: stream.number, unlessGone: number)
        }
    }

    // MARK: The control socket

    /// Hands requests and answers on, each in one piece, until either end closes.
    func serveControl(_ client: borrowing Descriptor) {
        let opened = unsafe connect_stream(tpm.controlPath)
        guard opened >= 0 else { return }
        let stream = Descriptor(owning: opened)
        while let request = some(from: client.number) {
            change { $0.control.append(request) }
            guard (try? stream.write(request)) != nil,
                let answer = some(from: stream.number, unlessGone: client.number)
            else { return }
            change { $0.control.append(answer) }
            guard (try? client.write(answer)) != nil else { return }
        }
    }

    // MARK: Waiting

    /// Waits for a program: whether it came to the control socket; nil if stopped.
    func awaitClient(
        _ commands: borrowing Descriptor, _ control: borrowing Descriptor
    ) -> Bool? {
        var ends = [commands.number, control.number, stop.number].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while true {
            guard unsafe poll(&ends, nfds_t(ends.count), -1) > 0 else { continue }
            if ends[2].revents != 0 { return nil }
            return ends[0].revents == 0
        }
    }

    /// A whole command or answer; nil when there is none to come, or no sense in it.
    private func message(from source: Int32, unlessGone client: Int32? = nil) -> [UInt8]? {
        var all: [UInt8] = []
        var wanted = 10
        while all.count < wanted {
            guard let more = some(from: source, upTo: wanted - all.count, unlessGone: client)
            else { return nil }
            all += more
            if wanted == 10, all.count == 10 {
                guard let size = TPMReader.size(ofHeader: all) else { return nil }
                wanted = size
            }
        }
        return all
    }

    /// Some bytes; nil at the end of them, when stopped, or when `client` has gone.
    private func some(
        from source: Int32, upTo count: Int = 4096, unlessGone client: Int32? = nil
    ) -> [UInt8]? {
        guard ready(source, orGone: client) else { return nil }
        var buffer = [UInt8](repeating: 0, count: count)
        let got = unsafe read(source, &buffer, count)
        return got > 0 ? Array(buffer[..<got]) : nil
    }

    /// Waits without a limit until `source` can be read; false when stopped or `client` has gone.
    private func ready(_ source: Int32?, orGone client: Int32?) -> Bool {
        // poll skips negative numbers, and reports a closed other end without being asked.
        var ends = [
            pollfd(fd: stop.number, events: 0, revents: 0),
            pollfd(fd: client ?? -1, events: 0, revents: 0),
            pollfd(fd: source ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            guard unsafe poll(&ends, nfds_t(ends.count), -1) > 0 else { continue }
            return ends[0].revents == 0 && ends[1].revents == 0
        }
    }

    private func change<Answer>(_ body: (inout State) -> Answer) -> Answer {
        let (answer, waiting) = state.withLock { state in
            let answer = body(&state)
            defer { state.waiting = [] }
            return (answer, state.waiting)
        }
        for waiter in waiting { waiter.signal() }
        return answer
    }
}
