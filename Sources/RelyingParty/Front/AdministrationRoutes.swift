// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import JSONFormat
import Synchronization

// The calls for administration: one for each command that may be called over HTTP.
//
// A body has a member for each operand and option of the command, and is checked as a command line
// is. The answer is what the command prints with `--json`.
extension Routes {
    static let administration: [Route] = AdminVerbs.ofDatabase.compactMap { verb in
        guard let reach = verb.reach, case .database(let work) = verb.work else { return nil }
        let path = "/v1/admin/" + verb.name.split(separator: " ").joined(separator: "/")
        let caller: RouteAccess =
            switch reach {
            case .application: .application(.admin, or: .server)
            case .server: .application(.server)
            }
        return Route("POST", path: path, caller: caller) { service, call throws(Problem) in
            let arguments = try AdministrationBody(call.body()).arguments(of: verb)
            let printed = PrintedLines()
            let output = AdminOutput(isJSON: true) { printed.add($0) }
            let admin = Administration(
                service, output: output, by: try call.asking(), from: call.origin)
            do throws(AdminFault) {
                try await work(admin, arguments)
            } catch { throw error.problem }
            return .json(body: [UInt8](printed.text.utf8))
        }
    }
}

/// What a command prints.
private final class PrintedLines: Sendable {
    private let lines = Mutex<[String]>([])
    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// The body of a call for administration: an object with the operands and options of a command.
private struct AdministrationBody {
    private let members: [String: JSON]

    /// Takes an object; throws `.malformed` for anything else.
    init(_ json: JSON) throws(Problem) {
        guard case .object(let members) = json else {
            throw .malformed("the body is not an object")
        }
        self.members = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// The arguments of a command, as its command line would give them.
    ///
    /// - Throws: `.malformed`, saying which member is missing, wrong or unknown.
    func arguments(of verb: AdminVerb) throws(Problem) -> AdminArguments {
        var words = verb.syntax.words
        let options = verb.syntax.options
        let known = verb.members + options.map(\.member)
        if let unknown = members.keys.filter({ !known.contains($0) }).min() {
            let name = printable([UInt8](unknown.utf8))
            throw .malformed("'\(name)' is not a member that this call knows")
        }
        for option in options {
            guard let value = members[option.member] else { continue }
            words.append("\(option.long)=\(try text(of: value, for: option))")
        }
        words.append("--")
        for name in verb.members {
            guard let value = members[name] else { throw .malformed("'\(name)' is missing") }
            words.append(try string(value, of: name))
        }
        return try parsed(words, by: verb)
    }

    private func text(of value: JSON, for option: OptionSyntax) throws(Problem) -> String {
        switch option.value?.kind {
        case .number:
            guard let number = value.integerValue else { throw .wrongType(option.member) }
            return "\(number)"
        case .words:
            guard let values = value.arrayValue else { throw .wrongType(option.member) }
            var words: [String] = []
            for value in values {
                let word = try string(value, of: option.member)
                guard !word.isEmpty, !word.contains(",") else {
                    throw .malformed("'\(option.member)' has a word that is empty or has a comma")
                }
                words.append(word)
            }
            return words.joined(separator: ",")
        case .text, .choice, .suggestion, .account, .url, .file, .absoluteFile, .directory,
            .command, .listed, nil:
            return try string(value, of: option.member)
        }
    }

    /// A string, in which no command line could have a NUL.
    private func string(_ value: JSON, of member: String) throws(Problem) -> String {
        guard let text = value.stringValue else { throw .wrongType(member) }
        guard !text.utf8.contains(0) else { throw .malformed("'\(member)' has a NUL") }
        return text
    }

    private func parsed(_ words: [String], by verb: AdminVerb) throws(Problem) -> AdminArguments {
        let program = ProgramSyntax(
            "signet-server", summary: verb.syntax.summary, groups: [], commands: [verb.syntax])
        do throws(UsageFault) {
            if case .run(let arguments) = try program.read(words) {
                return AdminArguments(parsed: arguments)
            }
        } catch { throw .malformed(printable([UInt8](error.english.utf8))) }
        throw .malformed("the body does not have the expected members")
    }
}

extension OptionSyntax {
    /// The member of a body that stands for the option: `max-failures` is `maxFailures`.
    fileprivate var member: String {
        let parts = name.split(separator: "-")
        return
            (parts.prefix(1).map(String.init)
            + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }).joined()
    }
}

extension Problem {
    fileprivate static func wrongType(_ member: String) -> Problem {
        .malformed("'\(member)' has the wrong type")
    }
}

extension AdminFault {
    /// The fault as the answer to a call.
    ///
    /// What the server's own files or database are to blame for is reported to the log, and the
    /// caller is not told.
    fileprivate var problem: Problem {
        switch self {
        case .usage(let text): return .malformed(text)
        case .missing(let text):
            return Problem(
                status: Problem.notFound.status, code: Problem.notFound.code, title: text)
        case .refused(let text), .tampered(let text): return .conflict(text)
        case .unusable(let text):
            report("a call for administration failed: \(text)")
            return .unavailable
        }
    }
}
