// SPDX-License-Identifier: Apache-2.0
/// What is wrong with a service's `auth` stack, by running through it as libpam does.
struct StackVerdict: Equatable {
    /// pam_signet's codes after which the right password does not let in.
    private(set) var passwordLost: Set<ReturnCode> = []
    /// No module in it asks for a password.
    private(set) var hasNoPassword = false
    /// Somebody without finger and password is let in, after one of these codes.
    private(set) var open: Set<ReturnCode> = []
    /// A verified touch is not enough.
    private(set) var touchIsNotEnough = false
    /// Modules that a touch passes over and a password does not, by their places.
    private(set) var skippedGates: [Int] = []
    /// A touch does not reach what forgets earlier failures.
    private(set) var failuresStay = false
    /// pam_faillock counts a failure although no password was asked for.
    private(set) var fingersAreCounted = false
    /// Modules that never ask for a password, where none was asked for, by their places.
    private(set) var unasked: [Int] = []
    /// Modules that are not reached by their own accounts, and the ones that refuse those.
    private(set) var shadowed: [Shadow] = []
    /// The module that wants a password before a touch counts, by its place.
    private(set) var demandBeforeTouch: Int?
    /// pam_signet's line, where a finger is awaited before a password can be typed, by its place.
    private(set) var touchBeforePassword: Int?
    /// Jumps that pass over more modules than there are, by their places.
    private(set) var longJumps: [Int] = []
    /// Modules that should ask for a password, and that one which a touch released satisfies, by
    /// their places.
    private(set) var released: [Int] = []
    /// There are more ways through it than the doctor follows.
    private(set) var isTooTangled = false

    /// A module that its own accounts do not reach, and the one that refuses them.
    struct Shadow: Equatable {
        let module: Int
        let by: Int
    }

    /// Returned where there is nothing to say against anybody.
    private static let unavailable: [ReturnCode] = [.authinfoUnavail]
    private static let mismatches: [ReturnCode] = [.authErr, .maxtries]
    private static let faults: [ReturnCode] = [
        .serviceErr, .systemErr, .bufErr, .moduleUnknown,
    ]

    /// Runs through a chain that names pam_signet.
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
            // Only where no way to the counter leads past a password: a rule may exclude one.
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

    /// Who asks for the password, and whom it lets in.
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

    /// What the ways of a password have that those of a touch do not.
    private mutating func compare(
        _ passwords: [StackResult], _ touches: [StackResult], in chain: Chain
    ) {
        let reached = Set(touches.flatMap(\.calls).map(\.index))
        let isCounted =
            fingersAreCounted || reached.contains { chain.handlers[$0].role == .failureReset }
        for index in Set(passwords.flatMap(\.calls).map(\.index)).subtracting(reached).sorted() {
            switch chain.handlers[index].role {
            case .gate where chain.handlers[index].module == "pam_faillock" && !isCounted:
                // It keeps out by failed passwords alone, which a touch neither adds to nor clears:
                // the finger has its own lockout.
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

    /// Whether a failure was counted in a run before a password was asked for; nil where none was.
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
    /// Whether its failure keeps out.
    fileprivate var isDemanding: Bool { [.bad, .die].contains(control[.authErr]) }
}
