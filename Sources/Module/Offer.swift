// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import Domain
import LoginMessages
import LoginProtocol
import ModuleOptions

/// The suggestion to enrol a finger, for a user who logged in with the password.
///
/// It is made only if the stack's line has `offer`, the account has no registered key, and a finger
/// would otherwise have been asked for. It takes two calls: `note` during authenticate, when the
/// password is not checked yet, and `make` in setcred, once it has been accepted.
enum Offer {
    /// The longest time in milliseconds that an offer may delay the login.
    private static let milliseconds: UInt32 = 500

    /// Stores on the handle that the account has no key; shows nothing yet, because the password
    /// has not been checked.
    static func note(
        _ login: Login, application: Application, options: ModuleOptions
    ) throws(LoginFailure) {
        guard options.offer, options.prompt != .off, geteuid() == 0,
            let place = try? PromptContext(of: login, application: application, options: options),
            place.presence != .background
        else { return }
        let noted = [digit(place.presence)] + login.account.bytes
        try application.keep(noted, as: Application.Record.offer)
    }

    /// Shows the suggestion once, if the daemon agrees. A failure here never fails the login.
    static func make(_ application: Application, arguments: [Bytes]) {
        guard let noted = application.kept(Application.Record.offer), let first = noted.first,
            application.mayShow,
            let presence = position(first), let options = try? Application.options(arguments)
        else { return }
        do throws(LoginFailure) {
            try application.keep([], as: Application.Record.offer)
            let request = OfferRequest(
                account: AccountName(Bytes(noted.dropFirst())), service: try application.service(),
                presence: presence)
            let deadline = Deadline(milliseconds: milliseconds)
            let daemon = try ModuleConnection.open(options.socket)
            try daemon.send(try? LoginRequest.offer(request))
            guard daemon.wait(until: deadline), case .notice(let notice)? = try daemon.receive(),
                notice.kind == .offer, let text = notice.text
            else { return }
            var application = application
            // As for a touch: not into a file to which the program's output goes.
            if application.isTextual { application.screen = ControllingTerminal.own() }
            guard !application.isTextual || application.screen != nil else { return }
            application.show(text)
        } catch {
            // The suggestion can wait for another login.
            return
        }
    }

    /// Encodes where a login came from as one digit of the stored text.
    private static func digit(_ presence: TerminalPosition) -> UInt8 {
        UInt8(ascii: "0") + presence.rawValue
    }

    private static func position(_ digit: UInt8) -> TerminalPosition? {
        guard digit >= UInt8(ascii: "0") else { return nil }
        return TerminalPosition(rawValue: digit - UInt8(ascii: "0"))
    }
}
