// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol
import ModuleOptions

/// The wait of a lock screen: one call of pam_authenticate(3) that outlasts what will pass.
///
/// A locker asks for the finger for as long as the screen is locked, but KDE's gives it up until the
/// next lock after one PAM_AUTHINFO_UNAVAIL, or after an answer that came too quickly. So this ends
/// only with a proof, with a finger that failed, with an obstacle that will not pass by itself, or
/// with the application. Each attempt is a login of its own, with a challenge of its own; nothing is
/// carried from one to the next, and the daemon counts failures as it does for any login.
///
/// Only a process that is killed with the one that started it can be waited in without end; KDE's
/// next locker calls PAM in such a one. Up to Plasma 6.7, a thread of the locker calls PAM, which
/// cannot end while the call lasts, also when the password has unlocked the screen; the next lock
/// would find no locker. There, a call lasts about as long as fprintd's module would.
struct Patience: ~Copyable {
    /// A pidfd of the process that started the application; negative if it cannot be watched, which
    /// poll(2) ignores.
    private let parent: Int32
    /// Whether a finger could be asked for in this call, or will be able to.
    ///
    /// What was there and is not now may come back; what never was is reported as absent.
    private var isServed = false
    /// Milliseconds to wait before asking again; doubled each time until a finger is awaited.
    private var next = Patience.shortest

    /// The least time in milliseconds that a call takes, whatever comes of it.
    ///
    /// kscreenlocker takes an answer within 50 ms for a broken module, and of the others only
    /// PAM_AUTHINFO_UNAVAIL within 250 ms for a reader that is not there (worker/main.cpp).
    private static let least: UInt32 = 100
    private static let shortest: UInt32 = 1_000
    private static let longest: UInt32 = 15_000
    /// The seconds for which a finger is awaited at a time, after the first time.
    ///
    /// Ten of 25 seconds keep a reader with libfprint's usual model of temperature from getting hot
    /// for good: it would then be off for minutes, and not only for this login.
    private static let burst: UInt32 = 10
    /// The milliseconds after which a reader that is too hot is tried again.
    private static let cooling: UInt32 = 30_000

    init() {
        parent = process_handle(getppid())
    }

    deinit {
        if parent >= 0 { _ = close(parent) }
    }

    /// Authenticates the user like `Login.proveOnce`, again and again.
    ///
    /// - Throws: the failure that will not pass, `.timeUp` when the call is over, or `.interrupted`
    ///   when the application has gone.
    mutating func prove(
        to application: inout Application, options: ModuleOptions
    ) throws(LoginFailure) {
        application.mustBeHeard = true
        try wait(milliseconds: Patience.least)
        var options = options
        // The largest value, seven weeks, stands for no limit.
        // A locker that cannot end the call gets it back after the time for the finger.
        let limit = ends_with_parent() != 0 ? UInt32.max : options.timeoutSeconds * 1_000
        var over = Deadline(milliseconds: limit)
        while true {
            let pause: UInt32
            let ending: LoginFailure
            do throws(LoginFailure) {
                return try Login.proveOnce(to: &application, options: options)
            } catch {
                ending = error
                if case .late = error, next == Patience.shortest {
                    application.log(LOG_WARNING, text: "signetd has not answered yet")
                }
                pause = try self.pause(after: error)
                // The machine has slept, so the time begins anew.
                if case .denied(let denial, _) = error, denial.reason == .suspending {
                    over = Deadline(milliseconds: limit)
                }
            }
            let left = UInt32(bitPattern: over.millisecondsLeft)
            guard pause < left else {
                // As after a finger that did not match, since the application may ask again.
                if case .late = ending, !isServed { throw ending }
                throw .timeUp(mismatches: 1)
            }
            try wait(milliseconds: pause)
            options = options.within(
                seconds: min(Patience.burst, max(1, (left - pause) / 1_000)))
        }
    }

    /// Returns the milliseconds to wait after a failure; throws the failure if it ends the call.
    private mutating func pause(after failure: LoginFailure) throws(LoginFailure) -> UInt32 {
        var outlook = Outlook.lasting
        var seconds: UInt32?
        switch failure {
        case .timeUp: outlook = .rest
        case .unavailable: outlook = .returning
        case .late: outlook = .slow
        case .denied(let denial, _):
            outlook = denial.outlook
            seconds = denial.seconds
        case .declined, .passwordTyped, .passwordWanted, .interrupted, .suspended, .expired,
            .refused, .badOption, .badServer, .libpam:
            break
        }
        switch outlook {
        case .lasting: throw failure
        case .returning: guard isServed else { throw failure }
        case .passing: isServed = true
        case .slow: break
        case .rest:
            isServed = true
            next = Patience.shortest
            return Patience.longest
        case .cooling: return Patience.cooling
        // Asked again each minute at the latest, because the lockout may be ended meanwhile.
        case .locked: return min(seconds ?? 60, 60) * 1_000
        }
        defer { next = min(next * 2, Patience.longest) }
        return next
    }

    private func wait(milliseconds: UInt32) throws(LoginFailure) {
        guard Deadline.passes(in: milliseconds, unlessReady: parent) else { throw .interrupted }
    }
}

/// What is to be expected of an obstacle.
private enum Outlook {
    /// It stays: the user has to do something, or a finger has failed.
    case lasting
    /// It passes by itself.
    case passing
    /// It passes, or not: there was no word of it.
    case slow
    /// It passes if a finger could be asked for before.
    case returning
    /// The time for this attempt is over; the reader rests.
    case rest
    /// The reader has to cool down.
    case cooling
    /// Too many failures in earlier attempts.
    case locked
}

extension LoginDenial {
    fileprivate var outlook: Outlook {
        switch reason {
        case .timedOut: return .rest
        case .readerTooHot: return .cooling
        // A lockout that this attempt has begun is its result.
        case .lockedForNow: return mismatches > 0 ? .lasting : .locked
        case .lidClosed, .suspending, .readerBusy, .queueFull, .cancelled, .tooManyRequests,
            .notAtMachine, .readerRemoved, .passwordOnly, .serverBusy, .stopping:
            return .passing
        case .noReader, .readerFailed, .readerConfused, .vaultUnavailable,
            .serverUnreachable, .serverLost:
            return .returning
        case .noMatch, .notEnrolled, .notEnabled, .invalidated, .lockedUntilPassword, .printLost,
            .remoteSession, .notPermitted, .unknownAccount, .storage, .badRequest,
            .platformChanged, .fingersClosed, .notServed, .inBackground, .otherRequester,
            .otherSeat, .answerTooLate, .changedMeanwhile, .serverRefused, .unknownServer,
            .serverKeyInvalidated, .serverKeyReplaced, .serverKeyRemoved, .serverKeyBlocked,
            .serverTooLongAgo, .clockSetBack, .settingsNotUnderstood:
            return .lasting
        }
    }
}
