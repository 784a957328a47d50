// SPDX-License-Identifier: Apache-2.0
/// The verdict on a service's `auth` stack, found by running through it as libpam does.
///
/// The stack is run for a finger that matches, fails or is unavailable, with and without the right
/// password, and with every combination of answers that its other modules may give (`Visitor`). The
/// properties say what these runs show. If there are too many, `isTooTangled` is set and nothing
/// else is judged, except jumps.
struct StackVerdict: Equatable {
    /// The codes of pam_signet after which the right password does not authenticate.
    private(set) var passwordLost: Set<ReturnCode> = []
    /// Whether no module asks for a password.
    private(set) var hasNoPassword = false
    /// The codes of pam_signet after which a user without finger and password is authenticated.
    private(set) var open: Set<ReturnCode> = []
    /// Whether a verified touch is not enough.
    private(set) var touchIsNotEnough = false
    /// The places of modules that can deny a login by password, but that a touch skips.
    private(set) var skippedGates: [Int] = []
    /// Whether a touch does not reach the module that clears earlier failures.
    private(set) var failuresStay = false
    /// Whether pam_faillock counts a failure although no password was asked for.
    private(set) var fingersAreCounted = false
    /// The places of modules that never ask for a password and are reached without one.
    private(set) var unasked: [Int] = []
    /// The modules whose own accounts never reach them, and the ones that reject those accounts.
    private(set) var shadowed: [Shadow] = []
    /// The place of the module that requires a password before a touch counts.
    private(set) var demandBeforeTouch: Int?
    /// The place of pam_signet's line, if it waits for a finger before a password can be typed.
    private(set) var touchBeforePassword: Int?
    /// The places of jumps that skip more modules than there are.
    private(set) var longJumps: [Int] = []
    /// The places of modules that should ask for a password, but are satisfied by one that a touch
    /// released.
    private(set) var released: [Int] = []
    /// Whether there are more paths than the doctor follows.
    private(set) var isTooTangled = false

    /// The places of a module whose own accounts never reach it, and of the one that rejects them.
    struct Shadow: Equatable {
        let module: Int
        let by: Int
    }

    /// The code of pam_signet when no finger can be used, which counts against no one.
    private static let unavailable: [ReturnCode] = [.authinfoUnavail]
    private static let mismatches: [ReturnCode] = [.authErr, .maxtries]
    private static let faults: [ReturnCode] = [
        .serviceErr, .systemErr, .bufErr, .moduleUnknown,
    ]

    /// Judges a chain that calls pam_signet.
    init(_ chain: Chain) {
        hasNoPassword = chain.places(of: .password).isEmpty
        longJumps = chain.handlers.indices.filter { index in
            chain.handlers[index].control.jumps.contains { chain.jump($0, from: index) == nil }
        }
        let codes = StackVerdict.unavailable + StackVerdict.mismatches + StackVerdict.faults
        var welcome: [StackResult] = []
        for code in codes {
            let right = walks(chain, finger: code, knowsPassword: true)
            let passed = right.filter { $0.code == .success && chain.asksPassword(in: $0) }
            if passed.isEmpty, !hasNoPassword { passwordLost.insert(code) }
            if code == .authinfoUnavail {
                welcome = passed
                judgePasswords(of: chain, right, passed)
            }
            let wrong = walks(chain, finger: code, knowsPassword: false)
            if wrong.contains(where: { $0.code == .success }) { open.insert(code) }
            // Only if every path to the counter bypasses passwords; a rule may exclude some.
            let counting = wrong.compactMap { chain.countsFinger(in: $0) }
            if !StackVerdict.faults.contains(code), counting.contains(true),
                !counting.contains(false)
            {
                fingersAreCounted = true
            }
        }
        let quit = walks(chain, finger: .convErr, knowsPassword: false)
        if quit.contains(where: { $0.code == .success }) { open.insert(.convErr) }
        let touched = walks(chain, finger: .success, knowsPassword: false)
            .filter { $0.code == .success }
        touchIsNotEnough = touched.isEmpty
        if touchIsNotEnough {
            demandBeforeTouch = chain.demandBeforeTouch(
                walks(chain, finger: .success, knowsPassword: true))
        }
        if let satisfied = chain.satisfiedByRelease() {
            released = satisfied
        } else {
            isTooTangled = true
        }
        if !touchIsNotEnough { compare(welcome, touched, in: chain) }
        if isTooTangled { self = StackVerdict(tangled: longJumps) }
    }

    private init(tangled longJumps: [Int]) {
        self.longJumps = longJumps
        isTooTangled = true
    }

    /// Judges which modules ask for the password, and which accounts reach them.
    private mutating func judgePasswords(
        of chain: Chain, _ walks: [StackResult], _ passed: [StackResult]
    ) {
        unasked = chain.unaskedPasswords(walks)
        shadowed = chain.shadowedPasswords(passed)
            .filter { !unasked.contains($0.module) }
            .map { Shadow(module: $0.module, by: $0.by) }
        touchBeforePassword = chain.touchBeforePassword(walks)
    }

    private mutating func walks(
        _ chain: Chain, finger: ReturnCode, knowsPassword: Bool
    ) -> [StackResult] {
        guard !isTooTangled,
            let found = chain.walks(of: Visitor(finger: finger, knowsPassword: knowsPassword))
        else {
            isTooTangled = true
            return []
        }
        return found
    }

    /// Judges what the paths of a password have that those of a touch lack.
    private mutating func compare(
        _ passwords: [StackResult], _ touches: [StackResult], in chain: Chain
    ) {
        let reached = Set(touches.flatMap(\.calls).map(\.index))
        let isCounted =
            fingersAreCounted || reached.contains { chain.handlers[$0].role == .failureReset }
        for index in Set(passwords.flatMap(\.calls).map(\.index)).subtracting(reached).sorted() {
            switch chain.handlers[index].role {
            case .gate where chain.handlers[index].module == "pam_faillock" && !isCounted:
                // It keeps users out only after failed passwords, which a touch neither adds nor
                // clears. The finger has a lockout of its own.
                continue
            case .gate: skippedGates.append(index)
            case .rule where chain.handlers[index].isDemanding: skippedGates.append(index)
            case .failureReset: failuresStay = true
            case .rule, .signet, .otherFingerprint, .password, .otherWay, .failureCounter,
                .permit, .deny, .silent, .neutral, .unknown:
                continue
            }
        }
    }
}

extension Chain {
    /// Whether a password was accepted in a run.
    fileprivate func asksPassword(in result: StackResult) -> Bool {
        result.calls.contains {
            $0.code == .success && handlers[$0.index].role == .password
        }
    }

    /// Whether a run counted a failure before a password was asked for; nil if it counted none.
    fileprivate func countsFinger(in result: StackResult) -> Bool? {
        var isPasswordAsked = false
        for call in result.calls {
            switch handlers[call.index].role {
            case .password: isPasswordAsked = true
            case .failureCounter: return !isPasswordAsked
            case .signet, .otherFingerprint, .otherWay, .rule, .gate, .failureReset, .permit,
                .deny, .silent, .neutral, .unknown:
                continue
            }
        }
        return nil
    }
}

extension Handler {
    /// Whether its failure makes authentication fail.
    fileprivate var isDemanding: Bool { [.bad, .die].contains(control[.authErr]) }
}
