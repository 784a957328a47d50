// SPDX-License-Identifier: Apache-2.0
/// All runs of a service's `auth` stack, as libpam would do them.
///
/// The stack is run for a finger that matches, fails or is unavailable, with and without the right
/// password, and with every combination of answers that its other modules may give (`Visitor`). The
/// checks draw their conclusions from these runs.
struct StackRuns {
    let chain: Chain
    /// The runs of a user who knows the password, and of one who does not, by the code that
    /// pam_signet returns.
    private let withPassword: [PAMReturnCode: [StackResult]]
    private let withoutPassword: [PAMReturnCode: [StackResult]]
    /// The indices of modules that should ask for a password, but are satisfied by a touch alone,
    /// because the touch released one.
    let satisfiedByRelease: [Int]

    /// The codes of pam_signet after a finger that did not match.
    static let mismatches: [PAMReturnCode] = [.authErr, .maxtries]
    /// The codes of pam_signet, and of libpam for it, after a fault.
    static let faults: [PAMReturnCode] = [.serviceErr, .systemErr, .bufErr, .moduleUnknown]
    /// All codes after which the password must be sufficient.
    static let refusals = [.authinfoUnavail] + mismatches + faults

    /// Runs a stack that calls pam_signet; nil if there are too many runs.
    init?(_ chain: Chain) {
        self.chain = chain
        var (right, wrong): ([PAMReturnCode: [StackResult]], [PAMReturnCode: [StackResult]]) = (
            [:], [:]
        )
        for code in StackRuns.refusals + [.convErr, .success] {
            wrong[code] = chain.walks(of: Visitor(finger: code, knowsPassword: false))
            guard let runs = wrong[code] else { return nil }
            // The effect of a password matters only where a touch is not sufficient.
            if code == .convErr || code == .success && runs.contains(where: \.isAccepted) {
                continue
            }
            right[code] = chain.walks(of: Visitor(finger: code, knowsPassword: true))
            guard right[code] != nil else { return nil }
        }
        guard let satisfied = chain.satisfiedByRelease() else { return nil }
        (withPassword, withoutPassword) = (right, wrong)
        satisfiedByRelease = satisfied
    }

    /// The runs for a user, where pam_signet returns a certain code.
    func runs(_ finger: PAMReturnCode, knowsPassword: Bool) -> [StackResult] {
        (knowsPassword ? withPassword : withoutPassword)[finger] ?? []
    }

    /// The runs in which a touch authenticates without a password.
    var touched: [StackResult] { runs(.success, knowsPassword: false).filter(\.isAccepted) }

    /// Whether no user who knows the password can log in if a module refuses.
    func isRequired(_ index: Int) -> Bool {
        let visitor = Visitor(finger: .authinfoUnavail, knowsPassword: true)
        var answers = chain.handlers.map(visitor.answers)
        answers[index] = [.authErr]
        guard let runs = chain.walks(answers) else { return true }
        return !runs.contains(where: \.isAccepted)
    }

    /// The runs in which the right password authenticates after this code of pam_signet.
    func runs(welcoming finger: PAMReturnCode) -> [StackResult] {
        runs(finger, knowsPassword: true).filter { $0.isAccepted && chain.acceptsPassword(in: $0) }
    }
}

extension StackResult {
    /// Whether the user is authenticated.
    var isAccepted: Bool { code == .success }
}

extension Chain {
    /// Whether a module accepted a password in a run.
    fileprivate func acceptsPassword(in run: StackResult) -> Bool {
        run.calls.contains { $0.code == .success && handlers[$0.index].role == .password }
    }

    /// The indices of modules that are satisfied by a password which a touch released.
    ///
    /// Only modules without which the run would have failed are included. Nil if there are too many
    /// paths.
    fileprivate func satisfiedByRelease() -> [Int]? {
        guard let first = indices(of: .signet).first(where: { handlers[$0].releasesPassword })
        else { return [] }
        let touch = Visitor(finger: .success, knowsPassword: false)
        let answers = handlers.indices.map { index in
            index > first && handlers[index].takesPassword
                ? [.success, .userUnknown] : touch.answers(of: handlers[index])
        }
        guard let walks = walks(answers) else { return nil }
        var found: Set<Int> = []
        for walk in walks where walk.isAccepted {
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

    /// Whether a path would still authenticate if one of its modules had refused.
    ///
    /// Modules that are not on the path answer as they do to a user who touches and knows no
    /// password.
    private func isAccepted(_ walk: StackResult, without refusing: Int) -> Bool {
        let touch = Visitor(finger: .success, knowsPassword: false)
        let given = Dictionary(
            walk.calls.map { ($0.index, $0.code) }, uniquingKeysWith: { first, _ in first })
        return run { index in
            if index == refusing { return .authErr }
            return given[index] ?? touch.answers(of: handlers[index]).first ?? .permDenied
        }.isAccepted
    }
}
