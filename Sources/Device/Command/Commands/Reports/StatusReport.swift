// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Doctor
import LoginProtocol

/// What prevents fingerprint login; the raw value is for programs.
enum Obstacle: String {
    case noFinger = "no-finger"
    case off = "off"
    case invalidated = "invalidated"
    case damaged = "damaged"
    case closed = "closed"
    case locked = "locked"
    case noReader = "no-reader"
    case readerAway = "reader-away"
    case printLost = "print-lost"
    case elsewhere = "not-here"
    case lidClosed = "lid-closed"
    case vault = "vault"
    case settings = "settings"
    case refused = "refused"
    case unused = "unused"
    case moduleMissing = "module-missing"
    case keptOut = "kept-out"
    case notRegistered = "not-registered"
    case registrationEnded = "registration-ended"
    case serverFile = "server-file"

    /// The obstacle that a server's trouble amounts to.
    init(_ trouble: ServerDemand.Trouble) {
        switch trouble {
        case .notRegistered: self = .notRegistered
        case .ended: self = .registrationEnded
        case .file: self = .serverFile
        }
    }
}

/// The status of an account, combined from all sources, and what follows from it.
struct StatusReport {
    /// What the daemon reports.
    private let known: AccountStatus
    let module: ModuleUse
    /// The servers that PAM stacks require.
    let demands: ServerDemands

    init(_ known: AccountStatus, module: ModuleUse, demands: ServerDemands) {
        self.known = known
        self.module = module
        self.demands = demands
    }

    var status: StatusAnswer { known.answer }
    var readers: [ReaderAnswer]? { known.readers }
    var servers: [ServerAnswer]? { known.servers }
    var signing: SigningKeyAnswer? { known.signing }

    /// The damaged prints.
    var damaged: [PrintAnswer] { known.prints.filter { !$0.intact } }

    /// The intact prints that no finger can match now.
    var unusable: [PrintAnswer] {
        known.prints.filter { $0.intact && ($0.state ?? .usable) != .usable }
    }

    /// Whether another account may have enrolled the fingers, of which nothing is told then.
    var isReplaced: Bool {
        status.cause == .accountReplaced || status.cause == .passwordReplaced
    }

    /// The servers because of which a touch does not suffice at some services.
    var serverTroubles: [(demand: ServerDemand, trouble: ServerDemand.Trouble)] {
        demands.demands(on: status.account).compactMap { demand in
            demand.trouble(servers).map { (demand, $0) }
        }
    }

    /// The obstacles due to servers, if they affect all services.
    private var serverObstacles: [Obstacle] {
        let troubles = serverTroubles
        guard !troubles.isEmpty, !demands.areOpen(beside: troubles.map(\.demand)) else { return [] }
        var obstacles: [Obstacle] = []
        for obstacle in troubles.map({ Obstacle($0.trouble) }) where !obstacles.contains(obstacle) {
            obstacles.append(obstacle)
        }
        return obstacles
    }

    /// Everything that prevents login, in the order in which to repair it.
    ///
    /// If the daemon would refuse a login, there is at least one obstacle.
    var obstacles: [Obstacle] {
        var obstacles: [Obstacle] = []
        if readers?.isEmpty == true {
            obstacles.append(.noReader)
        } else if status.refusal?.reason == .noReader {
            obstacles.append(status.refusal?.subject == nil ? .noReader : .readerAway)
        }
        if status.prints == 0 && damaged.isEmpty && !isReplaced { obstacles.append(.noFinger) }
        switch status.state {
        case .valid: break
        case .invalidated: obstacles.append(damaged.isEmpty ? .invalidated : .damaged)
        case .none, .disabled: obstacles.append(damaged.isEmpty ? .off : .damaged)
        }
        if status.closed != nil { obstacles.append(.closed) }
        if status.lock != .open { obstacles.append(.locked) }
        switch status.refusal?.reason {
        case .lidClosed: obstacles.append(.lidClosed)
        case .vaultUnavailable, .platformChanged: obstacles.append(.vault)
        case .settingsNotUnderstood: obstacles.append(.settings)
        case .printLost: obstacles.append(.printLost)
        case .invalidated where obstacles.isEmpty: obstacles.append(.invalidated)
        case .remoteSession, .notAtMachine, .otherRequester: obstacles.append(.elsewhere)
        case .some where obstacles.isEmpty && status.keptOut == nil: obstacles.append(.refused)
        default: break
        }
        if module.isUnused { obstacles.append(.unused) }
        if module.isMissing { obstacles.append(.moduleMissing) }
        if status.keptOut != nil { obstacles.append(.keptOut) }
        return obstacles + serverObstacles
    }

    /// The next step for the user; nil if there is none, or no command performs it.
    var next: LoginStep? {
        for obstacle in obstacles {
            if let step = step(for: obstacle) { return step }
        }
        return nil
    }

    private func step(for obstacle: Obstacle) -> LoginStep? {
        switch obstacle {
        case .noFinger: .enroll
        case .off: .enable
        case .invalidated:
            switch status.cause ?? status.refusal?.cause {
            case .tpmExchanged: .startAnew
            // Whose the fingers are, only a person knows: a line of the status has both commands.
            case .accountReplaced: nil
            default: .enable
            }
        case .printLost: unusable.first { $0.state == .lost }?.finger.map(LoginStep.enrollAgain)
        case .damaged: damaged.first?.finger.map(LoginStep.enrollAgain) ?? .startAnew
        case .closed: .closed(because: status.closed ?? [], cause: status.cause)
        case .vault: .closed(because: status.refusal?.subject ?? [], cause: status.cause)
        case .locked: .unlock
        case .unused: .activate(module.activation)
        case .moduleMissing: .install(module.installation)
        case .keptOut: .seeSettings
        case .notRegistered, .registrationEnded:
            serverTroubles.lazy.compactMap { trouble -> LoginStep? in
                guard case .server(let url) = trouble.demand.target else { return nil }
                return .register(url)
            }.first
        case .serverFile: .seeDoctor
        // These require the user's hands, or patience.
        case .noReader, .readerAway, .lidClosed, .elsewhere, .settings, .refused: nil
        }
    }
}
