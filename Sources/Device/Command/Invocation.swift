// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CatalogueFiles
import CommandMessages
import CommandProtocol
import Configuration
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix

/// One run of the command `signet`: its parsed arguments and its environment.
///
/// Each command gets an `Invocation` and uses it to send requests and to print results, as text or,
/// with `--json`, as one JSON document per line.
package struct Invocation {
    let environment: CommandEnvironment
    let arguments: Arguments

    /// Runs the command that the arguments name, and returns the exit code of the program.
    ///
    /// If a command succeeds but its output could not be written, the result is `.fault`.
    package static func run(_ words: [String], in environment: CommandEnvironment) -> ExitCode {
        let code = perform(words, in: environment)
        guard environment.hasLostOutput else { return code }
        if code == .done || environment.hasUntoldLoss {
            environment.complain("\(InvocationMessages.program)\(CommonMessages.unwritten)")
        }
        return code == .done ? .fault : code
    }

    private static func perform(_ words: [String], in environment: CommandEnvironment) -> ExitCode {
        do throws(CommandFault) {
            try perform(try read(words), in: environment)
            return .done
        } catch {
            report(error, isJSON: words.contains(OptionSyntax.json.long), to: environment)
            return error.exitCode
        }
    }

    private static func read(_ words: [String]) throws(CommandFault) -> CommandLineReading {
        do throws(UsageFault) {
            return try Commands.syntax.read(words)
        } catch { throw .usage(error.text) }
    }

    private static func perform(
        _ reading: CommandLineReading, in environment: CommandEnvironment
    ) throws(CommandFault) {
        switch reading {
        case .version: environment.say("signet \(Version.text.bytes)")
        case .help(let words): Commands.syntax.help(of: words).forEach(environment.say)
        case .run(let arguments):
            guard let type = Commands.type(of: arguments.command) else {
                throw .fault(CommonMessages.unexpected)
            }
            try type.init(run: Invocation(environment: environment, arguments: arguments))
                .perform()
        }
    }

    /// Runs the installed program, with signal handling; returns the status for exit(3).
    ///
    /// It hardens the process's memory first, then installs signal handlers and loads the user's
    /// language.
    package static func runOnThisMachine(_ words: [String]) -> Int32 {
        // This must precede the moment at which a password or secret is in memory.
        guard fillStandardDescriptors(), (try? hardenMemory()) != nil else {
            return ExitCode.fault.rawValue
        }
        var environment = CommandEnvironment()
        guard let interrupts = try? Interrupts.take() else { return ExitCode.fault.rawValue }
        environment.interrupts = interrupts.descriptor.number
        environment.catalogue = Catalogue.ofCaller()
        defer { extendLifetime(interrupts) }
        return run(words, in: environment).rawValue
    }

    private static func report(
        _ fault: CommandFault, isJSON: Bool, to environment: CommandEnvironment
    ) {
        guard let text = fault.text else { return }
        if isJSON {
            environment.say(
                .document(
                    "error",
                    members: [
                        ("reason", .string(fault.reason)),
                        ("exitCode", .number(UInt64(fault.exitCode.rawValue))),
                        ("text", .bytes(text.bytes)),
                    ]))
        } else {
            environment.complain("\(InvocationMessages.program)\(text)")
        }
    }
}

extension Invocation {
    /// Whether the result is to be printed as JSON.
    var isJSON: Bool { arguments.has(.json) }

    /// What the user confirms the request with: the password if an option says so, else a touch.
    ///
    /// For commands that ask for no password otherwise.
    var factor: ConfirmingFactor {
        arguments.has(.password) || arguments.has(.passwordStdin) ? .password : .finger
    }

    /// The account that the command line names, under the name that the name service gives it; nil
    /// if it names none.
    var namedAccount: AccountName? {
        guard let name = arguments.value(.account) else { return nil }
        // The daemon says what is wrong with a name that leads to no account.
        return AccountName((try? Account.spelled(name))?.name ?? name)
    }

    /// The account that the command is about: the one named, otherwise the caller's own.
    ///
    /// Throws `.usage` if root names none.
    func account() throws(CommandFault) -> AccountName {
        if let namedAccount { return namedAccount }
        guard environment.uid != 0 else { throw .usage(InvocationMessages.nameAccount) }
        do throws(SystemFault) {
            if let account = try Account.with(uid: environment.uid) {
                return AccountName(account.name)
            }
        } catch { throw .system(error) }
        throw .usage(InvocationMessages.noAccount(uid: environment.uid))
    }

    /// Creates an exchange for a request of this run; nothing is sent yet.
    func exchange(_ request: Request, awaitsTouch: Bool = false) -> DaemonExchange {
        DaemonExchange(
            environment: environment, request: request,
            password: arguments.has(.passwordStdin) ? .standardInput : .terminal,
            awaitsTouch: awaitsTouch)
    }

    /// Sends a request whose answers are all of one kind, up to `done`; returns them in order.
    ///
    /// - Parameter item: extracts the item from an answer; nil makes the exchange fail as
    ///   unexpected.
    func collect<Item>(
        _ request: Request, _ item: (Answer) -> Item?
    ) throws(CommandFault) -> [Item] {
        var done = DoneAnswer()
        return try collect(request, last: &done, item)
    }

    /// Like `collect(_:_:)`, and returns the contents of `done` in `last`.
    func collect<Item>(
        _ request: Request, last: inout DoneAnswer, _ item: (Answer) -> Item?
    ) throws(CommandFault) -> [Item] {
        var items: [Item] = []
        try exchange(request).run { (answer) throws(CommandFault) in
            if case .done(let done) = answer {
                last = done
                return .finished
            }
            guard let item = item(answer) else { throw .fault(CommonMessages.unexpected) }
            items.append(item)
            return .goOn
        }
        return items
    }

    /// Sends a request, shows its progress and returns its `done`.
    ///
    /// - Parameters:
    ///   - reason: why the caller asks for the touch, in the caller's own words; nil for none.
    ///   - foretold: receives what the daemon foretells of a change, before the password is asked for,
    ///     each time that differs; without it, and where no change follows, that is unexpected.
    func follow(
        _ request: Request, awaitsTouch: Bool, reason: Bytes? = nil,
        foretold: ((Foretold) -> Void)? = nil
    ) throws(CommandFault) -> DoneAnswer {
        var progress = Progress(environment, isJSON: isJSON, reason: reason)
        defer { progress.end() }
        var result = DoneAnswer()
        var exchange = exchange(request, awaitsTouch: awaitsTouch)
        exchange.isDrawn = awaitsTouch && !isJSON && environment.columns() != nil
        var forecast = ForecastReading(foretold)
        try exchange.run { (answer) throws(CommandFault) in
            switch answer {
            case .notice(let notice):
                progress.show(notice)
                return .goOn
            case .done(let done):
                forecast.end()
                result = done
                return .finished
            default:
                guard forecast.take(answer) else { throw .fault(CommonMessages.unexpected) }
                return .goOn
            }
        }
        return result
    }

    /// Prints a result: with `--json` the document, otherwise the lines.
    func say(_ document: @autoclosure () -> JSON, _ lines: @autoclosure () -> [Text]) {
        if isJSON { return environment.say(document()) }
        for line in lines() { environment.say(line) }
    }
}

/// Messages that concern every command.
enum InvocationMessages {
    /// Stands before each message on standard error.
    // Untranslated: the program's name.
    static let program: Text = "signet: "
    /// Root did not name an account.
    static let nameAccount: Text = "root must name the account: add '--account NAME'"
    /// The caller's uid has no account.
    static func noAccount(uid: UInt32) -> Text {
        "this user (uid \(number: uid)) has no account here. Add '--account NAME'"
    }
}
