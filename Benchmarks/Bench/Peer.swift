// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// In what state a daemon is when an application authenticates.
enum Situation {
    /// It runs and is idle.
    case running
    /// It does not run; the call starts it.
    case startedByCall
    /// It does not run and nothing starts it.
    case absent
}

/// A way to stay out while the daemon runs.
enum Refusal: String, CaseIterable {
    // First, since each of the others lifts the lockout.
    case lockedOut = "locked out"
    case notEnrolled = "nothing enrolled"
    case remote = "remote session"
    case background = "no terminal and no seat"
    case listed = "kept out by a list"
    case root = "root, kept out by default"
    case lidClosed = "lid closed"
    case otherSeat = "reader at another seat"
    case noReader = "no reader"
}

/// An authentication that is to be declined.
struct Declined {
    let service: String
    let account: Account
    var environment: [String: String] = [:]
    /// What goes before the application.
    var wrapper: [String] = []
    /// Where the application runs.
    var place = FixturePlace.session(of: nil)
}

/// One of the two that are compared: a PAM module and its daemon, on a virtual reader of its own.
/// HostFixture.alice has a finger enrolled, HostFixture.bob has none.
protocol Peer: AnyObject {
    /// How the table calls it.
    var name: String { get }
    /// The PAM service whose only authentication module is the peer's, with a timeout of 10 s.
    var service: String { get }
    /// The module's path in the fixture.
    var module: String { get }
    /// What a message has in it that asks for the finger; others may come before it.
    var asking: String { get }

    /// Brings the daemon into a state; returns the environment that the application needs for it.
    func arrange(_ situation: Situation) throws -> [String: String]
    /// Sees to it that an authentication is declined; one that the peer does not decline stands for
    /// one of an account without a finger.
    func arrange(_ refusal: Refusal) throws -> Declined
    /// The daemon's processes as the machine sees them, first the one that decides.
    func daemons() throws -> [Int32]
    /// Called after each prompt: a virtual reader's own storage is lost with its daemon, so the
    /// enrolled print is put back there.
    func prompted() throws
    /// A touch of the enrolled finger; returns CLOCK_MONOTONIC (ns) from before it was sent.
    func touch() throws -> Int64
    /// Takes a finger off that a played reader has.
    func lift() throws
    /// Ends the daemon at once, also when it is stopped.
    func kill() throws
}

/// Why a figure has no value.
enum BenchFault: Error, CustomStringConvertible {
    case unexpected(String)

    var description: String {
        switch self {
        case .unexpected(let text): text
        }
    }
}
