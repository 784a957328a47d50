// SPDX-License-Identifier: Apache-2.0
import DesktopInterface

/// What one of fprintd's commands is asked to do.
///
/// They read their command lines as fprintd's do, because scripts call them: options may follow
/// operands, and the exit status is 1 for a mistake. All other programs have a `ProgramSyntax`.
package enum FprintdCommand: Equatable, Sendable {
    /// `fprintd-enroll`: enrols a finger; the empty user is the caller.
    case enroll(finger: String, user: String)
    /// `fprintd-verify`: verifies a finger; nil is the first that is enrolled.
    case verify(finger: String?, user: String)
    /// `fprintd-list`: lists the fingers of users.
    case list(users: [String])
    /// `fprintd-delete`: deletes a finger of each user, or all of them.
    case delete([Deletion])

    /// A user whose fingers are to be deleted.
    package struct Deletion: Equatable, Sendable {
        /// The user's name.
        package let user: String
        /// The finger; nil for all.
        package var finger: String?

        /// Names what to delete.
        package init(user: String, finger: String? = nil) {
            self.user = user
            self.finger = finger
        }
    }

    /// What to do in place of a command.
    package enum Refusal: Error, Equatable {
        /// Show this text, and exit with 0.
        case help(String)
        /// Show this text, and exit with 1.
        case mistake(String)
    }

    /// Parses what follows the name of a command, `enroll`, `verify`, `list` or `delete`.
    ///
    /// - Throws: what to say in place of carrying it out.
    package init(_ name: String, arguments: [String]) throws(Refusal) {
        switch name {
        case "enroll":
            let words = try Words(arguments, flags: [], of: name)
            self = .enroll(
                finger: words.finger ?? "right-index-finger", user: words.operands.first ?? "")
        case "verify":
            // An option of GLib's that its own tests pass; there is nothing to make fatal here.
            let words = try Words(arguments, flags: ["--g-fatal-warnings"], of: name)
            self = .verify(finger: words.finger, user: words.operands.first ?? "")
        case "list":
            guard !arguments.isEmpty else { throw .mistake(Self.usage(of: name)) }
            self = .list(users: arguments)
        case "delete": self = .delete(try Self.deletions(arguments))
        default: throw .mistake("there is no command fprintd-\(name)")
        }
    }

    /// Each option belongs to the user before it.
    private static func deletions(_ arguments: [String]) throws(Refusal) -> [Deletion] {
        var found: [Deletion] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if ["-h", "--help", "-?"].contains(word) { throw .help(usage(of: "delete")) }
            guard let option = FingerOption(word) else {
                guard word.first != "-" || word == "-" else { throw unknown(word) }
                found.append(Deletion(user: word))
                continue
            }
            guard !found.isEmpty else { throw .mistake(usage(of: "delete")) }
            guard let finger = option.value ?? rest.popFirst() else { throw missing(word) }
            found[found.count - 1].finger = finger
        }
        guard !found.isEmpty else { throw .mistake(usage(of: "delete")) }
        return found
    }

    fileprivate static func unknown(_ word: String) -> Refusal {
        .mistake("couldn't parse command-line options: Unknown option \(word)")
    }

    fileprivate static func missing(_ word: String) -> Refusal {
        .mistake("couldn't parse command-line options: Missing argument for \(word)")
    }

    fileprivate static func usage(of name: String) -> String {
        let operands =
            switch name {
            case "list": "<username> [usernames...]"
            case "delete": "<username> [-f finger-name] [usernames [-f finger-name]...]"
            default: "[-f|--finger finger-name] [username]"
            }
        return "Usage: fprintd-\(name) \(operands)"
    }
}

/// The arguments of `fprintd-enroll` and `fprintd-verify`.
private struct Words {
    var finger: String?
    var operands: [String] = []

    init(
        _ arguments: [String], flags: [String], of name: String
    ) throws(FprintdCommand.Refusal) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            } else if ["-h", "--help", "-?"].contains(word) {
                throw .help(FprintdCommand.usage(of: name))
            } else if let option = FingerOption(word) {
                guard let value = option.value ?? rest.popFirst() else {
                    throw FprintdCommand.missing(word)
                }
                finger = value
            } else if word.first == "-", word != "-" {
                guard flags.contains(word) else { throw FprintdCommand.unknown(word) }
            } else {
                operands.append(word)
            }
        }
    }
}

/// `-f FINGER`, `-fFINGER`, `--finger FINGER` or `--finger=FINGER`.
private struct FingerOption {
    /// The value in the same word; nil if it is the next one.
    let value: String?

    init?(_ word: String) {
        if word == "-f" || word == "--finger" {
            value = nil
        } else if word.hasPrefix("--finger=") {
            value = String(word.dropFirst("--finger=".count))
        } else if word.hasPrefix("-f") {
            value = String(word.dropFirst(2))
        } else {
            return nil
        }
    }
}
