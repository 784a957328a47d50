// SPDX-License-Identifier: Apache-2.0
import ModuleOptions

/// What the login password that a touch releases does to the modules behind pam_signet's line.
extension Handler {
    /// Modules that take the password in PAM_AUTHTOK, whatever their options, and do not belong to
    /// those that ask for the account's own. pam_exec hands it to a program.
    private static let takers: Set<String> = [
        "pam_radius_auth", "pam_tacplus", "pam_ssh", "pam_pwdfile", "pam_mysql", "pam_pgsql",
        "pam_http", "pam_oauth2", "pam_script",
    ]

    /// Whether its success may hand on the login password.
    var releasesPassword: Bool {
        guard role == .signet else { return false }
        return (try? ModuleOptions(parsing: options.map(\.bytes)))?.keyring == true
    }

    /// Whether it opens something in the session that follows, with the login password.
    fileprivate var opensKeyring: Bool {
        ["pam_gnome_keyring", "pam_kwallet", "pam_kwallet5", "pam_oo7"].contains(module)
    }

    /// Whether it takes a password that lies there already in place of one that is typed. pam_unix
    /// does without `try_first_pass` too: pam_get_authtok(3) asks only where there is none.
    var takesPassword: Bool {
        switch role {
        case .password: module != "pam_sss" || !options.contains("prompt_always")
        case .otherWay, .unknown, .neutral, .silent:
            Handler.takers.contains(module)
                || module == "pam_exec" && options.contains("expose_authtok")
        case .signet, .otherFingerprint, .rule, .gate, .failureCounter, .failureReset, .permit,
            .deny:
            false
        }
    }
}

extension Chain {
    /// The lines of pam_signet that may hand on the login password, by their places.
    var releasing: [Int] { places(of: .signet).filter { handlers[$0].releasesPassword } }

    /// Modules that should ask for a password, and that a touch alone satisfies because it released
    /// one; by their places. Nil if there are too many ways.
    func satisfiedByRelease() -> [Int]? {
        guard let first = releasing.first else { return [] }
        let touch = Visitor(finger: .success, knowsPassword: false)
        let answers = handlers.indices.map { index -> [ReturnCode] in
            let handler = handlers[index]
            if handler.call == .substack { return [] }
            guard index > first, handler.takesPassword else { return touch.answers(of: handler) }
            return [.success, .userUnknown]
        }
        guard let walks = walks(answers) else { return nil }
        var found: Set<Int> = []
        for walk in walks where walk.code == .success {
            guard let released = walk.calls.first(where: { handlers[$0.index].releasesPassword })
            else { continue }
            for call in walk.calls where call.index > released.index && call.code == .success {
                guard handlers[call.index].takesPassword, !isAccepted(walk, without: call.index)
                else { continue }
                found.insert(call.index)
            }
        }
        return found.sorted()
    }

    /// The line of pam_signet after which a touch alone reaches a module that opens a keyring, by its
    /// place; nil where it reaches none.
    var touchWithoutKeyring: Int? {
        let walks = walks(of: Visitor(finger: .success, knowsPassword: false)) ?? []
        for walk in walks where walk.code == .success {
            guard let touch = walk.calls.first(where: { handlers[$0.index].role == .signet }),
                walk.calls.contains(where: { handlers[$0.index].opensKeyring })
            else { continue }
            return touch.index
        }
        return nil
    }

    /// Whether a way would still let in if a module on it had refused. What is not on it answers as
    /// to somebody who touches and knows no password.
    private func isAccepted(_ walk: StackResult, without refusing: Int) -> Bool {
        let touch = Visitor(finger: .success, knowsPassword: false)
        let given = Dictionary(
            walk.calls.map { ($0.index, $0.code) }, uniquingKeysWith: { first, _ in first })
        let result = run { index in
            if index == refusing { return .authErr }
            return given[index] ?? touch.answers(of: handlers[index]).first ?? .permDenied
        }
        return result.code == .success
    }
}
