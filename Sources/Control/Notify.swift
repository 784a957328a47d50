// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Posix

extension Invocation {
    /// `signet notify`: becomes the program that shows notices, so that this one needs no bus.
    func notify() throws(CommandFault) {
        // Returns only where it fails.
        _ = becomeProgram(surroundings.notifier)
        throw .fault(NotificationText.notInstalled(surroundings.notifier.bytes))
    }
}
