// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc
import LoginProtocol

/// Stops a program that asks for a touch through the module at a moment that cannot be hit from
/// outside, as a debugger would.
package final class Tracer: Sendable {
    /// Where the login is then.
    package enum Moment: Sendable, CaseIterable {
        /// The proof has been read.
        case proven
        /// The proof was found good; the daemon was not asked yet whether it still is.
        case verified
        /// The daemon was asked, and its answer was not read.
        case asked

        fileprivate var value: stop_moment {
            switch self {
            case .proven: stop_proven
            case .verified: stop_verified
            case .asked: stop_asked
            }
        }
    }

    private let leader: TerminalLeader
    private let pid: Int32
    private let said: Collector

    /// Returns when the program is traced.
    init(of leader: TerminalLeader, stoppingAt moment: Moment) throws(TestFault) {
        self.leader = leader
        var frames = tracer_frames(
            proof: LoginAnswerKind.assertion.rawValue, question: LoginVerb.confirm.rawValue)
        var tracer = CTestSupport.tracer()
        let code = unsafe start_tracer(leader.pid, moment.value, &frames, &tracer)
        guard code == 0 else {
            throw .system(call: "fork", subject: "a tracer", code: -code)
        }
        pid = tracer.pid
        said = try Collector(from: Descriptor(owning: tracer.said))
        try expect("t", "a traced program")
    }

    deinit {
        kill(pid, SIGKILL)
        while waitpid(pid, nil, 0) < 0 && errno == EINTR {}
    }

    /// Waits until the program has come to the moment and stands still.
    package func expectStop() throws(TestFault) {
        try expect("s", "a stopped program")
        leader.suspend()
    }

    private func expect(_ letter: Character, _ awaited: String) throws(TestFault) {
        let wanted = letter.asciiValue
        let found = said.first(within: .patience) { chunks, isClosed in
            chunks.flatMap(\.bytes).contains { $0 == wanted } ? true : isClosed ? false : nil
        }
        guard found == true else { throw .deadline(awaited: awaited, transcript: "") }
    }
}
