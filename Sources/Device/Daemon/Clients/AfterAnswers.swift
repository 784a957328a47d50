// SPDX-License-Identifier: Apache-2.0
import MainContext

/// Postpones work until a client's answer has been sent, so that the client does not wait for it.
///
/// The work is lost if the daemon ends before; so nothing that the answer promises may be
/// postponed.
@ServiceActor
final class AfterAnswers {
    private var actions: [ObjectIdentifier: [() -> Void]] = [:]

    /// Postpones an action until the client's current request was answered.
    func add(_ client: any Client, _ action: @escaping () -> Void) {
        actions[ObjectIdentifier(client), default: []].append(action)
    }

    /// Runs the postponed actions of a client, each once, in the order in which they were added;
    /// also those that they add.
    func run(for client: any Client) {
        while let next = actions.removeValue(forKey: ObjectIdentifier(client)) {
            for action in next { action() }
        }
    }
}
