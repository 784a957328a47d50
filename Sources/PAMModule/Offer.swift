// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol
import ModuleOptions

/// A word on enrolling, to who logged in with the password for want of a finger: only where the stack's
/// line has `offer`, and where a finger would have been asked for.
enum Offer {
    /// How long a login may be held up for it.
    private static let milliseconds: UInt32 = 500

    /// Notes that the account of a login has no key; says nothing yet, since whether the password is
    /// right is not known.
    static func note(
        _ login: Login, _ application: Application, _ options: ModuleOptions
    ) throws(LoginFailure) {
        guard options.offer, options.prompt != .off, geteuid() == 0,
            let place = try? Place(of: login, application, options),
            place.presence != .background
        else { return }
        try application.keep([digit(place.presence)] + login.account, as: Application.Record.offer)
    }

    /// Says it where the daemon does not mind, once. Nothing that happens here is a reason for a login
    /// to fail.
    static func make(_ application: Application, _ arguments: [Bytes]) {
        guard let noted = application.kept(Application.Record.offer), let first = noted.first,
            application.mayShow,
            let presence = position(first), let options = try? ModuleOptions(parsing: arguments)
        else { return }
        do throws(LoginFailure) {
            try application.keep([], as: Application.Record.offer)
            let request = OfferRequest(
                account: Bytes(noted.dropFirst()), service: try application.item(PAM_SERVICE),
                presence: presence)
            let deadline = Deadline(milliseconds: milliseconds)
            var daemon = try Connection.open(options.socket)
            try daemon.send { () throws(WireFault) in try LoginRequest.offer(request) }
            guard daemon.wait(until: deadline), case .notice(let notice)? = try daemon.receive(),
                notice.kind == .offer, let text = notice.text
            else { return }
            application.show(text)
        } catch {
            // Another day will do.
            return
        }
    }

    /// Where a login came from, as a character of a text that is kept.
    private static func digit(_ presence: TerminalPosition) -> UInt8 {
        UInt8(ascii: "0") + presence.rawValue
    }

    private static func position(_ digit: UInt8) -> TerminalPosition? {
        guard digit >= UInt8(ascii: "0") else { return nil }
        return TerminalPosition(rawValue: digit - UInt8(ascii: "0"))
    }
}
