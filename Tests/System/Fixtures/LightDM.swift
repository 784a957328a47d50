// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// Real lightdm on a stage, with Xvfb for its X server and Tests/Stage/greeter.pl for its greeter.
struct LightDM {
    private let bus: TestSupport.Program
    private let manager: TestSupport.Program
    /// What greeter and session say.
    let said: TestSupport.Program
    private let signet: SignetStage

    /// Starts it; `seat` is more of its configuration.
    init(on signet: SignetStage, seat: String = "") throws {
        self.signet = signet
        let stage = signet.stage
        try signet.addSystemAccounts("messagebus", "lightdm")
        try Self.configure(signet, seat)
        bus = try signet.startBus()
        // Open for both, so that neither a greeter nor a session ends it.
        said = try stage.start(["sh", "-c", "exec cat 0<>/run/greeter/said"])
        try stage.show(.greeter)
        manager = try stage.start(["lightdm", "--debug"], in: .unit("lightdm.service"))
    }

    /// Waits until the greeter or the session says this; a fault has what lightdm says.
    func expectSaid(_ text: String) throws {
        do {
            try said.expect(text, within: .seconds(20))
        } catch {
            let greeter = try? signet.shell("cat /var/log/lightdm/*greeter.log")
            throw TestFault.closed(
                awaited: text, transcript: manager.errors + (greeter ?? ""))
        }
    }

    /// Waits until lightdm itself logs this.
    func expectLogged(_ text: String) throws { try manager.expectError(text) }

    private static func configure(_ signet: SignetStage, _ seat: String) throws {
        let stage = signet.stage
        try signet.shell(
            """
            install -d -m 1777 /tmp/.X11-unix /run/greeter
            install -d -o lightdm -g lightdm /var/lib/lightdm /var/lib/lightdm/data
            usermod --home /var/lib/lightdm lightdm
            install -d /var/log/lightdm /var/cache/lightdm /var/lib/lightdm-data
            install -d /etc/lightdm/greeters /etc/lightdm/sessions
            mkfifo -m 666 /run/greeter/said /run/greeter/commands
            """)
        try stage.write(
            "/etc/lightdm/lightdm.conf",
            """
            [LightDM]
            minimum-display-number=4242
            greeters-directory=/etc/lightdm/greeters
            sessions-directory=/etc/lightdm/sessions
            [Seat:*]
            xserver-command=/usr/local/bin/screenless
            greeter-session=stage
            user-session=stage
            session-wrapper=/usr/bin/env
            \(seat)

            """)
        for (kind, program) in [("greeters", "greeter"), ("sessions", "desktop")] {
            try stage.write(
                "/etc/lightdm/\(kind)/stage.desktop",
                "[Desktop Entry]\nType=Application\nName=stage\nExec=/usr/local/bin/\(program)\n")
        }
        try stage.install(
            "\(Layout.package)/Tests/Stage/greeter.pl", at: "/usr/local/bin/greeter")
        try stage.write(
            "/usr/local/bin/desktop",
            "#!/bin/sh\necho \"session of $(id -un)\" >/run/greeter/said\nexec sleep 1000\n",
            mode: 0o755)
        // What lightdm says to X about the virtual terminal is nothing for Xvfb.
        try stage.write(
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
