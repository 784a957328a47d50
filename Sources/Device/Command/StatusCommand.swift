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
    static let syntax = CommandSyntax(
        "status", summary: "show what works, what does not, and what to do now",
        options: [.account, .json])

    let run: Invocation

    /// Prints the status; throws `.said(.denied)` if fingerprint login does not work.
    func perform() throws(CommandFault) {
        let account = try run.account()
        let status = try status(of: account)
        let report = StatusReport(
            status: status, damaged: status.damaged > 0 ? try damaged(account) : [],
            readers: try knownReaders(), module: run.environment.machine.moduleUse(),
            servers: try knownServers(account), signing: try knownSigningKey(account),
            demands: run.environment.machine.serverDemands())
        let named = run.arguments.value(.account).map { AccountName($0) }
        run.say(report.document(naming: named), report.lines(naming: named))
        guard report.obstacles.isEmpty else { throw .said(.denied) }
    }

    /// Requests the status of an account.
    func status(of account: AccountName) throws(CommandFault) -> StatusAnswer {
        var status: StatusAnswer?
        try run.exchange(.status(account: account)).run { (answer) throws(CommandFault) in
            switch answer {
            case .status(let answer):
                status = answer
                return .finished
            default: throw .fault(CommandText.unexpected)
            }
        }
        guard let status, status.account == account else {
            throw .fault(CommandText.unexpected)
        }
        return status
    }

    /// Requests the damaged prints.
    private func damaged(_ account: AccountName) throws(CommandFault) -> [PrintAnswer] {
        try run.collect(.list(account: account)) { answer -> PrintAnswer? in
            if case .print(let print) = answer { return print }
            return nil
        }.filter { !$0.intact }
    }

    /// Requests the servers; nil if the daemon denies that, for a reason that other lines show.
    func knownServers(_ account: AccountName) throws(CommandFault) -> [ServerAnswer]? {
        do throws(CommandFault) {
            return try ServerRequests(run: run).servers(of: account)
        } catch .denied { return nil }
    }

    /// Requests the signing key; nil if there is none or the daemon denies that.
    private func knownSigningKey(_ account: AccountName) throws(CommandFault) -> SigningKeyAnswer? {
        do throws(CommandFault) {
            return try SigningKeyRequests(run: run).signingKey(of: account)
        } catch .denied { return nil }
    }

    /// Requests the readers: empty if there is none, nil if the reader process does not answer,
    /// which the status reports as a refusal.
    private func knownReaders() throws(CommandFault) -> [ReaderAnswer]? {
        do throws(CommandFault) {
            return try ReadersCommand(run: run).readerAnswers()
        } catch .denied(let denial, let account) {
            switch denial.reason {
            case .noReader: return []
            case .readerFailed: return nil
            default: throw .denied(denial, account: account)
            }
        }
    }
}

extension StatusReport {
    fileprivate func lines(naming account: AccountName?) -> [Text] {
        var rows: [[Text]] = [
            [CommandStatus.account, "\(status.account)"],
            [CommandStatus.login, CommandStatus.login(status)],
        ]
        if let refusal = status.refusal, obstacles.contains(where: \.isToldByRefusal) {
            rows.append(["", refusal.text(account: status.account)])
        }
        if let setting = status.keptOut {
            rows.append(["", CommandStatus.keptOut(status.account, setting: setting)])
        }
        rows.append([CommandStatus.fingers, CommandStatus.fingers(status)])
        rows += damaged.map { ["", CommandStatus.damaged($0.finger)] }
        if let secrets = status.secrets {
            rows.append([CommandStatus.secrets, CommandSecrets.status(secrets)])
        }
        rows += continued(CommandStatus.servers, lines: (servers ?? []).map(CommandServers.line))
        if let signing { rows.append([CommandStatus.signing, CommandSigning.line(signing)]) }
        let names = readers.map { readers in
            readers.isEmpty
                ? [CommandStatus.noReader]
                : readers.map { CommandStatus.reader(name: $0.name, readerID: $0.readerID) }
        }
        rows.append([CommandStatus.keyring, CommandStatus.keyring(status)])
        rows += continued(CommandStatus.readers, lines: names ?? [CommandTable.unknown])
        rows.append([CommandStatus.lock, CommandStatus.lock(status)])
        let users = module.services.joined(separator: ", ").text
        rows.append([CommandStatus.usedBy, module.isUnused ? CommandStatus.unused : users])
        rows += module.missing.map { path, services in
            [
                "",
                CommandStatus.moduleMissing(
                    services.joined(separator: ", ").bytes, path: path.bytes),
            ]
        }
        rows += serverTroubles.map { ["", text($0.demand, trouble: $0.trouble)] }
        rows += [
            [CommandStatus.service, CommandStatus.service(status.program)],
            [CommandStatus.vault, "\(status.vault)"],
            [CommandStatus.device, "\(status.device.hexadecimal)"],
        ]
        if let fault = status.configurationFault {
            rows += continued(
                CommandStatus.configuration,
                lines: [CommandStatus.refused(fault), CommandStatus.checkHint])
        }
        let verdict = CommandStatus.verdict(works: obstacles.isEmpty, account: status.account)
        let next = next.flatMap { CommandStatus.next($0, for: account) }
        return Table.lines(rows) + ["", verdict] + (next.map { [$0] } ?? [])
    }

    private func text(_ demand: ServerDemand, trouble: ServerDemand.Trouble) -> Text {
        let services = demand.serviceList
        switch (demand.target, trouble) {
        case (.mistake(let place), _):
            return CommandStatus.serverFile(services, place: place)
        case (.server(let url), .ended):
            return CommandStatus.registrationEnded(services, url: url, account: status.account)
        case (.server(let url), .notRegistered), (.server(let url), .file):
            return CommandStatus.notRegistered(services, url: url, account: status.account)
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
        case .lidClosed, .vault, .refused: true
        case .noFinger, .off, .invalidated, .damaged, .closed, .locked, .noReader, .unused,
            .moduleMissing, .keptOut, .notRegistered, .registrationEnded, .serverFile:
            false
        }
    }
}
