// SPDX-License-Identifier: Apache-2.0
import Posix

extension ClientProcess {
    /// How many programs are named, from the client upwards.
    private static let mostPrograms = 3

    /// Returns the names of the client and of the programs that started it, such as
    /// `ssh-sk-helper`, `ssh-keygen`, `git`.
    ///
    /// They tell the user what asks; nothing is decided by them, since a program can call itself
    /// anything. Only programs of the client's own user are named, and at most three. The list ends
    /// early at a program that has ended.
    func programs(_ facts: any PresenceFacts) -> [[UInt8]] {
        var names: [[UInt8]] = []
        var next = process
        while let process = next, names.count < Self.mostPrograms {
            guard (try? process.realUID()) == credentials.uid, let name = try? process.name(),
                let parent = try? process.parent()
            else { break }
            names.append(name)
            guard parent > 1, let held = try? facts.hold(parent),
                // What is held now is the parent only if that has not ended in between.
                (try? process.parent()) == parent
            else { break }
            next = held
        }
        return names
    }
}
