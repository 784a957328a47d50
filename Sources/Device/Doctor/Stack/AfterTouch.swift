// SPDX-License-Identifier: Apache-2.0
/// What a module does in an `auth` stack if PAM_AUTHTOK is not set, as after a touch.
///
/// Most modules need no password, and are not in the table; nor are second factors, which ask on
/// purpose. Rows say what the modules of Debian 12 did under libpam, pam_ssh's and pam_zfs_key's
/// what their sources and manuals say.
enum PasswordLack: Equatable {
    /// Asks for it.
    case asks
    /// Asks for nothing, and leaves closed what the password would have opened.
    case leavesClosed
}

extension Handler {
    /// Modules that ask for the password, whatever their options.
    private static let asking: Set<String> = [
        "pam_kwallet", "pam_kwallet5", "pam_encfs", "pam_zfs_key", "pam_script",
    ]

    /// Modules that open a directory with the password, and never ask for it.
    private static let silent: Set<String> = ["pam_ecryptfs", "pam_fscrypt", "pam_cifscreds"]

    /// What it does without a password; nil if it needs none.
    var passwordLack: PasswordLack? {
        switch module {
        case "pam_mount": isInteractive ? .asks : .leavesClosed
        case "pam_exec": givesPasswordToProgram ? .asks : nil
        case "pam_ssh", "pam_pwdfile": options.contains("use_first_pass") ? nil : .asks
        case "pam_krb5" where options.contains("force_first_pass"): nil
        case let name where Handler.asking.contains(name): .asks
        case let name where Handler.silent.contains(name): .leavesClosed
        default: role == .password && !onlyTakesPassword ? .asks : nil
        }
    }

    /// Whether pam_mount asks where it has no password; the last of the two options counts.
    var isInteractive: Bool {
        let last = options.last { ["enable_interactive", "disable_interactive"].contains($0) }
        return last != "disable_interactive"
    }

    /// Whether pam_exec, called to authenticate, passes the password on to its program.
    private var givesPasswordToProgram: Bool {
        options.contains("expose_authtok")
            && options.allSatisfy { !$0.hasPrefix("type=") || $0 == "type=auth" }
    }

    /// Whether it asks even for a password that is there.
    var ignoresPassword: Bool {
        switch module {
        case "pam_mount": options.contains("disable_pam_password")
        case "pam_sss": options.contains("prompt_always")
        case "pam_winbind": !options.contains { ["try_first_pass", "use_first_pass"].contains($0) }
        default: false
        }
    }

    /// Whether modules after it have a password, because it asked for one or found one.
    var suppliesPassword: Bool {
        switch module {
        case "pam_gdm", "pam_systemd_loadkey", "pam_fprintd_grosshack": true
        case "pam_mount": isInteractive && !options.contains("disable_propagate_password")
        case "pam_ssh": false
        default:
            options.contains("forward_pass") || passwordLack == .asks && module != "pam_sss"
        }
    }

    /// What pam_succeed_if returns for a service; nil if this also depends on other things.
    func ruling(on service: String) -> PAMReturnCode? {
        guard module == "pam_succeed_if" else { return nil }
        let flags: Set = ["debug", "use_uid", "quiet", "quiet_fail", "quiet_success", "audit"]
        let words = options.filter { !flags.contains($0) }
        var isForOthers = false
        for start in stride(from: 0, to: words.count, by: 3) {
            guard start + 2 < words.count, words[start] == "service" else {
                isForOthers = true
                continue
            }
            let names = words[start + 2].split(separator: ":").map(String.init)
            let holds: Bool
            switch words[start + 1] {
            case "=", "eq": holds = words[start + 2] == service
            case "!=", "ne": holds = words[start + 2] != service
            case "in": holds = names.contains(service)
            case "notin": holds = !names.contains(service)
            default: return nil
            }
            if !holds { return .authErr }
        }
        return isForOthers ? nil : .success
    }
}

/// A module that a touch leads to and that has a use for the login password.
struct CallAfterTouch: Hashable {
    let index: Int
    let lack: PasswordLack
    /// Whether a module before it has asked for the password, or found it.
    let isSupplied: Bool
    /// Whether it gets the password that a touch releases, from accounts that have stored theirs.
    let isReleased: Bool
}

extension Chain {
    /// The runs in which a touch alone authenticates; none if there are too many.
    ///
    /// - Parameter isInstalled: Whether the file of a module exists, by its path in the stack.
    func touches(in service: String, isInstalled: (String) -> Bool) -> [StackResult] {
        runs(in: service, isInstalled: isInstalled) {
            Visitor(finger: .success, knowsPassword: false).answers(of: $0)
        }.filter(\.isAccepted)
    }

    /// The indices of the modules that are called for a user who may log in, in a stack of another
    /// type than `auth`.
    func calls(in service: String, isInstalled: (String) -> Bool) -> Set<Int> {
        let runs = runs(in: service, isInstalled: isInstalled) { handler in
            switch handler.role {
            case .deny: [.authErr]
            case .rule: Visitor(finger: .success, knowsPassword: true).answers(of: handler)
            case .password: [.success, .userUnknown]
            default: [.success]
            }
        }
        return Set(runs.flatMap(\.calls).map(\.index))
    }

    private func runs(
        in service: String, isInstalled: (String) -> Bool,
        answers: (Handler) -> [PAMReturnCode]
    ) -> [StackResult] {
        let all = handlers.map { handler -> [PAMReturnCode] in
            guard handler.call == .module else { return [.success] }
            if !isInstalled(handler.path) { return [.moduleUnknown] }
            if let ruling = handler.ruling(on: service) { return [ruling] }
            // What only sets something up has the same control for each of its answers.
            return handler.role == .neutral ? [.success] : answers(handler)
        }
        return walks(all) ?? []
    }

    /// The modules that these runs lead to after the touch.
    ///
    /// - Parameter mayRelease: Whether the service may get the password that a touch releases.
    func callsAfterTouch(in runs: [StackResult], mayRelease: Bool) -> Set<CallAfterTouch> {
        var found: Set<CallAfterTouch> = []
        for run in runs {
            var (isTouched, isReleased, isSupplied) = (false, false, false)
            for call in run.calls where call.code != .moduleUnknown {
                let handler = handlers[call.index]
                if handler.role == .signet {
                    isTouched = true
                    isReleased = isReleased || mayRelease && handler.releasesPassword
                    continue
                }
                if isTouched, let lack = handler.passwordLack {
                    let uses = !handler.ignoresPassword
                    found.insert(
                        CallAfterTouch(
                            index: call.index, lack: lack, isSupplied: isSupplied && uses,
                            isReleased: isReleased && uses))
                }
                isSupplied = isSupplied || handler.suppliesPassword
            }
        }
        return found
    }
}
