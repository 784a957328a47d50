// SPDX-License-Identifier: Apache-2.0
/// Somebody who comes to a service: what each module can answer then.
struct Visitor {
    /// What pam_signet returns.
    let finger: ReturnCode
    /// Whether the right password is typed where one is asked for.
    let knowsPassword: Bool

    /// All that a module may return to this visitor, the likeliest first.
    ///
    /// Modules that the doctor does not know are taken for ones that may do anything where the
    /// question is whether somebody *can* come in rightly, and never for the reason that a stranger
    /// does: a finding that says so must be sure.
    func answers(of handler: Handler) -> [ReturnCode] {
        switch handler.role {
        case .signet: return [finger]
        case .otherFingerprint: return [.authinfoUnavail]
        case .password:
            return knowsPassword ? [.success, .userUnknown] : [.authErr, .userUnknown]
        case .otherWay: return [.authErr, .ignore]
        case .rule:
            // Where its success lets in or changes the way, that is what the rule is there for.
            switch handler.control[.success] {
            case .done, .jump: return [.authErr]
            case .ignore, .ok, .bad, .die, .reset: return [.success, .authErr]
            }
        case .gate, .failureReset, .neutral: return [.success, .ignore]
        case .failureCounter, .deny: return [.authErr]
        case .permit: return [.success]
        case .silent: return [.ignore]
        case .unknown:
            return isWelcome ? [.success, .ignore, .authErr] : [.ignore, .authErr]
        }
    }

    /// Whether this visitor has what the stack asks for.
    private var isWelcome: Bool { knowsPassword || finger == .success }
}

extension Chain {
    /// The most runs for one visitor: what does not end in so many is not judged.
    private static let mostRuns = 1_024

    /// Every way that a visitor may take through the chain; nil if there are too many.
    func walks(of visitor: Visitor) -> [StackResult]? {
        walks(handlers.map { $0.call == .substack ? [] : visitor.answers(of: $0) })
    }

    /// Every way through the chain where each handler gives one of these; nil if there are too many.
    func walks(_ answers: [[ReturnCode]]) -> [StackResult]? {
        var results: [StackResult] = []
        // The choices of a run in the order in which they come, counted up like a number.
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

    /// The places of all modules of a role.
    func places(of role: ModuleRole) -> [Int] {
        handlers.indices.filter { handlers[$0].role == role }
    }
}
