// SPDX-License-Identifier: Apache-2.0
/// A user who tries to authenticate, as far as this determines what each module can answer.
struct Visitor {
    /// The code that pam_signet returns for this user.
    let finger: PAMReturnCode
    /// Whether the user types the right password when asked for one.
    let knowsPassword: Bool

    /// All codes that a module may return to this user, the likeliest first.
    ///
    /// A module that the doctor does not know may return anything if the question is whether a
    /// legitimate user can authenticate. It never succeeds if the question is whether a stranger
    /// can, because a finding of that kind must be certain.
    func answers(of handler: Handler) -> [PAMReturnCode] {
        switch handler.role {
        case .signet: return [finger]
        case .otherFingerprint: return [.authinfoUnavail]
        case .password:
            return knowsPassword ? [.success, .userUnknown] : [.authErr, .userUnknown]
        case .otherWay: return [.authErr, .ignore]
        case .rule:
            // If success authenticates or jumps, that is the exception for which the rule was
            // written.
            switch handler.control[.success] {
            case .done, .jump: return [.authErr]
            case .ignore, .ok, .bad, .die, .reset: return [.success, .authErr]
            }
        case .gate, .failureReset, .neutral: return [.success, .ignore]
        case .failureCounter, .deny: return [.authErr]
        case .permit: return [.success]
        case .silent: return [.ignore]
        case .absent: return [.moduleUnknown]
        case .unknown:
            return isWelcome ? [.success, .ignore, .authErr] : [.ignore, .authErr]
        }
    }

    /// Whether this user has a password or a finger that the stack requires.
    private var isWelcome: Bool { knowsPassword || finger == .success }
}

extension Chain {
    /// The maximum number of runs for one user; a chain that takes more is not judged.
    private static let mostRuns = 1_024

    /// Every path that a user may take through the chain; nil if there are too many.
    func walks(of visitor: Visitor) -> [StackResult]? {
        walks(handlers.map { visitor.answers(of: $0) })
    }

    /// Every path through the chain if each entry returns one of its answers; nil if there are too
    /// many.
    func walks(_ answers: [[PAMReturnCode]]) -> [StackResult]? {
        var results: [StackResult] = []
        // The choices of a run in the order in which they are made, counted up like the digits of a
        // number.
        var choices: [Int] = []
        while results.count < Chain.mostRuns {
            var met: [Int] = []
            let result = run { index in
                let open = answers[index]
                guard open.count > 1 else { return open.first ?? .permDenied }
                let choice = met.count < choices.count ? choices[met.count] : 0
                met.append(index)
                if met.count > choices.count { choices.append(choice) }
                return open[choice]
            }
            results.append(result)
            while let last = choices.last, last + 1 >= answers[met[choices.count - 1]].count {
                choices.removeLast()
            }
            guard let last = choices.indices.last else { return results }
            choices[last] += 1
        }
        return nil
    }

    /// The indices of all modules with a role.
    func indices(of role: ModuleRole) -> [Int] {
        handlers.indices.filter { handlers[$0].role == role }
    }
}
