// SPDX-License-Identifier: Apache-2.0
/// Where a password comes from in a stack: who asks for it, and who takes only what is there.
extension Handler {
    /// Modules whose `use_first_pass` means that they never ask: pam_unix(8), pam_sss(8),
    /// pam_winbind(8), pam_ldap(8). Others ask all the same (pam_krb5).
    private static let obedient: Set<String> = [
        "pam_unix", "pam_extrausers", "pam_sss", "pam_winbind", "pam_ldap",
    ]

    /// Modules that check passwords of this machine's own files alone.
    private static let local: Set<String> = [
        "pam_unix", "pam_unix2", "pam_extrausers", "pam_tcb", "pam_userdb",
    ]

    /// Whether it takes a password that another asked for, and asks for none.
    var onlyTakesPassword: Bool {
        role == .password && Handler.obedient.contains(module) && options.contains("use_first_pass")
    }

    /// Whether a password may lie behind it that was not there before. Of what the doctor does not
    /// know it may.
    fileprivate var mayAsk: Bool {
        switch role {
        case .password:
            // pam_sss keeps what was typed to itself unless it is told to hand it on.
            !onlyTakesPassword && (module != "pam_sss" || options.contains("forward_pass"))
        case .otherWay, .unknown: true
        case .otherFingerprint: module == "pam_fprintd_grosshack"
        case .neutral: ["pam_mount", "pam_ecryptfs", "pam_fscrypt"].contains(module)
        // What is typed at pam_signet's own prompt is not there when nobody can be asked.
        case .signet, .rule, .gate, .failureCounter, .failureReset, .permit, .deny, .silent: false
        }
    }

    /// Whether it knows this machine's own accounts alone.
    var isLocalPassword: Bool { role == .password && Handler.local.contains(module) }

    /// Whether its failure for an account that it does not know keeps out.
    fileprivate var refusesStrangers: Bool { [.bad, .die].contains(control[.userUnknown]) }

    /// Whether a wrong password, or none, keeps out whatever comes later.
    fileprivate var demandsPassword: Bool {
        role == .password && [.bad, .die].contains(control[.authErr])
    }
}

extension Chain {
    /// Modules that take only a password that is there, and are reached with none, by their places.
    ///
    /// - Parameter walks: all ways with the right password, when no finger can be asked for.
    func unaskedPasswords(_ walks: [StackResult]) -> [Int] {
        places(of: .password).filter { index in
            guard handlers[index].onlyTakesPassword else { return false }
            let reaching = walks.compactMap { walk -> [StackCall]? in
                let before = walk.calls.prefix { $0.index != index }
                guard before.count < walk.calls.count else { return nil }
                // Accounts of a directory are not those of this machine's own files.
                let isLocal = before.contains {
                    handlers[$0.index].module == "pam_localuser" && $0.code == .success
                }
                return isLocal && !handlers[index].isLocalPassword ? nil : Array(before)
            }
            return !reaching.isEmpty
                && reaching.allSatisfy { calls in !calls.contains { handlers[$0.index].mayAsk } }
        }
    }

    /// Modules whose accounts another one refuses before they are asked, with that one, where either
    /// is pam_sss. By their places.
    ///
    /// - Parameter passed: the ways on which the right password lets in.
    func shadowedPasswords(_ passed: [StackResult]) -> [(module: Int, by: Int)] {
        guard !passed.isEmpty else { return [] }
        // An account is sssd's or another's: that both accept its password is no way in.
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

    /// The module that wants a password before pam_signet can let in, by its place; nil where a touch
    /// does not fail for that.
    ///
    /// - Parameter touched: the ways of somebody who touches and knows the password.
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

    /// Where pam_signet waits for a finger before any password is asked for: the place of its line.
    ///
    /// - Parameter walks: all ways with the right password, when no finger can be asked for.
    func touchBeforePassword(_ walks: [StackResult]) -> Int? {
        guard let first = places(of: .signet).first,
            // Without a terminal it stays out then.
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
    /// Whether its line says a wait so short that somebody chose it for a program without a prompt.
    fileprivate var waitsBriefly: Bool {
        options.contains { option in
            guard option.hasPrefix("timeout="), let seconds = Int(option.dropFirst(8)) else {
                return false
            }
            return seconds <= 10
        }
    }
}
