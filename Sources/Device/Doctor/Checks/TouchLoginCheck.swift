// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol

/// Checks the effects of a touch in a service's stack: whether it is sufficient, and which modules
/// it bypasses.
struct TouchLoginCheck {
    let runs: StackRuns
    /// The file that contains pam_signet's line.
    let file: StackPosition
    /// Whether a touch may release the login password to this service.
    let mayRelease: Bool

    private var chain: Chain { runs.chain }

    func remarks() -> [StackRemark] {
        let (file, handlers, touched) = (file, chain.handlers, runs.touched)
        // For other services the daemon does not release the password, so the user is asked for it.
        var remarks: [StackRemark] = (mayRelease ? runs.satisfiedByRelease : []).map { index in
            { Self.released($0, line: handlers[index]) }
        }
        // With a released password, the touch alone authenticates although a module asks for a
        // password.
        if remarks.isEmpty, touched.isEmpty {
            if let demanding = passwordBeforeTouch {
                remarks.append { Self.behindPassword($0, line: demanding) }
            } else {
                remarks.append { Self.notEnough($0, file: file) }
            }
        }
        let areCounted = countsFingers
        if areCounted { remarks.append { Self.fingersCounted($0, file: file) } }
        guard !touched.isEmpty else { return remarks }

        // The modules on the paths of a password that are missing on those of a touch.
        let reached = Set(touched.flatMap(\.calls).map(\.index))
        let welcomed = Set(runs.runs(welcoming: .authinfoUnavail).flatMap(\.calls).map(\.index))
        let missed = welcomed.subtracting(reached).sorted()
        if missed.contains(where: { handlers[$0].role == .failureReset }) {
            remarks.append { Self.failuresStay($0, file: file) }
        }
        // pam_faillock rejects users only after failed passwords, which a touch neither adds nor
        // clears. The finger has its own lockout.
        let isReset = reached.contains { handlers[$0].role == .failureReset }
        for index in missed {
            let line = handlers[index]
            switch line.role {
            case .gate where line.module == "pam_faillock" && !areCounted && !isReset: continue
            case .rule where !line.fails(on: .authErr): continue
            case .gate, .rule: remarks.append { Self.gateSkipped($0, line: line) }
            // A module that no list knows is one that a password login must pass, too.
            case .otherWay, .unknown, .absent:
                guard line.fails(on: .authErr) || runs.isRequired(index) else { continue }
                remarks.append { Self.factorSkipped($0, line: line) }
            // What a touch replaces, what has no say, and what has a finding of its own.
            case .password, .signet, .otherFingerprint, .failureCounter, .failureReset, .permit,
                .deny, .silent, .neutral:
                continue
            }
        }
        return remarks
    }

    /// The module that requires a password before pam_signet can authenticate; nil if no touch
    /// fails for that reason.
    private var passwordBeforeTouch: Handler? {
        let passwords = chain.indices(of: .password)
        guard let demanding = passwords.first(where: { chain.handlers[$0].fails(on: .authErr) }),
            let first = chain.indices(of: .signet).first, demanding < first
        else { return nil }
        let isReached = runs.runs(.success, knowsPassword: true).contains { run in
            run.isAccepted && run.calls.contains { $0.index == first }
        }
        return isReached ? chain.handlers[demanding] : nil
    }

    /// Whether pam_faillock counts a failure although no password was asked for.
    ///
    /// It is true only if every path to the counter bypasses passwords; a rule may exclude some.
    private var countsFingers: Bool {
        ([.authinfoUnavail] + StackRuns.mismatches).contains { code in
            let counting = runs.runs(code, knowsPassword: false).compactMap(countsFinger)
            return !counting.isEmpty && counting.allSatisfy(\.self)
        }
    }

    /// Whether a run counted a failure before a password was asked for; nil if it counted none.
    private func countsFinger(in run: StackResult) -> Bool? {
        let roles = run.calls.map { chain.handlers[$0.index].role }
        switch roles.first(where: { $0 == .password || $0 == .failureCounter }) {
        case .failureCounter?: return true
        case .password? where roles.contains(.failureCounter): return false
        default: return nil
        }
    }
}

extension TouchLoginCheck {
    /// A touch alone does not authenticate.
    private static func notEnough(_ services: Bytes, file: StackPosition) -> Finding {
        Finding(
            "touch-not-enough", level: .warning, area: .stacks, subject: services,
            what: "\(services): a touch alone is not enough; the password is still asked for",
            why: """
                the touch serves no purpose, unless you want to require both. pam_signet's control \
                must have success=done, or success=N to skip the password lines
                """,
            mend: Remedy.edit(file))
    }

    /// A touch counts only for users who have typed the password.
    private static func behindPassword(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "touch-behind-password", level: .warning, area: .stacks, subject: services,
            what: """
                \(services): a touch counts only after \(line.module) has accepted a password \
                (\(line.place.shown))
                """,
            why: """
                the touch does not replace the password. If you do not want to require both, put \
                pam_signet's line before that line
                """,
            mend: Remedy.edit(line.place))
    }

    /// A touch bypasses a module that excludes users.
    private static func gateSkipped(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "gate-skipped", level: .fault, area: .stacks, subject: services,
            what: """
                \(services): a touch skips \(line.module), but a password does not \
                (\(line.place.shown))
                """,
            why: """
                users that \(line.module) blocks can still log in with a fingerprint. Put its line \
                before pam_signet's
                """,
            mend: Remedy.edit(line.place))
    }

    /// A touch bypasses a module that the password does not replace.
    private static func factorSkipped(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "factor-skipped", level: .fault, area: .stacks, subject: services,
            what: """
                \(services): a touch skips \(line.module), which a login with the password must \
                pass (\(line.place.shown))
                """,
            why: """
                a touch alone is enough where the password is not. Put the line before \
                pam_signet's, or make a touch lead to it
                """,
            mend: Remedy.edit(line.place))
    }

    /// A touch does not reset pam_faillock.
    private static func failuresStay(_ services: Bytes, file: StackPosition) -> Finding {
        Finding(
            "failures-stay", level: .note, area: .stacks, subject: services,
            what: """
                \(services): a touch does not reset the count of failed passwords (\(file.shown))
                """,
            why: """
                pam_faillock keeps its count until the next correct password. This is safe, but \
                may be surprising
                """,
            mend: "faillock")
    }

    /// pam_faillock counts failed fingers.
    private static func fingersCounted(_ services: Bytes, file: StackPosition) -> Finding {
        Finding(
            "fingers-counted", level: .warning, area: .stacks, subject: services,
            what: "\(services): pam_faillock counts a failed touch like a failed password",
            why: """
                a few failed touches, for example with a wet finger, also lock the password. Make \
                every code of pam_signet except success lead to the password line
                """,
            mend: Remedy.edit(file))
    }

    /// A password released by a touch replaces one that should be typed.
    private static func released(_ services: Bytes, line: Handler) -> Finding {
        Finding(
            "released-password", level: .danger, area: .stacks, subject: services,
            what: """
                \(services): \(line.module) does not ask for a password, but uses the one that a \
                touch releases (\(line.place.shown))
                """,
            why: """
                once an account has run 'signet enable --keyring', a touch alone is enough. To \
                require finger and password, remove 'keyring' from pam_signet's line, as \
                share/doc/signet/examples/finger-and-password does. To require one of the two, \
                make a touch skip this line
                """,
            mend: Remedy.edit(line.place))
    }
}
