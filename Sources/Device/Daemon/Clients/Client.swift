// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix

/// The client of a request, as the parts that serve the request see it.
///
/// `Connection` implements it. Requests have no other access to a connection.
@ServiceActor
protocol Client: AnyObject, Sendable {
    /// The credentials of the client's process at connect(2), from the kernel.
    nonisolated var peer: PeerCredentials { get }
    /// The client's process, as it was when it connected.
    nonisolated var process: ClientProcess { get }
    /// Whether the client is told when a finger leaves a reader.
    ///
    /// Those that show a prompt are not: nothing at the prompt depends on it.
    nonisolated var hearsLifting: Bool { get }
    /// Marks the client as one that only listens, and so does not prevent the daemon from exiting
    /// when idle.
    func setPassive(_ isPassive: Bool)
    /// Sends an answer without waiting.
    ///
    /// A client that does not read is disconnected.
    func post(_ answer: Answer)
    /// Sends an answer, waiting while the client reads slowly.
    func send(_ answer: Answer) async
    /// Asks for the password of an account; nil if the client did not give one in time.
    func askPassword(of account: AccountName) async -> SecretBytes?
    /// Takes the password that came with the current request; nil if there was none or it was taken
    /// before.
    func consumePassword() -> SecretBytes?
    /// Sends a password along with the confirmation that answers the current request.
    func enclose(_ password: SecretBytes)
    /// Asks for a secret that was announced, and receives its parts.
    ///
    /// Throws `cancelled` if it is not sent, and `storage` if there is no locked memory for it.
    func askSecret(_ announced: SecretProgress) async throws(Denial) -> SecretBytes
    /// Shows a notice; returns false if the client has gone or the task was cancelled.
    ///
    /// For a notice that demands an acknowledgement, waits for it and then returns true.
    func show(_ notice: Notice) async -> Bool
    /// The user who caused the current request; nil until a touch has determined that.
    var requester: Requester? { get set }
    /// What the current request has turned out to be for, for the journal; nil if the request's own
    /// context says it.
    var purpose: Bytes? { get set }
    /// The proof that was sent to the client and that it has yet to confirm.
    nonisolated var proof: SentProof { get }
    /// Sends a secret in parts, waiting while the client reads slowly.
    func send(_ secret: SecretBytes) async
}

extension Client {
    nonisolated var hearsLifting: Bool { false }

    /// Passes on what a reader reports, as far as the client uses it.
    func tell(_ notice: Notice) {
        if notice.kind != .fingerGone || hearsLifting { post(.notice(notice)) }
    }

    /// Notifies the client that a server is about to be asked.
    ///
    /// From now on the server may act on the request, so giving up may come too late.
    func tell(asking server: ServerURL) {
        post(.notice(Notice(.askingServer, subject: server.bytes)))
    }
}

/// A proof that was sent to a client, which has yet to confirm it.
@ServiceActor
protocol AwaitedConfirmation: AnyObject, Sendable {
    /// The account of the login.
    var account: Account { get }
    /// The PAM service of the login.
    nonisolated var service: ServiceName { get }
    /// The terminal of the login.
    nonisolated var terminal: Bytes { get }
    /// Work to do after the confirmation has ended, when the client no longer waits.
    var afterwards: () -> Void { get set }
    /// Voids the proof, writes what the touch has not written yet, and releases the reader.
    ///
    /// Later calls do nothing.
    func settle()
}

/// The place for a proof that was sent to a client and awaits its confirmation: one at the most.
@ServiceActor
final class SentProof {
    private(set) var awaited: (any AwaitedConfirmation)?

    nonisolated init() {}

    /// Begins to await the confirmation of a proof, and settles the one before it.
    func hold(_ confirmation: any AwaitedConfirmation) {
        settle()
        awaited = confirmation
    }

    /// Ends the wait: the failed matches of the touch are written, its place in the chain of receipts
    /// is given up unless it was used, and the next in turn gets the reader.
    ///
    /// Does nothing if no confirmation is awaited.
    func settle() { awaited.take()?.settle() }
}

/// Answers requests; `Router` is the implementation.
@ServiceActor
protocol Answering: AnyObject, Sendable {
    /// Returns the final answer to a request.
    ///
    /// Intermediate answers have been sent to the client by then.
    func answer(_ request: Request, from client: any Client) async -> Answer
    /// Called after the final answer was sent, for work that the client need not wait for.
    func answered(_ request: Request, with answer: Answer, to client: any Client)
}
