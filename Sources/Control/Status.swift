import Doctor
import Statement
import Texts
import Wire

/// What keeps fingerprint login from working; the raw value is for programs.
enum Obstacle: String {
    case noFinger = "no-finger"
    case off
    case invalidated
    case closed
    case locked
    case noReader = "no-reader"
    case unused
    case keptOut = "kept-out"
    case notRegistered = "not-registered"
    case registrationEnded = "registration-ended"
    case serverFile = "server-file"

    /// What a server's part in logins comes to.
    init(_ trouble: ServerDemand.Trouble) {
        switch trouble {
        case .notRegistered: self = .notRegistered
        case .ended: self = .registrationEnded
        case .file: self = .serverFile
        }
    }
}

/// How things stand for an account, from all that is asked.
struct Standing {
    let status: StatusAnswer
    let readers: [ReaderAnswer]
    let services: [String]
    /// Nil where that cannot be told.
    let servers: [ServerAnswer]?
    let signing: SigningKeyAnswer?
    /// What the stacks want of servers.
    let demands: ServerDemands

    /// Why no touch lets in at some services, though nothing else stood in the way.
    var serverTroubles: [(demand: ServerDemand, trouble: ServerDemand.Trouble)] {
        demands.demands(on: status.account).compactMap { demand in
            demand.trouble(servers).map { (demand, $0) }
        }
    }

    /// The same where it is so at all services.
    private var serverObstacles: [Obstacle] {
        let troubles = serverTroubles
        guard !troubles.isEmpty, !demands.areOpen(beside: troubles.map(\.demand)) else { return [] }
        var obstacles: [Obstacle] = []
        for obstacle in troubles.map({ Obstacle($0.trouble) }) where !obstacles.contains(obstacle) {
            obstacles.append(obstacle)
        }
        return obstacles
    }

    /// What keeps login from working, the first to be mended first.
    var obstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        if readers.isEmpty { obstacles.append(.noReader) }
        if status.prints == 0 { obstacles.append(.noFinger) }
        switch status.state {
        case .valid: break
        case .invalidated: obstacles.append(.invalidated)
        case .none, .disabled: obstacles.append(.off)
        }
        if status.closed != nil { obstacles.append(.closed) }
        if status.lock != .open { obstacles.append(.locked) }
        if services.isEmpty { obstacles.append(.unused) }
        if status.keptOut != nil { obstacles.append(.keptOut) }
        return obstacles + serverObstacles
    }
}

extension Invocation {
    /// `signet status`
    func status() throws(CommandFault) {
        let account = try account()
        let standing = Standing(
            status: try status(of: account), readers: try knownReaders(),
            services: PAMServices(directory: surroundings.pamDirectory).using("pam_signet.so"),
            servers: try knownServers(account), signing: try knownSigningKey(account),
            demands: surroundings.machine.serverDemands())
        say(standing.document, standing.lines)
        guard standing.obstacles.isEmpty else { throw .said(.denied) }
    }

    /// How things stand for an account.
    func status(of account: Bytes) throws(CommandFault) -> StatusAnswer {
        var status: StatusAnswer?
        try exchange(.status(account: account)).run { (answer) throws(CommandFault) in
            switch answer {
            case .status(let answer):
                status = answer
                return .finished
            case .notice, .assertion, .denial, .passwordWanted, .done, .print, .reader, .receipt,
                .signer, .setting, .chainHead, .secretPart, .secret, .vault, .secretWanted, .event,
                .importedPrint, .confirmed, .serverEnabled, .token, .server, .signed,
                .signingKey,
                .macToken, .authorization, .operation, .serverTrouble, .decided:
                throw .fault(CommandText.unexpected)
            }
        }
        guard let status, status.account == account else {
            throw .fault(CommandText.unexpected)
        }
        return status
    }

    /// The servers; nil where the daemon cannot tell, and other lines say why.
    func knownServers(_ account: Bytes) throws(CommandFault) -> [ServerAnswer]? {
        do throws(CommandFault) {
            return try servers(of: account)
        } catch .denied { return nil }
    }

    /// The signing key, if there is one that the daemon can tell of.
    private func knownSigningKey(_ account: Bytes) throws(CommandFault) -> SigningKeyAnswer? {
        do throws(CommandFault) {
            return try signingKey(of: account)
        } catch .denied { return nil }
    }

    /// The readers, none where the daemon denies because there is none.
    private func knownReaders() throws(CommandFault) -> [ReaderAnswer] {
        do throws(CommandFault) {
            return try readerAnswers()
        } catch .denied(let denial, _) where denial.reason == .noReader {
            return []
        }
    }
}

extension Standing {
    fileprivate var lines: [Text] {
        var rows: [[Text]] = [
            [CommandStatus.account, "\(status.account)"],
            [CommandStatus.login, CommandStatus.login(status)],
        ]
        if let way = CommandStatus.wayOn(status) { rows.append(["", way]) }
        if let setting = status.keptOut {
            rows.append(["", CommandStatus.keptOut(status.account, setting)])
        }
        rows.append([CommandStatus.fingers, CommandStatus.fingers(status)])
        if let secrets = status.secrets {
            rows.append([CommandStatus.secrets, CommandSecrets.status(secrets)])
        }
        rows += continued(CommandStatus.servers, (servers ?? []).map(CommandServers.line))
        if let signing { rows.append([CommandStatus.signing, CommandSigning.line(signing)]) }
        let names = readers.map { CommandStatus.reader(name: $0.name, readerID: $0.readerID) }
        rows.append([CommandStatus.keyring, CommandStatus.keyring(status)])
        rows += continued(CommandStatus.readers, names.isEmpty ? [CommandStatus.noReader] : names)
        rows.append([CommandStatus.lock, CommandStatus.lock(status)])
        let users = services.joined(separator: ", ").text
        rows += [
            [CommandStatus.usedBy, services.isEmpty ? CommandStatus.unused : users]
        ]
        rows += serverTroubles.map { ["", text($0.demand, $0.trouble)] }
        rows += [
            [CommandStatus.service, CommandStatus.service(status.program)],
            [CommandStatus.vault, "\(status.vault)"],
            [CommandStatus.device, "\(Hexadecimal.encode(status.device))"],
        ]
        if let fault = status.configurationFault {
            rows += continued(
                CommandStatus.configuration,
                [CommandStatus.refused(fault), CommandStatus.checkHint])
        }
        let verdict = CommandStatus.verdict(works: obstacles.isEmpty, account: status.account)
        return Table.lines(rows) + ["", verdict]
    }

    private func text(_ demand: ServerDemand, _ trouble: ServerDemand.Trouble) -> Text {
        let services = demand.serviceList
        switch (demand.wish, trouble) {
        case (.mistake(let place), _):
            return CommandStatus.serverFile(services, place: place)
        case (.server(let url), .ended):
            return CommandStatus.registrationEnded(services, url, account: status.account)
        case (.server(let url), .notRegistered), (.server(let url), .file):
            return CommandStatus.notRegistered(services, url, account: status.account)
        }
    }

    private func continued(_ label: Text, _ lines: [Text]) -> [[Text]] {
        lines.enumerated().map { [$0.offset == 0 ? label : "", $0.element] }
    }

    private func document(
        _ demand: ServerDemand, _ trouble: ServerDemand.Trouble
    ) -> JSON {
        var server: Bytes?
        if case .server(let url) = demand.wish { server = url }
        return .object([
            ("trouble", .string(trouble.rawValue)),
            ("services", .array(demand.services.map { .string($0) })),
            ("server", .optional(server, JSON.bytes)), ("file", .string(demand.file)),
        ])
    }

    fileprivate var document: JSON {
        .document(
            "status",
            [
                ("account", .bytes(status.account)), ("works", .bool(obstacles.isEmpty)),
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
                        ("closed", .optional(status.closed, JSON.bytes)),
                        ("generation", .number(status.generation)),
                    ])
                ),
                ("secrets", .number(UInt64(status.secrets ?? 0))),
                ("servers", .optional(servers) { .array($0.map(\.document)) }),
                ("signing", .optional(signing, \.status)),
                ("readers", .array(readers.map(\.document))),
                (
                    "lock",
                    .object([
                        ("state", .string(status.lock.word)),
                        ("seconds", .optional(status.seconds) { .number(UInt64($0)) }),
                    ])
                ),
                ("keyring", .string(status.keyring.word)),
                ("services", .array(services.map { .string($0) })),
                ("serverTroubles", .array(serverTroubles.map(document))),
                ("program", .bytes(status.program)), ("vault", .bytes(status.vault)),
                ("device", .bytes(Hexadecimal.encode(status.device))),
                ("keptOut", .optional(status.keptOut, JSON.bytes)),
                ("configurationFault", .optional(status.configurationFault, JSON.bytes)),
            ])
    }
}
