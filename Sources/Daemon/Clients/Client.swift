// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Posix

/// What a request sees of whoever made it.
@ServiceActor
protocol Client: AnyObject, Sendable {
    /// The other end, as the kernel says.
    nonisolated var peer: PeerCredentials { get }
    /// The process at the other end, as it was when it connected.
    nonisolated var process: ClientProcess { get }
    /// Whether the client only listens, and is no reason for the daemon to stay.
    func setPassive(_ isPassive: Bool)
    /// Sends something at once; a client that does not read is let go.
    func post(_ answer: Answer)
    /// Sends something, waiting for a client that reads slowly.
    func send(_ answer: Answer) async
    /// Asks for a password; nil when the client gave none.
    func askPassword(of account: Bytes) async -> SecretBytes?
    /// The password that came with the request under way, once.
    func consumePassword() -> SecretBytes?
    /// Sends a password along with the confirmation of the request under way.
    func enclose(_ password: SecretBytes)
    /// Asks for a secret that was announced, and takes its parts.
    func askSecret(_ announced: SecretProgress) async throws(Denial) -> SecretBytes
    /// Shows a notice. One that wants an acknowledgement is shown when this returns true; false where
    /// the client is gone or the caller's task was cancelled first.
    func show(_ notice: Notice) async -> Bool
    /// The user who causes the request under way; nil before that was found out for a touch.
    var requester: Requester? { get set }
    /// A proof that the client has been given and has yet to ask about.
    var confirmation: (any AwaitedConfirmation)? { get set }
    /// Sends a secret in parts, waiting for a client that reads slowly.
    func send(_ secret: SecretBytes) async
}

extension Client {
    /// Tells that from now on a server may do what was asked for: giving up may come too late.
    func tell(asking server: Bytes) {
        post(.notice(Notice(.askingServer, subject: server)))
    }
}

/// A proof that has gone out, and that its client has yet to ask about.
@ServiceActor
protocol AwaitedConfirmation: AnyObject, Sendable {
    var account: Account { get }
    /// The PAM service and the terminal of the login.
    nonisolated var service: Bytes { get }
    nonisolated var terminal: Bytes { get }
    /// What is left to do when it has ended, and nobody waits for.
    var afterwards: () -> Void { get set }
    /// Has kept what the touch leaves to keep, and gives the reader back.
    func end()
}

/// What answers requests.
@ServiceActor
protocol Answering: AnyObject, Sendable {
    /// The last answer to a request; what comes before it was sent to the client meanwhile.
    func answer(_ request: Request, from client: any Client) async -> Answer
    /// Called after that answer was sent: what nobody has to wait for is done now.
    func answered(_ request: Request, with answer: Answer, to client: any Client)
}
