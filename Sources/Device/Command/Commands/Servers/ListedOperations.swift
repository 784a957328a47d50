// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix
import SignedFormats

// How `signet operations` lists, shows and decides. An operation is decided only after its whole
// text has been written to standard output, by the same request that signs it, so the user has been
// shown exactly what is signed. A server that cannot be asked does not hide the others' operations,
// but the command then fails.
extension OperationsCommand {
    /// `signet operations [list | show ID | approve ID | reject ID | watch]`
    func perform() throws(CommandFault) {
        let words = run.arguments.operands
        switch (words.first ?? "list", words.count) {
        case ("list", ...1): try listOperations()
        case ("watch", 1): try watchOperations()
        case ("show", 2): try showOperation(words[1])
        case ("approve", 2): try decide(.approve, typed: words[1])
        case ("reject", 2): try decide(.reject, typed: words[1])
        default: throw .usage(OperationsMessages.choose)
        }
    }

    private func listOperations() throws(CommandFault) {
        let account = try run.account()
        let found = try awaited(account)
        let document = JSON.document(
            "operations",
            members: [
                ("account", .bytes(account.bytes)),
                ("operations", .array(found.operations.map(\.document))),
                ("troubles", .array(found.troubles.map { $0.document(account) })),
            ])
        if found.operations.isEmpty {
            run.say(document, found.troubles.isEmpty ? [OperationsMessages.none] : [])
        } else {
            run.say(document, table(of: found.operations) + [OperationsMessages.next])
        }
        try tell(found.troubles, account: account)
    }

    /// Formats one line per operation, cut to the terminal's width if the other columns leave room.
    private func table(of operations: [OperationAnswer]) -> [Text] {
        let (now, columns) = (now, run.environment.columns())
        func lines(_ room: Int) -> [Text] {
            Table.lines(
                [OperationsMessages.heading]
                    + operations.map { $0.row(now, isNarrow: columns != nil, columns: room) })
        }
        guard let columns else { return lines(40) }
        let bare = lines(0).map { Columns.count(of: run.environment.rendering($0)) }.dropFirst()
        return lines(max(8, columns - (bare.max() ?? 0)))
    }

    private func showOperation(_ typed: String) throws(CommandFault) {
        let account = try run.account()
        let wanted = try place(of: typed, account: account)
        let operation = try show(wanted, account: account)
        say(operation)
    }

    private func decide(_ choice: OperationChoice, typed: String) throws(CommandFault) {
        let account = try run.account()
        let wanted = try place(of: typed, account: account)
        let request = Request.operationDecide(
            OperationDecideRequest(
                account: account, timeoutMilliseconds: 30_000, server: wanted.server,
                operation: wanted.operation, decision: choice, factor: run.factor))
        let id = Bytes(wanted.operation.hexadecimal.prefix(8))
        var isShown = false
        let state: OperationState
        do throws(CommandFault) {
            state = try ServerRequests(run: run).ask(
                request,
                purpose: { action in
                    isShown
                        ? OperationsMessages.touch(
                            action, choice: choice, id: id, server: wanted.server)
                        : OperationsMessages.reading(action)
                }, byPassword: byPassword(choice, id: id, server: wanted.server),
                meanwhile: { (answer) throws(CommandFault) in
                    guard case .operation(let operation) = answer else { return false }
                    isShown = true
                    say(operation)
                    // An operation that could not be shown must not be decided.
                    if run.environment.hasLostOutput { throw .interrupted }
                    return true
                }
            ) { answer in
                if case .decided(let state) = answer { state } else { nil }
            }
        } catch .interrupted where run.environment.hasLostOutput {
            throw .fault(OperationsMessages.unshown)
        }
        let document = JSON.document(
            "operation-decided",
            members: [
                ("account", .bytes(account.bytes)), ("server", .bytes(wanted.server.bytes)),
                ("operation", .bytes(wanted.operation.hexadecimal)),
                ("state", .string(state.word)),
            ])
        // The first of two factors was accepted, and the operation awaits the other one.
        if state == .pending, choice == .approve {
            return run.say(
                document,
                [
                    OperationsMessages.halfApproved(
                        id: id, server: wanted.server, by: run.factor)
                ])
        }
        run.say(document, [OperationsMessages.decided(state, id: id, server: wanted.server)])
        let isDone = state == (choice == .approve ? .approved : .rejected)
        guard isDone else { throw .said(.denied) }
    }

    /// What the password is for, if it confirms the decision.
    private func byPassword(
        _ choice: OperationChoice, id: Bytes, server: ServerURL
    ) -> Text? {
        guard run.factor == .password else { return nil }
        return OperationsMessages.byPassword(choice: choice, id: id, server: server)
    }

    /// What the password is for, if it allows operations to be read.
    private var readingByPassword: Text? {
        run.factor == .password ? OperationsMessages.readingByPassword : nil
    }

    func say(_ operation: OperationAnswer) {
        run.say(
            .document("operation", members: [("operation", operation.document)]),
            operation.lines(now, columns: run.environment.columns()))
    }

    /// Prints why servers gave no answer, and throws, because the command was not fully carried
    /// out.
    private func tell(
        _ troubles: [ServerTroubleAnswer], account: AccountName
    ) throws(CommandFault) {
        for trouble in troubles { run.environment.complain(trouble.line(account)) }
        if let code = troubles.map(\.denial.exitCode).first { throw .said(code) }
    }

    /// The present time, in seconds since 1970.
    var now: UInt64 { UInt64(clamping: Clock.system.wallSeconds()) }
}

/// The operations that servers listed, and why others did not.
struct AwaitedOperations {
    var operations: [OperationAnswer] = []
    var troubles: [ServerTroubleAnswer] = []
}

/// An operation's id and the server that has it.
private struct OperationKey: Hashable {
    let server: ServerURL
    let operation: OperationID
}

extension OperationsCommand {
    /// Lists the operations that await the account, at one server or all.
    ///
    /// It may ask for a touch first, to obtain the token that reads operations, unless `mayTouch`
    /// is false.
    func awaited(
        _ account: AccountName, mayTouch: Bool = true
    ) throws(CommandFault) -> AwaitedOperations {
        let only = try run.arguments.value(.server).map { (typed) throws(CommandFault) in
            try ServerRequests(run: run).server(typed)
        }
        if only == nil, mayTouch { try requireServer(account) }
        let request = OperationListRequest(
            account: account, timeoutMilliseconds: mayTouch ? 30_000 : nil, server: only,
            factor: run.factor)
        var found = AwaitedOperations()
        _ = try ServerRequests(run: run).ask(
            .operationList(request), purpose: { OperationsMessages.reading($0) },
            byPassword: readingByPassword,
            meanwhile: { answer in
                switch answer {
                case .operation(let operation): found.operations.append(operation)
                case .serverTrouble(let trouble): found.troubles.append(trouble)
                default: return false
                }
                return true
            }
        ) { answer in
            if case .done(let done) = answer { done } else { nil }
        }
        return found
    }

    /// Throws `.refused` if there is no server that could be asked, and says why.
    private func requireServer(_ account: AccountName) throws(CommandFault) {
        let known = try ServerRequests(run: run).servers(of: account)
        guard !known.contains(where: { $0.state == .good }) else { return }
        guard let first = known.first else { throw .refused(ServerMessages.none(account)) }
        throw .refused(ServerMessages.line(first))
    }

    /// Finds the operation that an id or its beginning, 4 to 32 digits, stands for.
    ///
    /// It searches the pending operations; a complete id may also be of one that is no longer
    /// pending.
    private func place(
        of typed: String, account: AccountName
    ) throws(CommandFault) -> OperationKey {
        let digits = typed.lowercased().bytes
        let isHexadecimal = digits.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
            default: false
            }
        }
        guard (4...32).contains(digits.count), isHexadecimal else {
            throw .usage(OperationsMessages.badID(typed.bytes))
        }
        let found = try awaited(account)
        let places = Set(
            found.operations.filter { $0.id.starts(with: digits) }
                .map { OperationKey(server: $0.server, operation: $0.content.operation) })
        if places.count == 1, let place = places.first { return place }
        guard places.isEmpty else { throw .refused(OperationsMessages.ambiguous(typed.bytes)) }
        if let place = try placeElsewhere(digits, account: account) { return place }
        try tell(found.troubles, account: account)
        throw .refused(OperationsMessages.unknown(typed.bytes))
    }

    /// Finds the server of an operation that is no longer pending.
    private func placeElsewhere(
        _ digits: Bytes, account: AccountName
    ) throws(CommandFault) -> OperationKey? {
        guard let operation = OperationID(hexadecimal: digits) else { return nil }
        let only = try run.arguments.value(.server).map { (typed) throws(CommandFault) in
            try ServerRequests(run: run).server(typed)
        }
        let places = try ServerRequests(run: run).servers(of: account)
            .filter { $0.state == .good && $0.server == only ?? $0.server }
            .map { OperationKey(server: $0.server, operation: operation) }
        // If there is only one server, its own error says what is wrong.
        if places.count == 1 { return places[0] }
        return places.first { (try? show($0, account: account)) != nil }
    }

    private func show(
        _ place: OperationKey, account: AccountName
    ) throws(CommandFault) -> OperationAnswer {
        let request = OperationShowRequest(
            account: account, timeoutMilliseconds: 30_000, server: place.server,
            operation: place.operation, factor: run.factor)
        var shown: OperationAnswer?
        _ = try ServerRequests(run: run).ask(
            .operationShow(request), purpose: { OperationsMessages.reading($0) },
            byPassword: readingByPassword,
            meanwhile: { answer in
                guard case .operation(let operation) = answer else { return false }
                shown = operation
                return true
            }
        ) { answer in
            if case .done(let done) = answer { done } else { nil }
        }
        guard let shown else { throw .fault(CommonMessages.unexpected) }
        return shown
    }
}

/// Messages of `signet operations`.
enum OperationsMessages {
    /// Several ids start with this.
    static func ambiguous(_ typed: Bytes) -> Text {
        "several operations begin with \(typed): type more of the ID, or add '--server'"
    }

    /// No id starts with this.
    static func unknown(_ typed: Bytes) -> Text {
        "no operation that awaits your decision begins with \(typed)"
    }

    /// No operation waits for the user.
    static let none: Text = "no operation awaits your decision"
    /// The heading above the operations.
    static let heading: [Text] = ["id", "server", "template", "expires", "text"]
    /// How to continue, after the operations.
    static let next: Text =
        "to read one in full and decide: 'signet operations show ID', 'approve ID', 'reject ID'"

    /// What the touch is for: to list operations.
    /// `action` is as in `Prompt.action`.
    static func reading(_ action: Text) -> Text {
        "\(action) to list operations for the next 30 days"
    }

    /// What the touch is for: to decide an operation.
    static func touch(
        _ action: Text, choice: OperationChoice, id: Bytes, server: ServerURL
    ) -> Text {
        switch choice {
        case .approve:
            "\(action) to approve operation \(id) of \(server), or press Ctrl-C to stop"
        case .reject:
            "\(action) to reject operation \(id) of \(server), or press Ctrl-C to stop"
        }
    }

    /// The operation's text could not be shown.
    static let unshown: Text =
        "the operation could not be written completely to standard output, and was not decided"

    /// The operation was decided.
    static func decided(_ state: OperationState, id: Bytes, server: ServerURL) -> Text {
        switch state {
        case .approved: "operation \(id) of \(server) is approved"
        case .rejected: "operation \(id) of \(server) is rejected"
        case .pending, .canceled, .expired, .failed:
            "operation \(id) of \(server): \(OperationMessages.state(state))"
        }
    }

    /// The forms of the command.
    static let choose: Text =
        "operations takes list, show ID, approve ID, reject ID or watch"

    /// The argument is neither an id nor the start of one.
    static func badID(_ typed: Bytes) -> Text {
        """
        \(typed) is not an operation ID: type 4 to 32 hexadecimal digits, as 'signet operations' \
        shows them
        """
    }

    /// The command is watching for operations.
    static let watching: Text =
        "new operations are shown as they arrive. Press Ctrl-C to stop"

    /// What the password is for, before it is asked for: to list operations.
    static let readingByPassword: Text =
        "enter your password to list operations for the next 30 days"

    /// What the password is for, before it is asked for: to decide an operation.
    static func byPassword(choice: OperationChoice, id: Bytes, server: ServerURL) -> Text {
        switch choice {
        case .approve:
            "enter your password to approve operation \(id) of \(server), or press Ctrl-C to stop"
        case .reject:
            "enter your password to reject operation \(id) of \(server), or press Ctrl-C to stop"
        }
    }

    /// The first of two factors was accepted.
    static func halfApproved(id: Bytes, server: ServerURL, by factor: ConfirmingFactor) -> Text {
        switch factor {
        case .finger:
            """
            operation \(id) of \(server) also needs your password. Run this command again with \
            '--password'
            """
        case .password:
            """
            operation \(id) of \(server) also needs a touch. Run this command again without \
            '--password'
            """
        }
    }
}
