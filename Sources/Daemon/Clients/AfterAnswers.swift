// SPDX-License-Identifier: Apache-2.0
import Loop

/// What is left to do for a client when its answer is out, and nobody waits for.
@ServiceActor
final class AfterAnswers {
    private var actions: [ObjectIdentifier: [() -> Void]] = [:]

    /// Has something done when the client's answer is out.
    func add(_ client: any Client, _ action: @escaping () -> Void) {
        actions[ObjectIdentifier(client), default: []].append(action)
    }

    /// Does what is left, once.
    func run(for client: any Client) {
        for action in actions.removeValue(forKey: ObjectIdentifier(client)) ?? [] { action() }
    }
}
