// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import Posix

/// `signet operations`: lists, shows, decides and watches operations that await approval at
/// servers.
struct OperationsCommand: Command {
    static let helpPosition = 170
    static let syntax = CommandSyntax(
        "operations",
        summary: """
            review what servers ask you to approve: list, show, approve or reject with a touch, watch
            """,
        forms: [
            FormSyntax(), FormSyntax(word: "list"),
            FormSyntax(word: "show", operands: [.operationID]),
            FormSyntax(word: "approve", operands: [.operationID]),
            FormSyntax(word: "reject", operands: [.operationID]), FormSyntax(word: "watch"),
        ], options: [.account, .server, .password, .passwordStdin, .json],
        misuse: OperationsMessages.choose)

    let run: Invocation

    /// The longest pause before an unreachable server is asked again.
    private static let longestPause = Duration.seconds(300)

    /// `signet operations watch`: prints each new operation, until a signal arrives.
    ///
    /// It polls the daemon, and asks for a touch only the first time. Because every poll makes a
    /// new connection, it continues after the daemon was restarted.
    func watchOperations() throws(CommandFault) {
        let account = try run.account()
        var known: Set<Bytes> = []
        var told: [ServerTroubleAnswer] = []
        var complaint: Text?
        var pause = run.environment.watchInterval
        var isFirst = true
        var hasShown = false
        while true {
            var isTroubled = false
            do throws(CommandFault) {
                let found = try awaited(account, mayTouch: isFirst)
                if isFirst && !run.isJSON { run.environment.complain(OperationsMessages.watching) }
                isFirst = false
                let news = found.operations.filter { !known.contains($0.server.bytes + $0.id) }
                for operation in news {
                    if hasShown && !run.isJSON { run.environment.put([10]) }
                    say(operation)
                    hasShown = true
                }
                if run.environment.hasLostOutput { throw .fault(CommonMessages.unwritten) }
                // Forget decided operations, unless one is missing only because its server is
                // unreachable.
                if found.troubles.isEmpty { known = [] }
                known.formUnion(found.operations.map { $0.server.bytes + $0.id })
                isTroubled = !found.troubles.isEmpty
                if found.troubles != told {
                    for trouble in found.troubles {
                        run.environment.complain(trouble.line(account))
                    }
                }
                told = found.troubles
                complaint = nil
            } catch .interrupted {
                throw .said(.interrupted)
            } catch {
                // A temporary fault is waited out; any other ends the command.
                guard !isFirst, error.exitCode == .noService else { throw error }
                if let text = error.text, text != complaint { run.environment.complain(text) }
                complaint = error.text
                isTroubled = true
            }
            pause = isTroubled ? min(pause * 2, Self.longestPause) : run.environment.watchInterval
            let end = ContinuousClock.now + pause
            if wait(for: -1, or: run.environment.interrupts, until: end) == .interrupted {
                throw .said(.interrupted)
            }
        }
    }
}

extension OperandSyntax {
    fileprivate static let operationID = OperandSyntax(
        ValueSyntax("ID") { OperationsMessages.badID($0) })
}
