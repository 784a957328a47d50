// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol
import ModuleOptions

/// Whether the lines of a service's stack can be read, and those of pam_signet are right.
struct StackLineCheck {
    let stacks: ServiceStacks
    let service: String

    private var chain: Chain { stacks.chain(of: service, .auth) }

    /// Lines of pam_signet in stacks that it does not serve.
    func strayRemarks() -> [StackRemark] {
        [StackType.account, .session].flatMap { type in
            stacks.chain(of: service, type).handlers.filter { $0.role == .signet }.map { line in
                { Self.wrongType($0, type.rawValue, line.place) }
            }
        }
    }

    /// What is wrong with single lines of the `auth` stack, one of which is pam_signet's.
    func remarks() -> [StackRemark] {
        let ours = chain.handlers.filter { $0.role == .signet }
        var remarks: [StackRemark] = []
        if ours.count > 1 {
            let places = ours.map(\.place.shown).joined(separator: ", ")
            remarks.append { Self.twice($0, places, ours[0].place.whole) }
        }
        for other in chain.handlers where other.role == .otherFingerprint {
            remarks.append { Self.otherFingerprint($0, other.module, other.place.whole) }
        }
        return remarks + ours.compactMap(option) + chain.troubles.map(remark)
    }

    /// Jumps over more modules than there are.
    func jumpRemarks() -> [StackRemark] {
        chain.handlers.indices.filter { index in
            chain.handlers[index].control.jumps.contains { chain.jump($0, from: index) == nil }
        }.map { index in
            { Self.longJump($0, chain.handlers[index]) }
        }
    }

    private func option(of line: Handler) -> StackRemark? {
        do throws(ModuleOptions.Fault) {
            let options = try ModuleOptions(parsing: line.options.map(\.bytes))
            guard options.socket != ModuleOptions().socket else { return nil }
            return { Self.otherSocket($0, options.socket) }
        } catch {
            switch error {
            case .unknown(let index), .malformed(let index), .repeated(let index):
                let word = line.options.indices.contains(index) ? line.options[index] : ""
                return { Self.wrongOption($0, word, line.place) }
            }
        }
    }

    private func remark(_ trouble: StackTrouble) -> StackRemark {
        switch trouble {
        case .broken(let place): { Self.broken($0, place) }
        case .missing(let place, let name): { Self.includeMissing($0, name, place) }
        case .loop(let place, let name): { Self.includeLoop($0, name, place) }
        }
    }
}

extension StackLineCheck {
    /// The module stands in a stack that it does not serve.
    private static func wrongType(
        _ services: Bytes, _ type: String, _ place: StackPlace
    ) -> Finding {
        Finding(
            "wrong-type", level: .fault, area: .stacks, subject: services,
            what: """
                \(services): pam_signet stands in a stack of the type '\(type)' (\(place.shown))
                """,
            why: """
                it serves 'auth' and 'password' and does nothing there; alone in such a stack \
                it lets nobody in. Remove the line
                """,
            mend: Remedy.edit(place))
    }

    /// The module is there twice.
    private static func twice(_ services: Bytes, _ places: String, _ file: StackPlace) -> Finding {
        Finding(
            "module-twice", level: .warning, area: .stacks, subject: services,
            what: "\(services): pam_signet is asked more than once (\(places))",
            why: "the finger is asked for twice, and each wrong one counts. Remove one line",
            mend: Remedy.edit(file))
    }

    /// pam_fprintd is there too.
    private static func otherFingerprint(
        _ services: Bytes, _ module: String, _ file: StackPlace
    ) -> Finding {
        Finding(
            "other-fingerprint", level: .warning, area: .stacks, subject: services,
            what: "\(services): \(module) is in the same stack",
            why: """
                both want the reader, and it lets in on a bare 'yes'. Take it out: \
                'pam-auth-update --remove fprintd' where its profile put it in
                """,
            mend: Remedy.edit(file))
    }

    /// An option of the module is wrong.
    private static func wrongOption(
        _ services: Bytes, _ option: String, _ place: StackPlace
    ) -> Finding {
        Finding(
            "module-option", level: .fault, area: .stacks, subject: services,
            what: """
                \(services): '\(option)' is no option of pam_signet, or is there twice \
                (\(place.shown))
                """,
            why: "the module refuses to work with it, and the password is asked for. Correct it",
            mend: Remedy.edit(place))
    }

    /// The module asks at another socket.
    private static func otherSocket(_ services: Bytes, _ path: Bytes) -> Finding {
        Finding(
            "socket-elsewhere", level: .note, area: .stacks, subject: services,
            what: "\(services): pam_signet is told to ask the daemon at \(path)",
            why: "this command, and everybody else, asks at /run/signet/signetd.sock",
            mend: "grep -r socket= /etc/pam.d")
    }

    /// A line cannot be read.
    private static func broken(_ services: Bytes, _ place: StackPlace) -> Finding {
        Finding(
            "stack-broken", level: .fault, area: .stacks, subject: services,
            what: "\(services): libpam cannot read the line \(place.shown)",
            why: "it takes such a line for one that denies. Correct it, or remove it",
            mend: Remedy.edit(place))
    }

    /// An included file is not there.
    private static func includeMissing(
        _ services: Bytes, _ name: String, _ place: StackPlace
    ) -> Finding {
        Finding(
            "include-missing", level: .danger, area: .stacks, subject: services,
            what: "\(services): /etc/pam.d/\(name) is included and not there (\(place.shown))",
            why: "libpam denies everybody. Restore the file, or remove the line",
            mend: Remedy.edit(place))
    }

    /// Files include each other.
    private static func includeLoop(
        _ services: Bytes, _ name: String, _ place: StackPlace
    ) -> Finding {
        Finding(
            "include-loop", level: .danger, area: .stacks, subject: services,
            what: "\(services): \(name) is included without end (\(place.shown))",
            why: "libpam gives up and denies everybody. Remove the line",
            mend: Remedy.edit(place))
    }

    /// A jump passes over more modules than there are.
    private static func longJump(_ services: Bytes, _ line: Handler) -> Finding {
        Finding(
            "long-jump", level: .fault, area: .stacks, subject: services,
            what: """
                \(services): \(line.module) jumps over more lines than there are \
                (\(line.place.shown))
                """,
            why: "libpam denies where it takes such a jump. Count the lines that follow",
            mend: Remedy.edit(line.place))
    }
}
