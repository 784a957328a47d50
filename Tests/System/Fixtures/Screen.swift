// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A real X server without a screen, at which alice presses keys.
struct Screen {
    private let host: HostFixture
    private let server: TestSupport.Program
    /// Where no user's own X server is looked for.
    private static let display = ":4242"

    /// What alice's programs need to find it.
    static let environment = ["DISPLAY": display]

    init(on signet: SignetFixture) throws {
        host = signet.host
        try signet.shell("install -d -m 1777 /tmp/.X11-unix")
        // No abstract socket: that one would be the machine's.
        server = try host.start([
            "Xvfb", Self.display, "-displayfd", "1", "-nolisten", "tcp", "-nolisten", "local",
            "-ac",
        ])
        try server.expect("\n")
    }

    /// Waits until a window of this name is shown.
    func expectWindow(_ name: String) throws {
        try drive(["search", "--sync", "--onlyvisible", "--name", name])
    }

    /// Presses keys as a person does, by the names that X has for them.
    func press(_ keys: String...) throws { try drive(["key", "--delay", "0"] + keys) }

    /// Types a line.
    func type(_ line: String) throws {
        try drive(["type", "--delay", "0", line])
        try press("Return")
    }

    private func drive(_ arguments: [String]) throws {
        try host.run(
            ["xdotool"] + arguments, as: HostFixture.alice, environment: Self.environment)
    }
}
