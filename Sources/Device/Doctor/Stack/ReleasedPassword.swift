// SPDX-License-Identifier: Apache-2.0
import ModuleOptions

/// How the login password that a touch releases affects the modules after pam_signet's line.
extension Handler {
    /// Modules that use the password in PAM_AUTHTOK, whatever their options, and do not check the
    /// account's own password. pam_exec passes it to a program.
    private static let takers: Set<String> = [
        "pam_radius_auth", "pam_tacplus", "pam_ssh", "pam_pwdfile", "pam_mysql", "pam_pgsql",
        "pam_http", "pam_oauth2", "pam_script",
    ]

    /// Whether its success may put the login password into PAM_AUTHTOK.
    var releasesPassword: Bool {
        guard role == .signet else { return false }
        return (try? ModuleOptions(parsing: options.map(\.bytes)))?.keyring == true
    }

    /// Whether it uses the login password to open a keyring for the session that follows.
    fileprivate var opensKeyring: Bool {
        ["pam_gnome_keyring", "pam_kwallet", "pam_kwallet5", "pam_oo7"].contains(module)
    }

    /// Whether it uses an existing password instead of asking for one.
    ///
    /// pam_unix does so even without `try_first_pass`: pam_get_authtok(3) asks only if there is no
    /// password yet.
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
    /// The places of pam_signet's lines that may release the login password.
    var releasing: [Int] { places(of: .signet).filter { handlers[$0].releasesPassword } }

    /// The places of modules that should ask for a password, but are satisfied by a touch alone,
    /// because it released one.
    ///
    /// Nil if there are too many paths.
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

    /// The place of the pam_signet line after which a touch alone reaches a module that opens a
    /// keyring; nil if it reaches none.
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

    /// Whether a path would still authenticate if one of its modules had refused.
    ///
    /// Modules that are not on the path answer as they do to a user who touches and knows no
    /// password.
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
