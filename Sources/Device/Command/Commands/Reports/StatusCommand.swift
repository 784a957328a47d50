// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Doctor
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

/// `signet status`: shows whether fingerprint login works for an account, and what to do if not.
struct StatusCommand: Command {
    static let helpPosition = 10
    static let syntax = CommandSyntax(
        "status", summary: "show what works, what does not, and what to do now",
        options: [.account, .json])

    let run: Invocation

    /// Prints the status; throws `.said(.denied)` if fingerprint login does not work.
    func perform() throws(CommandFault) {
        let account = try run.account()
        let report = StatusReport(
            try status(of: account), module: run.environment.machine.moduleUse(),
            demands: run.environment.machine.serverDemands())
        let named = run.namedAccount
        run.say(report.document(naming: named), report.lines(naming: named))
        guard report.obstacles.isEmpty else { throw .said(.denied) }
    }

    /// Requests the status of an account.
    func status(of account: AccountName) throws(CommandFault) -> AccountStatus {
        var prints: [PrintAnswer] = []
        var readers: [ReaderAnswer] = []
        var servers: [ServerAnswer] = []
        var signing: SigningKeyAnswer?
        var status: StatusAnswer?
        try run.exchange(.status(account: account)).run { (answer) throws(CommandFault) in
            switch answer {
            case .print(let print): prints.append(print)
            case .reader(let reader): readers.append(reader)
            case .server(let server): servers.append(server)
            case .signingKey(let key): signing = key
            case .status(let answer):
                status = answer
                return .finished
            default: throw .fault(CommonMessages.unexpected)
            }
            return .goOn
        }
        guard let status, status.account == account else {
            throw .fault(CommonMessages.unexpected)
        }
        return AccountStatus(
            answer: status, prints: prints, readers: status.readersUnknown ? nil : readers,
            servers: status.serversUnknown ? nil : servers, signing: signing)
    }

    /// Requests why a login would be refused now; nil if it would not, or the daemon denies the
    /// request.
    func refusal(of account: AccountName) throws(CommandFault) -> Denial? {
        do throws(CommandFault) {
            return try status(of: account).answer.refusal
        } catch .denied { return nil }
    }
}

/// What the daemon reports of an account.
struct AccountStatus {
    let answer: StatusAnswer
    /// The prints, intact and damaged; none if they cannot be opened.
    let prints: [PrintAnswer]
    /// The readers; nil if the reader process does not answer.
    let readers: [ReaderAnswer]?
    /// The registrations at servers; nil if they could not be read.
    let servers: [ServerAnswer]?
    /// The signing key; nil if there is none, or it could not be read.
    let signing: SigningKeyAnswer?
}

extension StatusReport {
    fileprivate func lines(naming account: AccountName?) -> [Text] {
        var rows: [[Text]] = [
            [StatusMessages.account, "\(status.account)"],
            [StatusMessages.login, StatusMessages.login(status)],
        ]
        // The key may not open although its record says that it is valid.
        let isTold = status.refusal?.reason == .invalidated && status.state == .valid
        if let refusal = status.refusal, isTold || obstacles.contains(where: \.isToldByRefusal) {
            rows.append(["", refusal.text(account: status.account)])
        }
        if let setting = status.keptOut {
            rows.append(["", StatusText.keptOut(status.account, setting: setting)])
        }
        if isReplaced {
            let denial = Denial(.invalidated, cause: status.cause)
            rows.append(["", denial.text(account: status.account)])
        } else {
            rows.append([StatusMessages.fingers, StatusMessages.fingers(status)])
        }
        rows += damaged.map { ["", StatusMessages.damaged($0.finger)] }
        rows += unusable.map { ["", FingerMessages.unusable($0)] }
        if let secrets = status.secrets {
            rows.append([StatusMessages.secrets, StatusMessages.status(secrets)])
        }
        rows += continued(StatusMessages.servers, lines: (servers ?? []).map(ServerMessages.line))
        if let signing { rows.append([StatusMessages.signing, StatusMessages.line(signing)]) }
        let names = readers.map { readers in
            readers.isEmpty
                ? [StatusMessages.noReader]
                : readers.map { StatusMessages.reader(name: $0.name, readerID: $0.readerID) }
        }
        rows.append([StatusText.keyring, StatusText.keyring(status)])
        rows += continued(StatusMessages.readers, lines: names ?? [TableText.unknown])
        rows.append([StatusMessages.lock, StatusMessages.lock(status)])
        let users = module.services.joined(separator: ", ").text
        rows.append([StatusMessages.usedBy, module.isUnused ? StatusMessages.unused : users])
        rows += module.missing.map { path, services in
            [
                "",
                StatusMessages.moduleMissing(
                    services.joined(separator: ", ").bytes, path: path.bytes),
            ]
        }
        rows += serverTroubles.map { ["", text($0.demand, trouble: $0.trouble)] }
        rows += [
            [StatusMessages.service, StatusMessages.service(status.program)],
            [StatusMessages.vault, "\(status.vault)"],
            [StatusMessages.device, "\(status.device.hexadecimal)"],
        ]
        if let fault = status.configurationFault {
            rows += continued(
                StatusMessages.configuration,
                lines: [
                    status.refusal?.reason == .settingsNotUnderstood
                        ? StatusMessages.nothingInForce(fault) : StatusMessages.refused(fault),
                    StatusMessages.checkHint,
                ])
        }
        if let elsewhere = status.elsewhere {
            rows += continued(
                StatusMessages.here,
                lines: [elsewhere.text(account: status.account), StatusMessages.elsewhere])
        }
        let verdict = StatusMessages.verdict(works: obstacles.isEmpty, account: status.account)
        let next = next.flatMap { StatusMessages.next($0, for: account) }
        return Table.lines(rows) + ["", verdict] + (next.map { [$0] } ?? [])
    }

    private func text(_ demand: ServerDemand, trouble: ServerDemand.Trouble) -> Text {
        let services = demand.serviceList
        switch (demand.target, trouble) {
        case (.mistake(let place), _):
            return StatusMessages.serverFile(services, place: place)
        case (.server(let url), .ended):
            return StatusMessages.registrationEnded(services, url: url, account: status.account)
        case (.server(let url), .notRegistered), (.server(let url), .file):
            return StatusMessages.notRegistered(services, url: url, account: status.account)
        }
    }

    private func continued(_ label: Text, lines: [Text]) -> [[Text]] {
        lines.enumerated().map { [$0.offset == 0 ? label : "", $0.element] }
    }

    private func document(
        _ demand: ServerDemand, trouble: ServerDemand.Trouble
    ) -> JSON {
        var server: ServerURL?
        if case .server(let url) = demand.target { server = url }
        return .object([
            ("trouble", .string(trouble.rawValue)),
            ("services", .array(demand.services.map { .string($0) })),
            ("server", .optional(server) { .bytes($0.bytes) }), ("file", .string(demand.file)),
        ])
    }

    fileprivate func document(naming account: AccountName?) -> JSON {
        .document(
            "status",
            members: [
                ("account", .bytes(status.account.bytes)), ("works", .bool(obstacles.isEmpty)),
                ("obstacles", .array(obstacles.map { .string($0.rawValue) })),
                (
                    "login",
                    .object([
                        ("state", .string(status.state.word)),
                        ("cause", .optional(status.cause) { .string($0.word) }),
                        ("since", .optional(status.since, JSON.instant)),
                    ])
                ),
                (
                    "fingers",
                    .object([
                        ("enrolled", .number(UInt64(status.prints))),
                        ("damaged", .number(UInt64(status.damaged))),
                        ("unusable", .array(unusable.map(\.document))),
                        ("closed", .optional(status.closed, JSON.bytes)),
                        ("generation", .number(status.generation)),
                    ])
                ),
                ("secrets", .number(UInt64(status.secrets ?? 0))),
                ("servers", .optional(servers) { .array($0.map(\.document)) }),
                ("signing", .optional(signing, \.status)),
                ("readers", .optional(readers) { .array($0.map(\.document)) }),
                (
                    "lock",
                    .object([
                        ("state", .string(status.lock.word)),
                        ("seconds", .optional(status.seconds) { .number(UInt64($0)) }),
                    ])
                ),
                ("keyring", .string(status.keyring.word)),
                ("services", .array(module.services.map { .string($0) })),
                (
                    "missingModules", .array(module.missing.map { .string($0.path) })
                ),
                ("refusal", .optional(status.refusal) { .string($0.reason.word) }),
                (
                    "refusalText",
                    .optional(status.refusal) { .bytes($0.text(account: status.account).bytes) }
                ),
                ("elsewhere", .optional(status.elsewhere) { .string($0.reason.word) }),
                ("next", .optional(next?.command(for: account), JSON.bytes)),
                ("serverTroubles", .array(serverTroubles.map(document))),
                ("program", .bytes(status.program)), ("vault", .bytes(status.vault)),
                ("device", .bytes(status.device.hexadecimal)),
                ("keptOut", .optional(status.keptOut, JSON.bytes)),
                ("configurationFault", .optional(status.configurationFault, JSON.bytes)),
            ])
    }
}

extension Obstacle {
    /// Whether only the text of the refusal explains this obstacle.
    fileprivate var isToldByRefusal: Bool {
        switch self {
        case .lidClosed, .vault, .settings, .refused, .readerAway, .printLost, .elsewhere: true
        case .noFinger, .off, .invalidated, .damaged, .closed, .locked, .noReader, .unused,
            .moduleMissing, .keptOut, .notRegistered, .registrationEnded, .serverFile:
            false
        }
    }
}

/// The lines of `signet status`.
enum StatusMessages {
    /// The start of the line: whose status it is.
    static let account: Text = "account"
    /// The start of the line: whether fingerprint login is on.
    static let login: Text = "login"
    /// The start of the line: how many fingers.
    static let fingers: Text = "fingers"
    /// The start of the line: how many secrets the fingers open.
    static let secrets: Text = "secrets"
    /// The start of the lines: the servers at which the account is registered.
    static let servers: Text = "servers"
    /// The start of the line: the key that signs files and challenges.
    static let signing: Text = "signing"
    /// The start of the line: the readers.
    static let readers: Text = "readers"
    /// The start of the line: whether the finger is locked out.
    static let lock: Text = "lockout"
    /// The start of the line: which PAM services use the module.
    static let usedBy: Text = "used by"
    /// The start of the line: the daemon.
    static let service: Text = "service"
    /// The start of the line: the vault that contains the key.
    static let vault: Text = "vault"
    /// The start of the line: this machine's id.
    static let device: Text = "device"
    /// The start of the line: where root asks from.
    static let here: Text = "here"
    /// After the reason why no touch is accepted where root is.
    static let elsewhere: Text =
        "the rest of this report is about a login at the machine, because root asks"
    /// The start of the line: the mistake in the configuration.
    static let configuration: Text = "settings"
    /// Whether fingerprint login is on, and why not.
    static func login(_ status: StatusAnswer) -> Text {
        switch status.state {
        case .valid: since(status).map { "on since \($0)" } ?? "on"
        case .none where status.prints == 0: "off: no finger is enrolled"
        case .none: "off: it was never turned on"
        case .disabled:
            since(status).map { "off since \($0): it was turned off" } ?? "off: it was turned off"
        case .invalidated:
            since(status).map { "off since \($0): \(StatusText.cause(status))" }
                ?? "off: \(StatusText.cause(status))"
        }
    }

    private static func since(_ status: StatusAnswer) -> Text? { status.since.map(Text.date) }
    /// How many fingers.
    static func fingers(_ status: StatusAnswer) -> Text {
        let enrolled: Text =
            switch status.prints {
            case 0: "none"
            case 1: "1 enrolled"
            default: "\(number: status.prints) enrolled"
            }
        if let why = status.closed {
            return "\(enrolled), but they cannot be opened now: \(detail: why)"
        }
        guard status.damaged > 0 else { return enrolled }
        return "\(enrolled), \(number: status.damaged) damaged"
    }

    /// A damaged print, and what to do.
    static func damaged(_ finger: Finger?) -> Text {
        guard let finger else {
            return "one is damaged, and it is unknown which finger it is"
        }
        return """
            \(finger.name.bytes) is damaged: enrol it again, or delete it with 'signet delete \
            \(finger.name.bytes)'
            """
    }

    /// Whether failed scans have locked the finger.
    static func lock(_ status: StatusAnswer) -> Text {
        switch status.lock {
        case .open: "none"
        case .forNow:
            """
            for another \(number: status.seconds ?? 0) s: too many failed scans. Wait, or use the \
            password
            """
        case .untilPassword:
            """
            until the password is entered: too many failed scans. Log in with the password, or run \
            'signet unlock'
            """
        }
    }

    /// Which readers there are.
    static func reader(name: Bytes, readerID: Bytes) -> Text { "\(name) (\(readerID))" }
    /// There is no reader.
    static let noReader: Text =
        "none found. Is one plugged in, and supported by libfprint?"

    /// A service's stack names the module, but libpam does not find it.
    static func moduleMissing(_ services: Bytes, path: Bytes) -> Text {
        "\(services): no touch is accepted, because the module \(path) does not exist"
    }

    /// A server must approve logins, and the account is not registered there.
    static func notRegistered(_ services: Bytes, url: ServerURL, account: AccountName)
        -> Text
    {
        """
        \(services): no touch is accepted, because \(url) must approve it, and \(account) is not \
        registered there. Run 'signet enable --server \(Shell.word(url.bytes))' with an \
        activation code
        """
    }

    /// A server must approve logins, and the key for it no longer exists.
    static func registrationEnded(
        _ services: Bytes, url: ServerURL, account: AccountName
    ) -> Text {
        """
        \(services): no touch is accepted, because \(url) must approve it, and the fingers have \
        changed since \(account) was registered there. Run 'signet enable --server \
        \(Shell.word(url.bytes))' with a new activation code
        """
    }

    /// A server must approve logins, but the file that names it cannot be used.
    static func serverFile(_ services: Bytes, place: Bytes) -> Text {
        """
        \(services): no touch is accepted, because a server must approve it, and the file that \
        names the server has a mistake or is missing: \(place). Run 'signet doctor'
        """
    }

    /// The program that answers.
    // Untranslated: the program's name.
    static func service(_ version: Bytes) -> Text { "signetd \(version)" }
    /// A configuration was refused, and earlier settings are in force.
    static func refused(_ fault: Bytes) -> Text {
        "not understood; the settings that were understood last are in force: \(fault)"
    }

    /// A configuration was refused, and there are no earlier settings.
    static func nothingInForce(_ fault: Bytes) -> Text {
        "not understood, so no touch is asked for: \(fault)"
    }

    /// After a refused configuration.
    static let checkHint: Text =
        """
        correct it, check it with 'signet config --check', and run 'systemctl try-restart signetd'
        """
    /// The last line: whether fingerprint login works.
    static func verdict(works: Bool, account: AccountName) -> Text {
        works
            ? "fingerprint login works for \(account)"
            : "fingerprint login does not work for \(account) now. The password works"
    }

    /// For `signet status`: how many secrets open with the enrolled fingers.
    static func status(_ count: UInt32) -> Text {
        count == 1 ? "1 opens with these fingers" : "\(number: count) open with these fingers"
    }

    /// In `signet status`: the key.
    static func line(_ key: SigningKeyAnswer) -> Text {
        switch key.state {
        case .good: "on since \(Text.date(key.since)): a touch signs files and challenges"
        case .invalidated, .removing:
            "the fingers have changed. Run 'signet enable --signing' to create another key"
        }
    }

    /// No PAM service names the module.
    static let unused: Text =
        "no service in /etc/pam.d uses pam_signet, so none asks for a touch"

    /// The next command to run.
    static func next(_ step: LoginStep, for account: AccountName?) -> Text? {
        guard let command = step.command(for: account) else { return nil }
        return step.isForRoot ? "next, run as root: \(command)" : "next, run: \(command)"
    }
}
