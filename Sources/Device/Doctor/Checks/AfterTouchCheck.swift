// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Configuration
import LoginMessages
import LoginProtocol

/// Checks which modules ask by themselves after a touch has been accepted, or leave closed what
/// the login password opens.
///
/// It follows the touch through the `auth` stack, and through `account` and `session`. A module is
/// reported only if its file exists and, where that can be told, something is set up for it.
struct AfterTouchCheck {
    let stacks: ServiceStacks
    let keyring: KeyringLineCheck
    let files: MachineFiles
    private let directory: String

    init(_ stacks: ServiceStacks, keyring: KeyringLineCheck, files: MachineFiles) {
        self.stacks = stacks
        self.keyring = keyring
        self.files = files
        directory = files.moduleDirectory()
    }

    /// Services that have `auth` lines, and never run them.
    private static let without: Set<String> = ["cron", "crond", "atd"]

    func remarks(on service: String) -> [StackRemark] {
        let chain = stacks.chain(of: service, type: .auth)
        // With the lines of `other`, it is one of those that ask for nothing.
        guard chain.files.contains(service), !Self.without.contains(service) else { return [] }
        let runs = chain.touches(in: service, isInstalled: isInstalled)
        guard !runs.isEmpty else { return [] }
        let calls = chain.callsAfterTouch(in: runs, mayRelease: keyring.lists(service))
            .filter { chain.handlers[$0.index].module != "pam_systemd_home" || hasManagedHomes }
            .sorted { ($0.index, $0.isReleased ? 1 : 0) < ($1.index, $1.isReleased ? 1 : 0) }
        var remarks: [StackRemark] = []
        var asked: Set<Int> = []
        for call in calls
        where call.lack == .asks && !call.isSupplied && asked.insert(call.index).inserted {
            remarks.append(prompt(by: chain.handlers[call.index], isReleased: call.isReleased))
        }
        let called = calls.map { (chain.handlers[$0.index], $0) }
        remarks += volumeRemarks(on: service, after: called)
        guard keyring.isForLogins(service) else { return remarks }
        remarks += homeRemarks(on: service, after: called)
        let released = Set(calls.filter(\.isReleased).map(\.index))
        let supplied = Set(calls.filter(\.isSupplied).map(\.index))
        for (index, line) in chain.handlers.enumerated()
        where isClosed(line) && !supplied.contains(index) {
            remarks.append {
                released.contains(index)
                    ? Self.closedWithoutKeyring($0, line: line) : Self.closed($0, line: line)
            }
        }
        return remarks
    }

    private typealias Called = [(line: Handler, call: CallAfterTouch)]

    private func prompt(by line: Handler, isReleased: Bool) -> StackRemark {
        let isNeeded = stacks.services.contains { self.isNeeded(on: $0) }
        if isReleased { return { Self.withoutKeyring($0, line: line) } }
        return switch line.module {
        case "pam_mount":
            { Self.mount($0, line: line, prompt: "pam_mount password:", isNeeded: isNeeded) }
        case _ where line.role == .password: { Self.password($0, line: line) }
        default: { Self.prompt($0, line: line) }
        }
    }

    /// Remarks on pam_mount in a session, which asks again for volumes if its `auth` line has kept
    /// no password.
    private func volumeRemarks(on service: String, after calls: Called) -> [StackRemark] {
        let hasKept = calls.contains {
            $0.line.module == "pam_mount" && ($0.call.lack == .asks || $0.call.isSupplied)
        }
        guard !hasKept, hasVolumes else { return [] }
        let isReleased = calls.contains { $0.line.module == "pam_mount" && $0.call.isReleased }
        let isNeeded = stacks.services.contains { self.isNeeded(on: $0) }
        return lines(of: "pam_mount", in: [.session], on: service).filter(\.isInteractive).map {
            line in
            isReleased
                ? { Self.withoutKeyring($0, line: line) }
                : {
                    Self.mount(
                        $0, line: line, prompt: "reenter password for pam_mount:",
                        isNeeded: isNeeded)
                }
        }
    }

    /// Whether a line takes the password that pam_mount asks for, and no line before pam_mount asks:
    /// if pam_mount stopped asking, no line would ask, and no password would work.
    private func isNeeded(on service: String) -> Bool {
        let lines = stacks.chain(of: service, type: .auth).handlers
        guard let place = lines.firstIndex(where: { $0.module == "pam_mount" }) else {
            return false
        }
        let takes = lines[place...].contains { line in
            line.module != "pam_mount"
                && line.options.contains { ["use_first_pass", "force_first_pass"].contains($0) }
        }
        return takes && !lines[..<place].contains(where: \.suppliesPassword)
    }

    /// Remarks on pam_systemd_home, which asks wherever it is called first while a home is closed.
    private func homeRemarks(on service: String, after calls: Called) -> [StackRemark] {
        guard hasManagedHomes, !calls.contains(where: { $0.line.module == "pam_systemd_home" })
        else { return [] }
        let lines = lines(of: "pam_systemd_home", in: [.account, .session], on: service)
        let stack = stacks.files.place(of: service)
        return lines.prefix(1).map { line in { Self.home($0, line: line, stack: stack) } }
    }

    private func lines(
        of module: String, in types: [StackType], on service: String
    ) -> [Handler] {
        types.flatMap { type in
            let chain = stacks.chain(of: service, type: type)
            return chain.calls(in: service, isInstalled: isInstalled).sorted()
                .map { chain.handlers[$0] }.filter { $0.module == module && isInstalled($0.path) }
        }
    }

    /// Whether a line leaves something closed that is set up on this machine.
    private func isClosed(_ line: Handler) -> Bool {
        guard line.passwordLack == .leavesClosed, isInstalled(line.path) else { return false }
        return switch line.module {
        case "pam_mount": hasVolumes
        case "pam_fscrypt": files.exists("/etc/fscrypt.conf")
        default: true
        }
    }
}

extension AfterTouchCheck {
    private func isInstalled(_ path: String) -> Bool {
        files.exists(path.hasPrefix("/") ? path : "\(directory)/\(path)", following: true)
    }

    /// Whether pam_mount has a volume for anyone, or lets users have theirs.
    private var hasVolumes: Bool {
        var text = String(
            decoding: files.read("/etc/security/pam_mount.conf.xml") ?? [], as: UTF8.self)[...]
        while let start = text.firstRange(of: "<!--") {
            let shown = text[..<start.lowerBound]
            if shown.contains("<volume") || shown.contains("<luserconf") { return true }
            let end = text[start.upperBound...].firstRange(of: "-->")
            text = end.map { text[$0.upperBound...] } ?? ""
        }
        return text.contains("<volume") || text.contains("<luserconf")
    }

    /// Whether systemd-homed has an account here; only root can see it.
    private var hasManagedHomes: Bool {
        files.names("/var/lib/systemd/home").contains { $0.hasSuffix(".identity") }
    }
}

extension AfterTouchCheck {
    /// pam_mount asks, and has an option against that.
    private static func mount(
        _ services: Bytes, line: Handler, prompt: String, isNeeded: Bool
    ) -> Finding {
        Finding(
            "prompt-after-touch", level: .warning, area: .stacks, subject: services,
            what: "\(services): after each touch, pam_mount asks '\(prompt)' (\(line.place.shown))",
            why: isNeeded
                ? """
                a touch gives it no password, and another line takes the password that it asks for. \
                Let a line before pam_mount ask for the password, such as pam_unix without \
                'use_first_pass', and only then add 'disable_interactive': otherwise no password works
                """
                : """
                a touch gives it no password. Add 'disable_interactive' to its lines for 'auth' \
                and 'session': volumes are then mounted only when the password was typed or, at \
                login, released by a touch ('signet enable --keyring')
                """,
            mend: isNeeded ? Remedy.edit(line.place) : Remedy.silenceMount(line))
    }

    /// A module asks, and has no option against that.
    private static func prompt(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "prompt-after-touch", level: .warning, area: .stacks, subject: services,
            what: """
                \(services): after each touch, \(line.module) asks for a password \
                (\(line.place.shown))
                """,
            why: """
                a touch gives it no password. Make a touch skip this line; in a service that logs \
                users in, you can instead add 'keyring' to pam_signet's line, list the service in \
                keyring.services, and have users run 'signet enable --keyring'
                """,
            mend: Remedy.edit(line.place))
    }

    /// A module that checks passwords is reached although the touch is enough.
    private static func password(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "prompt-after-touch", level: .warning, area: .stacks, subject: services,
            what: """
                \(services): a touch is enough, but \(line.module) then asks for a password \
                (\(line.place.shown))
                """,
            why: """
                the touch leads to this line, and a wrong answer changes nothing. Make a touch \
                skip it. Only where another line before it asks for the password, you can instead \
                give it the option with which it never asks: 'force_first_pass' for pam_krb5, \
                'use_first_pass' for others
                """,
            mend: Remedy.edit(line.place))
    }

    /// A module asks accounts whose touch releases no password.
    private static func withoutKeyring(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "prompt-without-keyring", level: .note, area: .stacks, subject: services,
            what: """
                \(services): after a touch, \(line.module) asks accounts that have not run \
                'signet enable --keyring' for a password (\(line.place.shown))
                """,
            why: """
                a touch gives it the login password only for accounts that have stored theirs. \
                Have the others run the command, or make a touch skip this line
                """,
            mend: "signet enable --keyring # each user")
    }

    /// systemd-homed opens no home after a touch.
    private static func home(
        _ services: Bytes, line: Handler, stack: StackPosition
    ) -> Finding {
        Finding(
            "home-after-touch", level: .warning, area: .stacks, subject: services,
            what: """
                \(services): after a touch, pam_systemd_home asks for the password of an account \
                whose home is closed (\(line.place.shown))
                """,
            why: """
                systemd-homed opens a home only with its password, and a touch skips the line that \
                would pass it on. In a service that logs users in, put 'auth optional \
                pam_systemd_home.so' at the end of the 'auth' lines, 'keyring' on pam_signet's \
                line, and have these users run 'signet enable --keyring'
                """,
            mend: Remedy.edit(stack))
    }

    /// A directory stays closed after a touch, but for accounts that have stored their password.
    private static func closedWithoutKeyring(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "closed-after-touch", level: .note, area: .stacks, subject: services,
            what: """
                \(services): a touch opens what \(line.module) opens with the password only for \
                accounts that have run 'signet enable --keyring' (\(line.place.shown))
                """,
            why: """
                the others find their files closed after a touch. Have them run the command, or log \
                in with the password
                """,
            mend: "signet enable --keyring # each user")
    }

    /// A directory stays closed after a touch.
    private static func closed(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "closed-after-touch", level: .note, area: .stacks, subject: services,
            what: """
                \(services): a touch does not open what \(line.module) opens with the password \
                (\(line.place.shown))
                """,
            why: """
                users find their files closed, and have to log in with the password. Make a touch \
                lead to this line, add 'keyring' to pam_signet's line, list the service in \
                keyring.services, and have users run 'signet enable --keyring'
                """,
            mend: Remedy.edit(line.place))
    }
}
