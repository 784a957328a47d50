// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol

/// Checks whether the right password authenticates where no touch does, and whether less than that
/// does.
///
/// It judges all runs of a service's stack: after each code of pam_signet other than success, the
/// right password must be sufficient, and nothing else may be.
struct PasswordLoginCheck {
    let runs: StackRuns
    /// The service's own file.
    let stack: StackPosition
    /// The file that contains pam_signet's line.
    let file: StackPosition
    /// Whether the service runs alongside another one that asks for the password.
    let isForFingers: Bool
    /// Whether the settings permit the service to request a touch.
    let isOffered: Bool

    /// Services of programs that show only a password field, and nothing else until PAM returns.
    private static let passwordFields: Set<String> = [
        "gdm-password", "lightdm", "sddm", "plasmalogin", "greetd", "cosmic-greeter", "kde",
        "i3lock", "swaylock", "hyprlock",
    ]

    func remarks() -> [StackRemark] {
        let (file, stack, handlers) = (file, stack, runs.chain.handlers)
        let unasked = runs.unaskedPasswords
        var remarks: [StackRemark] = unasked.map { index in
            { Self.unasked($0, line: handlers[index]) }
        }
        remarks += runs.shadowedPasswords.filter { !unasked.contains($0.module) }.map { shadow in
            { Self.shadowed($0, module: handlers[shadow.module].module, by: handlers[shadow.by]) }
        }
        if runs.touchesBeforePassword, Self.passwordFields.contains(stack.file), isOffered {
            remarks.append { Self.typingBlocked($0, stack: stack) }
        }
        let hasPassword = handlers.contains { $0.role == .password }
        if hasPassword {
            remarks += lostRemarks()
        } else if !isForFingers {
            remarks.append { Self.noPassword($0, file: file) }
        }
        let open = (StackRuns.refusals + [.convErr]).filter { code in
            runs.runs(code, knowsPassword: false).contains(where: \.isAccepted)
        }
        if !open.isEmpty { remarks.append { Self.open($0, codes: Self.list(open), file: file) } }
        return remarks
    }

    /// Remarks on the codes of pam_signet after which the right password does not authenticate.
    private func lostRemarks() -> [StackRemark] {
        let file = file
        let lost = StackRuns.refusals.filter { runs.runs(welcoming: $0).isEmpty }
        if lost.contains(.authinfoUnavail) { return [{ Self.unreachable($0, file: file) }] }
        let mismatches = lost.filter(StackRuns.mismatches.contains)
        let faults = lost.filter(StackRuns.faults.contains)
        var remarks: [StackRemark] = []
        if !mismatches.isEmpty {
            remarks.append { Self.lostAfterMismatch($0, codes: Self.list(mismatches), file: file) }
        }
        if !faults.isEmpty {
            remarks.append { Self.lostAfterFault($0, codes: Self.list(faults), file: file) }
        }
        return remarks
    }

    /// Returns the names of codes, in the order of their numbers.
    private static func list(_ codes: [PAMReturnCode]) -> String {
        codes.sorted { $0.rawValue < $1.rawValue }.map(\.constant).joined(separator: ", ")
    }
}

extension StackRuns {
    /// The indices of modules that only use an existing password, but are reached without one while
    /// no finger is available.
    fileprivate var unaskedPasswords: [Int] {
        let handlers = chain.handlers
        return chain.indices(of: .password).filter { index in
            guard handlers[index].onlyTakesPassword else { return false }
            let reaching = withoutFinger.compactMap { run -> ArraySlice<StackCall>? in
                let before = run.calls.prefix { $0.index != index }
                guard before.count < run.calls.count else { return nil }
                // Accounts of a directory are not in this machine's own files.
                let isLocal = before.contains {
                    handlers[$0.index].module == "pam_localuser" && $0.code == .success
                }
                return isLocal && !handlers[index].isLocalPassword ? nil : before
            }
            return !reaching.isEmpty
                && reaching.allSatisfy { calls in !calls.contains { handlers[$0.index].mayAsk } }
        }
    }

    /// The modules whose accounts an earlier module rejects before they are asked, each with that
    /// earlier one.
    ///
    /// Only pairs in which exactly one module is pam_sss are considered.
    fileprivate var shadowedPasswords: [(module: Int, by: Int)] {
        let handlers = chain.handlers
        let passed = runs(welcoming: .authinfoUnavail)
        guard !passed.isEmpty else { return [] }
        // An account is either sssd's or not, so a path on which both kinds succeed is impossible.
        let accepted = Set(
            passed.map { run in
                run.calls.filter { $0.code == .success }.map(\.index)
                    .filter { handlers[$0].role == .password }
            }.filter { calls in Set(calls.map { handlers[$0].isSSSD }).count == 1 }.joined())
        let passwords = chain.indices(of: .password)
        return passwords.filter { !accepted.contains($0) }.compactMap { index in
            let other = passwords.first { before in
                before < index && handlers[before].fails(on: .userUnknown)
                    && handlers[before].isSSSD != handlers[index].isSSSD
            }
            return other.map { (index, $0) }
        }
    }

    /// Whether pam_signet waits for a finger before any password is asked for.
    fileprivate var touchesBeforePassword: Bool {
        guard let first = chain.indices(of: .signet).first,
            // With `prompt=together` but no terminal, the module does not wait.
            !chain.handlers[first].options.contains("prompt=together"),
            !chain.handlers[first].waitsBriefly
        else { return false }
        return withoutFinger.contains { run in
            let before = run.calls.prefix { $0.index != first }
            return before.count < run.calls.count
                && !before.contains { chain.handlers[$0.index].role == .password }
        }
    }

    /// The runs of a user who knows the password, while no finger is available.
    private var withoutFinger: [StackResult] { runs(.authinfoUnavail, knowsPassword: true) }
}

extension Handler {
    fileprivate var isSSSD: Bool { module == "pam_sss" }

    /// Whether the line has a timeout so short that it was chosen for a program without a prompt.
    fileprivate var waitsBriefly: Bool {
        options.contains { option in
            guard option.hasPrefix("timeout="), let seconds = Int(option.dropFirst(8)) else {
                return false
            }
            return seconds <= 10
        }
    }
}

extension PasswordLoginCheck {
    /// The password does not authenticate when the finger cannot.
    private static func unreachable(_ services: Bytes, file: StackPosition) -> Finding {
        Finding(
            "password-unreachable", level: .danger, area: .stacks, subject: services,
            what: """
                \(services): when no touch can be requested, the correct password is not accepted
                """,
            why: """
                without a reader, an enrolled finger or the daemon, all users are locked out. Set \
                pam_signet's control to [success=done conv_err=die default=ignore], and put the \
                line before the password lines
                """,
            mend: Remedy.edit(file))
    }

    /// No module asks for a password.
    private static func noPassword(_ services: Bytes, file: StackPosition) -> Finding {
        Finding(
            "no-password", level: .danger, area: .stacks, subject: services,
            what: "\(services): no module in this stack asks for a password",
            why: """
                if the reader fails, all users are locked out. Put '@include common-auth' after \
                pam_signet's line
                """,
            mend: Remedy.edit(file))
    }

    /// Neither finger nor password is needed.
    private static func open(_ services: Bytes, codes: String, file: StackPosition) -> Finding {
        Finding(
            "stack-open", level: .danger, area: .stacks, subject: services,
            what: """
                \(services): login succeeds with neither finger nor password when pam_signet \
                returns \(codes)
                """,
            why: """
                anyone can log in. After a 'sufficient' or 'done' line, the stack has to end with \
                a line that fails, such as pam_deny.so
                """,
            mend: Remedy.edit(file))
    }

    /// After a fault of the module, the password does not authenticate.
    private static func lostAfterFault(
        _ services: Bytes, codes: String, file: StackPosition
    ) -> Finding {
        Finding(
            "password-lost-after-fault", level: .fault, area: .stacks, subject: services,
            what: """
                \(services): after pam_signet returns \(codes), the correct password is not \
                accepted
                """,
            why: """
                a mistyped option or a missing module locks all users out. Add default=ignore to \
                pam_signet's control
                """,
            mend: Remedy.edit(file))
    }

    /// After a wrong finger, the password does not authenticate.
    private static func lostAfterMismatch(
        _ services: Bytes, codes: String, file: StackPosition
    ) -> Finding {
        Finding(
            "password-lost-after-mismatch", level: .warning, area: .stacks, subject: services,
            what: """
                \(services): after pam_signet returns \(codes), the correct password is not \
                accepted
                """,
            why: """
                users whose finger is wet or injured have to start the login again to use the \
                password. Add default=ignore to pam_signet's control
                """,
            mend: Remedy.edit(file))
    }

    /// A module uses a password that neither it nor any module before it asks for.
    private static func unasked(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "password-unasked", level: .danger, area: .stacks, subject: services,
            what: """
                \(services): \(line.module) uses only a password that was already entered, but \
                there is none (\(line.place.shown))
                """,
            why: """
                with 'use_first_pass', \(line.module) never asks for a password, and no module \
                before it asks when no touch can be requested: its accounts are then locked out. \
                Remove the option
                """,
            mend: Remedy.edit(line.place))
    }

    /// A password module rejects the accounts of another one.
    private static func shadowed(
        _ services: Bytes, module: String, by other: Handler
    ) -> Finding {
        Finding(
            "password-shadowed", level: .danger, area: .stacks, subject: services,
            what: """
                \(services): \(other.module) rejects the accounts of \(module) before that module \
                is called (\(other.place.shown))
                """,
            why: """
                without a finger, those accounts are locked out. Make the control of \
                \(other.module) 'sufficient', and end the stack with a line that fails
                """,
            mend: Remedy.edit(other.place))
    }

    /// A program whose password field accepts nothing while it waits for the finger.
    private static func typingBlocked(_ services: Bytes, stack: StackPosition) -> Finding {
        let isGDM = stack.file == "gdm-password"
        return Finding(
            "typing-blocked", level: .warning, area: .stacks, subject: services,
            what: "\(services): no password can be typed while the program waits for a touch",
            why: isGDM
                ? """
                GDM shows one prompt at a time here, and has the service gdm-fingerprint for the \
                finger. Turn fingerprint login off for this service: 'services = !gdm-password' \
                below [login] in signet.conf, or use the lines of common-auth without pam_signet's
                """
                : """
                this program shows one prompt at a time. Put the password lines first, as \
                share/doc/signet/examples/lightdm and i3lock do, or turn fingerprint login off for \
                this service: 'services = !\(services)' below [login] in signet.conf
                """,
            mend: Remedy.edit(stack))
    }
}
