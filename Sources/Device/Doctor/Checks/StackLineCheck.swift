// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Domain
import LoginMessages
import LoginProtocol
import ModuleOptions

/// Checks whether the lines of a service's stack can be parsed, and whether those of pam_signet are
/// right.
struct StackLineCheck {
    let stacks: ServiceStacks
    let service: String

    private var chain: Chain { stacks.chain(of: service, type: .auth) }

    /// Remarks on lines of pam_signet in stacks of types that it does not serve.
    func strayRemarks() -> [StackRemark] {
        [StackType.account, .session].flatMap { type in
            stacks.chain(of: service, type: type).handlers.filter { $0.role == .signet }.map {
                line in
                { Self.wrongType($0, type: type.rawValue, place: line.place) }
            }
        }
    }

    /// Remarks on single lines of an `auth` stack that calls pam_signet.
    func remarks() -> [StackRemark] {
        let ours = chain.handlers.filter { $0.role == .signet }
        var remarks: [StackRemark] = []
        if ours.count > 1 {
            let places = ours.map(\.place.shown).joined(separator: ", ")
            remarks.append { Self.twice($0, places: places, file: ours[0].place.whole) }
        }
        for other in chain.handlers where other.role == .otherFingerprint {
            remarks.append {
                Self.otherFingerprint($0, module: other.module, file: other.place.whole)
            }
        }
        return remarks + ours.compactMap(option) + chain.indices(of: .signet).compactMap(wait)
    }

    /// Remarks on lines and files that libpam reads differently from what their author meant.
    ///
    /// They concern every stack: one that was to call pam_signet may no longer do so.
    func troubleRemarks() -> [StackRemark] {
        var troubles: [StackTrouble] = []
        for type in StackType.allCases {
            for trouble in stacks.chain(of: service, type: type).troubles
            where !troubles.contains(trouble) {
                switch trouble {
                case .carriageReturn, .cut: troubles.append(trouble)
                case .broken, .missing, .loop:
                    if type == .auth, !chain.indices(of: .signet).isEmpty {
                        troubles.append(trouble)
                    }
                }
            }
        }
        // One remark for each file, whose line ends are all alike.
        let returns = troubles.compactMap { trouble -> StackPosition? in
            if case .carriageReturn(let place) = trouble { return place }
            return nil
        }
        return troubles.compactMap { trouble in
            if case .carriageReturn(let place) = trouble,
                returns.first(where: { $0.whole == place.whole }) != place
            {
                return nil
            }
            return remark(trouble)
        }
    }

    /// Remarks on jumps over more modules than there are.
    func jumpRemarks() -> [StackRemark] {
        chain.handlers.indices.filter { index in
            chain.handlers[index].control.jumps.contains { chain.jump($0, from: index) == nil }
        }.map { index in
            { Self.longJump($0, line: chain.handlers[index]) }
        }
    }

    /// The remark on a line that waits for the finger without end although a password follows.
    private func wait(at index: Int) -> StackRemark? {
        let line = chain.handlers[index]
        guard line.signetOptions?.waits(for: ServiceName(service)) == true,
            chain.handlers[index...].contains(where: { $0.role == .password })
        else { return nil }
        return { Self.endlessWait($0, place: line.place) }
    }

    private func option(of line: Handler) -> StackRemark? {
        guard !line.isReplaced else { return nil }
        do throws(ModuleOptions.Fault) {
            let options = try ModuleOptions(parsing: line.options.map(\.bytes))
            guard options.socket != ModuleOptions().socket else { return nil }
            return { Self.otherSocket($0, path: options.socket) }
        } catch {
            switch error {
            case .unknown(let index), .malformed(let index), .repeated(let index):
                let word = line.options.indices.contains(index) ? line.options[index] : ""
                return { Self.wrongOption($0, option: word, place: line.place) }
            }
        }
    }

    private func remark(_ trouble: StackTrouble) -> StackRemark {
        switch trouble {
        case .broken(let place): { Self.broken($0, place: place) }
        case .missing(let place, let name): { Self.includeMissing($0, name: name, place: place) }
        case .loop(let place, let name): { Self.includeLoop($0, name: name, place: place) }
        case .cut(let place): { Self.cut($0, place: place) }
        case .carriageReturn(let place): { Self.carriageReturn($0, place: place) }
        }
    }
}

extension StackLineCheck {
    /// The module is used in a stack of a type that it does not serve.
    private static func wrongType(
        _ services: Bytes, type: String, place: StackPosition
    ) -> Finding {
        Finding(
            "wrong-type", level: .fault, area: .stacks, subject: services,
            what: "\(services): pam_signet is in a stack of type '\(type)' (\(place.shown))",
            why: """
                pam_signet works in 'auth' and 'password' stacks and does nothing in others; alone \
                in such a stack, it denies every login. Remove the line
                """,
            mend: Remedy.edit(place))
    }

    /// The stack calls the module twice.
    private static func twice(_ services: Bytes, places: String, file: StackPosition) -> Finding {
        Finding(
            "module-twice", level: .warning, area: .stacks, subject: services,
            what: "\(services): pam_signet is called more than once (\(places))",
            why: "a touch is asked for twice, and each failed scan counts. Remove one line",
            mend: Remedy.edit(file))
    }

    /// The stack also calls pam_fprintd.
    private static func otherFingerprint(
        _ services: Bytes, module: String, file: StackPosition
    ) -> Finding {
        Finding(
            "other-fingerprint", level: .warning, area: .stacks, subject: services,
            what: "\(services): \(module) is in the same stack",
            why: """
                both modules use the reader, and this one accepts a bare 'yes'. Remove it: \
                'pam-auth-update --remove fprintd' if its profile added it
                """,
            mend: Remedy.edit(file))
    }

    /// The module waits for the finger as long as the program does, and a password would follow.
    private static func endlessWait(_ services: Bytes, place: StackPosition) -> Finding {
        Finding(
            "wait-before-password", level: .fault, area: .stacks, subject: services,
            what: "\(services): pam_signet waits for a finger without end (\(place.shown))",
            why: """
                the password that follows is not asked for until a finger fails. The option 'wait', \
                and the service kde-fingerprint, are for lock screens that ask for the password in \
                another stack. Remove the option, or the lines for the password
                """,
            mend: Remedy.edit(place))
    }

    /// An option of the module is invalid.
    private static func wrongOption(
        _ services: Bytes, option: String, place: StackPosition
    ) -> Finding {
        Finding(
            "module-option", level: .fault, area: .stacks, subject: services,
            what: """
                \(services): '\(option)' is not an option of pam_signet, or is given twice \
                (\(place.shown))
                """,
            why: """
                the module refuses to work with it, and the password is asked for. Correct the \
                option
                """,
            mend: Remedy.edit(place))
    }

    /// The module uses another socket.
    private static func otherSocket(_ services: Bytes, path: Bytes) -> Finding {
        Finding(
            "socket-elsewhere", level: .note, area: .stacks, subject: services,
            what: "\(services): pam_signet is configured to use the daemon at \(path)",
            why: "all programs, including this one, use /run/signet/signetd.sock",
            mend: "grep -r socket= /etc/pam.d")
    }

    /// A line cannot be read.
    private static func broken(_ services: Bytes, place: StackPosition) -> Finding {
        Finding(
            "stack-broken", level: .fault, area: .stacks, subject: services,
            what: "\(services): libpam cannot parse the line \(place.shown)",
            why: "libpam treats such a line as one that denies. Correct or remove it",
            mend: Remedy.edit(place))
    }

    /// libpam gives up in the middle of a file.
    private static func cut(_ services: Bytes, place: StackPosition) -> Finding {
        Finding(
            "stack-cut", level: .danger, area: .stacks, subject: services,
            what: "\(services): libpam gives up at the line \(place.shown)",
            why: """
                a backslash continues the line, but nothing follows, or the line is too long. \
                libpam rejects the file, and with it every login. Remove the backslash
                """,
            mend: Remedy.edit(place))
    }

    /// A word of a line contains a carriage return.
    private static func carriageReturn(_ services: Bytes, place: StackPosition) -> Finding {
        Finding(
            "stack-carriage-return", level: .danger, area: .stacks, subject: services,
            what: "\(services): the line \(place.shown) contains a carriage return",
            why: """
                an editor has saved the file with the line ends of Windows. libpam takes the \
                carriage return for a part of the last word, so it finds no such module, option or \
                file, and denies logins or skips the line
                """,
            mend: Remedy.removeReturns(place))
    }

    /// An included file does not exist.
    private static func includeMissing(
        _ services: Bytes, name: String, place: StackPosition
    ) -> Finding {
        Finding(
            "include-missing", level: .danger, area: .stacks, subject: services,
            what: """
                \(services): /etc/pam.d/\(name) is included, but does not exist (\(place.shown))
                """,
            why: "libpam denies every login. Restore the file, or remove the line",
            mend: Remedy.edit(place))
    }

    /// Files include each other.
    private static func includeLoop(
        _ services: Bytes, name: String, place: StackPosition
    ) -> Finding {
        Finding(
            "include-loop", level: .danger, area: .stacks, subject: services,
            what: "\(services): \(name) is included in an endless loop (\(place.shown))",
            why: "libpam gives up and denies every login. Remove the line",
            mend: Remedy.edit(place))
    }

    /// A jump skips more modules than there are.
    private static func longJump(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "long-jump", level: .fault, area: .stacks, subject: services,
            what: """
                \(services): \(line.module) jumps over more lines than follow it \
                (\(line.place.shown))
                """,
            why: "libpam denies the login when it takes such a jump. Count the lines that follow",
            mend: Remedy.edit(line.place))
    }
}
