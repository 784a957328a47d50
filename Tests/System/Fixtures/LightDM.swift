// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// Real lightdm in a fixture, with Xvfb for its X server and Tests/HostFixture/greeter.pl for its greeter.
struct LightDM {
    private let bus: TestSupport.Program
    private let manager: TestSupport.Program
    /// What greeter and session say.
    let said: TestSupport.Program
    private let signet: SignetFixture

    /// Starts it; `seat` is more of its configuration.
    init(on signet: SignetFixture, seat: String = "") throws {
        self.signet = signet
        let host = signet.host
        try signet.addSystemAccounts("messagebus", "lightdm")
        try Self.configure(signet, seat)
        bus = try signet.startBus()
        // Open for both, so that neither a greeter nor a session ends it.
        said = try host.start(["sh", "-c", "exec cat 0<>/run/greeter/said"])
        try host.show(.greeter)
        manager = try host.start(["lightdm", "--debug"], in: .unit("lightdm.service"))
    }

    /// Waits until the greeter or the session says this; a fault has what lightdm says.
    func expectSaid(_ text: String) throws {
        do {
            try said.expect(text)
        } catch {
            let greeter = try? signet.shell("cat /var/log/lightdm/*greeter.log")
            throw TestFault.closed(
                awaited: text, transcript: manager.errors + (greeter ?? ""))
        }
    }

    /// Waits until lightdm itself logs this.
    func expectLogged(_ text: String) throws { try manager.expectError(text) }

    private static func configure(_ signet: SignetFixture, _ seat: String) throws {
        let host = signet.host
        try signet.shell(
            """
            install -d -m 1777 /tmp/.X11-unix /run/greeter
            install -d -o lightdm -g lightdm /var/lib/lightdm /var/lib/lightdm/data
            usermod --home /var/lib/lightdm lightdm
            install -d /var/log/lightdm /var/cache/lightdm /var/lib/lightdm-data
            install -d /etc/lightdm/greeters /etc/lightdm/sessions
            mkfifo -m 666 /run/greeter/said /run/greeter/commands
            """)
        try host.write(
            "/etc/lightdm/lightdm.conf",
            """
            [LightDM]
            minimum-display-number=4242
            greeters-directory=/etc/lightdm/greeters
            sessions-directory=/etc/lightdm/sessions
            [Seat:*]
            xserver-command=/usr/local/bin/screenless
            greeter-session=host
            user-session=host
            session-wrapper=/usr/bin/env
            \(seat)

            """)
        for (kind, program) in [("greeters", "greeter"), ("sessions", "desktop")] {
            try host.write(
                "/etc/lightdm/\(kind)/host.desktop",
                "[Desktop Entry]\nType=Application\nName=host\nExec=/usr/local/bin/\(program)\n")
        }
        try host.install(
            "\(Layout.package)/Tests/HostFixture/greeter.pl", at: "/usr/local/bin/greeter")
        try host.write(
            "/usr/local/bin/desktop",
            "#!/bin/sh\necho \"session of $(id -un)\" >/run/greeter/said\nexec sleep 1000\n",
            mode: 0o755)
        // What lightdm says to X about the virtual terminal is nothing for Xvfb.
        try host.write(
            "/usr/local/bin/screenless",
            """
            #!/bin/sh
            display=$1 auth=
            while [ $# -gt 0 ]; do
                if [ "$1" = -auth ]; then auth=$2; fi
                shift
            done
            exec Xvfb "$display" -auth "$auth" -nolisten tcp -nolisten local

            """, mode: 0o755)
    }
}
