// SPDX-License-Identifier: Apache-2.0
/// The result of one run through a chain.
struct StackResult: Equatable {
    /// The code that the application receives.
    let code: PAMReturnCode
    /// The modules that were called, in order.
    let calls: [StackCall]
}

/// A module that was called, by its place in the chain, and the code it returned.
struct StackCall: Equatable {
    let index: Int
    let code: PAMReturnCode
}

extension Chain {
    /// Runs through the chain as libpam does to authenticate; `_pam_dispatch_aux`.
    ///
    /// Success requires that a module has been accepted: a run in which all modules are ignored
    /// ends with PAM_PERM_DENIED.
    ///
    /// - Parameter result: Decides what the module at a place in the chain returns.
    func run(_ result: (Int) -> PAMReturnCode) -> StackResult {
        guard !isAborted else { return StackResult(code: .abort, calls: []) }
        var state = DispatchState()
        var calls: [StackCall] = []
        var before = [DispatchState](repeating: state, count: 32)
        var index = 0
        var previous = 0
        while index < handlers.count {
            let handler = handlers[index]
            let level = handler.level
            if previous < level, level < before.count { before[level] = state }
            previous = level
            if handler.call == .substack {
                index += 1
                continue
            }
            let code = handler.call == .mustFail ? .permDenied : result(index)
            if handler.call != .mustFail { calls.append(StackCall(index: index, code: code)) }
            switch handler.control[code] {
            case .ignore: break
            case .reset: state = before[min(level, before.count - 1)]
            case .ok: state.accept(code)
            case .done:
                state.accept(code)
                if state.impression == .positive { index = end(of: index) }
            case .bad: state.refuse(code)
            case .die:
                state.refuse(code)
                index = end(of: index)
            case .jump(let count):
                if let target = jump(count, from: index) {
                    index = target
                } else {
                    state = DispatchState(impression: .negative, code: .permDenied)
                    index = end(of: index)
                }
            }
            index += 1
        }
        let isUnproven = state.code == .success && state.impression != .positive
        return StackResult(code: isUnproven ? .permDenied : state.code, calls: calls)
    }

    /// The index of the last module that a jump skips; nil if there are not that many.
    ///
    /// As in libpam, a substack counts as one module, and a jump does not leave its own substack.
    func jump(_ count: Int, from start: Int) -> Int? {
        let level = handlers[start].level
        var index = start
        var left = count
        while left > 0, index + 1 < handlers.count, handlers[index + 1].level >= level {
            repeat {
                index += 1
            } while index + 1 < handlers.count
                && handlers[index + 1].level > level
            left -= 1
        }
        return left == 0 ? index : nil
    }

    /// The index of the last module of the substack that contains a module.
    private func end(of start: Int) -> Int {
        var index = start
        while index + 1 < handlers.count, handlers[index + 1].level >= handlers[start].level {
            index += 1
        }
        return index
    }
}

/// The state of a run: libpam's `impression` and `status`.
private struct DispatchState {
    enum Impression {
        case undecided, positive, negative
    }

    var impression = Impression.undecided
    var code = PAMReturnCode.permDenied

    /// Records a success, unless a failure or another code has been recorded.
    mutating func accept(_ code: PAMReturnCode) {
        guard impression == .undecided || (impression == .positive && self.code == .success)
        else { return }
        impression = .positive
        self.code = code
    }

    /// Records a failure, unless one has been recorded; PAM_IGNORE counts as PAM_PERM_DENIED.
    mutating func refuse(_ code: PAMReturnCode) {
        guard impression != .negative else { return }
        impression = .negative
        self.code = code == .ignore ? .permDenied : code
    }
}
