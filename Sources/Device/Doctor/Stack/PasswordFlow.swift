// SPDX-License-Identifier: Apache-2.0
/// Which modules in a stack ask for a password, and which only use one that was already entered.
extension Handler {
    /// Modules that never ask if `use_first_pass` is given: pam_unix(8), pam_sss(8),
    /// pam_winbind(8), pam_ldap(8).
    ///
    /// Others, such as pam_krb5, ask nevertheless.
    private static let obedient: Set<String> = [
        "pam_unix", "pam_extrausers", "pam_sss", "pam_winbind", "pam_ldap",
    ]

    /// Modules that only check passwords in this machine's own files.
    private static let local: Set<String> = [
        "pam_unix", "pam_unix2", "pam_extrausers", "pam_tcb", "pam_userdb",
    ]

    /// Whether it uses a password that was already entered, and never asks for one.
    var onlyTakesPassword: Bool {
        role == .password && Handler.obedient.contains(module) && options.contains("use_first_pass")
    }

    /// Whether it may leave a password behind that was not there before. An unknown module may.
    fileprivate var mayAsk: Bool {
        switch role {
        case .password:
            // pam_sss keeps the password to itself unless it is told to pass it on.
            !onlyTakesPassword && (module != "pam_sss" || options.contains("forward_pass"))
        case .otherWay, .unknown: true
        case .otherFingerprint: module == "pam_fprintd_grosshack"
        case .neutral: ["pam_mount", "pam_ecryptfs", "pam_fscrypt"].contains(module)
        // pam_signet can pass on what is typed at its own prompt, but not when no one can be asked.
        case .signet, .rule, .gate, .failureCounter, .failureReset, .permit, .deny, .silent: false
        }
    }

    /// Whether it only knows this machine's own accounts.
    var isLocalPassword: Bool { role == .password && Handler.local.contains(module) }

    /// Whether an account that it does not know makes authentication fail.
    fileprivate var refusesStrangers: Bool { [.bad, .die].contains(control[.userUnknown]) }

    /// Whether a wrong or missing password makes authentication fail, whatever follows.
    fileprivate var demandsPassword: Bool {
        role == .password && [.bad, .die].contains(control[.authErr])
    }
}

extension Chain {
    /// The places of modules that only use an existing password, but are reached without one.
    ///
    /// - Parameter walks: All paths with the right password while no finger is available.
    func unaskedPasswords(_ walks: [StackResult]) -> [Int] {
        places(of: .password).filter { index in
            guard handlers[index].onlyTakesPassword else { return false }
            let reaching = walks.compactMap { walk -> [StackCall]? in
                let before = walk.calls.prefix { $0.index != index }
                guard before.count < walk.calls.count else { return nil }
                // Accounts of a directory are not in this machine's own files.
                let isLocal = before.contains {
                    handlers[$0.index].module == "pam_localuser" && $0.code == .success
                }
                return isLocal && !handlers[index].isLocalPassword ? nil : Array(before)
            }
            return !reaching.isEmpty
                && reaching.allSatisfy { calls in !calls.contains { handlers[$0.index].mayAsk } }
        }
    }

    /// The places of password modules whose accounts an earlier one rejects before they are asked.
    ///
    /// Only pairs in which exactly one is pam_sss are considered.
    ///
    /// - Parameter passed: The paths on which the right password authenticates.
    /// - Returns: For each such module, its place and that of the module that rejects its accounts.
    func shadowedPasswords(_ passed: [StackResult]) -> [(module: Int, by: Int)] {
        guard !passed.isEmpty else { return [] }
        // An account is either sssd's or not, so a path on which both kinds succeed is impossible.
        let accepted = Set(
            passed.map { walk in
                walk.calls.filter { $0.code == .success }.map(\.index)
                    .filter { handlers[$0].role == .password }
            }.filter { calls in Set(calls.map { handlers[$0].module == "pam_sss" }).count == 1 }
                .joined())
        let passwords = places(of: .password)
        return passwords.filter { !accepted.contains($0) }.compactMap { index in
            let other = passwords.first { before in
                before < index && handlers[before].refusesStrangers
                    && (handlers[before].module == "pam_sss")
                        != (handlers[index].module == "pam_sss")
            }
            return other.map { (index, $0) }
        }
    }

    /// The place of a module that requires a password before pam_signet can authenticate.
    ///
    /// Nil if no touch fails for that reason.
    ///
    /// - Parameter touched: The paths of a user who touches and knows the password.
    func demandBeforeTouch(_ touched: [StackResult]) -> Int? {
        guard let first = places(of: .signet).first,
            let demanding = places(of: .password).first(where: { handlers[$0].demandsPassword }),
            demanding < first
        else { return nil }
        let isReached = touched.contains { walk in
            walk.code == .success && walk.calls.contains { $0.index == first }
        }
        return isReached ? demanding : nil
    }

    /// The place of pam_signet's line, if it waits for a finger before any password is asked for.
    ///
    /// - Parameter walks: All paths with the right password while no finger is available.
    func touchBeforePassword(_ walks: [StackResult]) -> Int? {
        guard let first = places(of: .signet).first,
            // With `prompt=together` but no terminal, the module does not wait.
            !handlers[first].options.contains("prompt=together"),
            !handlers[first].waitsBriefly
        else { return nil }
        let waiting = walks.contains { walk in
            let before = walk.calls.prefix { $0.index != first }
            let asked = before.contains { handlers[$0.index].role == .password }
            return before.count < walk.calls.count && !asked
        }
        return waiting ? first : nil
    }
}

extension Handler {
    /// Whether the line has a timeout so short that it was chosen for a program without a prompt.
    fileprivate var waitsBriefly: Bool {
        options.contains { option in
            guard option.hasPrefix("timeout="), let seconds = Int(option.dropFirst(8)) else {
                return false
            }
            return seconds <= 10
        }
    }
}
