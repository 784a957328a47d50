// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// Findings about settings that allow a touch where the default refuses one: what they allow.
extension Finding {
    /// `login.others` is not `refuse`.
    package static func othersAllowed(_ setting: Bytes) -> Finding {
        Finding(
            .othersAllowed, setting,
            "\(setting): users may ask for the fingerprint of another account, as su and doas do",
            why: """
                a touch that is meant for something else can open your account to the user who \
                asks. The prompt names that user: read it before you touch. The default is 'refuse'
                """,
            mend: editSettings)
    }

    /// `login.without-logind` is `any`, and there is no logind.
    package static func anyoneAllowed(_ setting: Bytes) -> Finding {
        Finding(
            .anyoneAllowed, setting,
            "\(setting): without logind every program may ask for a touch, also for remote users",
            why: """
                cron jobs, services and ssh sessions can take a touch of the user at the machine. \
                Set it to 'consoles', or run systemd-logind
                """,
            mend: editSettings)
    }

    /// `login.without-logind` is `terminals`, and there is no logind.
    package static func terminalsAllowed(_ setting: Bytes) -> Finding {
        Finding(
            .terminalsAllowed, setting,
            "\(setting): without logind every program with a terminal may ask for a touch",
            why: """
                ssh sessions have terminals, and script(1) makes one for any program: a terminal \
                does not show that its user is at the machine. The default is 'consoles'
                """,
            mend: editSettings)
    }

    /// `login.without-seat` is `allow`.
    package static func seatlessAllowed(_ setting: Bytes) -> Finding {
        Finding(
            .seatlessAllowed, setting,
            "\(setting): sessions that are not at a seat may ask for a touch",
            why: """
                serial consoles, containers and remote desktops that logind takes for local can \
                take a touch of the user at the reader. The default is 'refuse'
                """,
            mend: editSettings)
    }
}
