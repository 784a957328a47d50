// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

/// Answers the requests of one type.
///
/// The part that serves a type of request makes the handler from a function whose first argument
/// has that type; `Assembly` collects all handlers. `Router` calls a handler only after its checks
/// have passed, and gives it their results: the account that the request is about, and the password
/// if the request's rule demands one.
struct RequestHandler: Sendable {
    /// The type of the requests.
    let request: any DaemonRequest.Type
    private let work: Work
    private var preview: @ServiceActor (Account, any Client) async -> Void = { _, _ in }

    private typealias Work =
        @ServiceActor (any DaemonRequest, Account?, VerifiedPassword?, any Client)
        async throws(Denial) -> Answer

    /// Creates a handler for a request about an account.
    init<Asked: AccountRequest>(
        _ answer:
            @escaping @ServiceActor (Asked, Account, any Client) async throws(Denial) -> Answer
    ) {
        request = Asked.self
        work = { (request, account, _, client) throws(Denial) in
            guard let request = request as? Asked, let account else { throw Denial(.badRequest) }
            return try await answer(request, account, client)
        }
    }

    /// Creates a handler for a request about an account that uses the account's password.
    ///
    /// - Parameters:
    ///   - preview: sends what the client must see before it is asked for the password.
    ///   - answer: receives nil instead of a password from root, which need not give one unless the
    ///     password is to be stored.
    init<Asked: AccountRequest>(
        showingFirst preview: @escaping @ServiceActor (Account, any Client) async -> Void = {
            _, _ in
        },
        _ answer:
            @escaping @ServiceActor (Asked, Account, VerifiedPassword?, any Client)
            async throws(Denial) -> Answer
    ) {
        request = Asked.self
        self.preview = preview
        work = { (request, account, password, client) throws(Denial) in
            guard let request = request as? Asked, let account else { throw Denial(.badRequest) }
            return try await answer(request, account, password, client)
        }
    }

    /// Creates a handler for a request about the machine.
    init<Asked: MachineRequest>(
        _ answer: @escaping @ServiceActor (Asked, any Client) async throws(Denial) -> Answer
    ) {
        request = Asked.self
        work = { (request, _, _, client) throws(Denial) in
            guard let request = request as? Asked else { throw Denial(.badRequest) }
            return try await answer(request, client)
        }
    }

    /// Sends what the client must see before it is asked for the password.
    @ServiceActor
    func showFirst(of account: Account, to client: any Client) async {
        await preview(account, client)
    }

    /// Serves a request of this handler's type; throws `badRequest` for one of another type.
    ///
    /// - Parameters:
    ///   - account: the account that the request is about; nil for a request about the machine.
    ///   - password: the password, if the request's rule demands one; nil for root.
    @ServiceActor
    func answer(
        _ request: any DaemonRequest, about account: Account? = nil,
        with password: VerifiedPassword? = nil, for client: any Client
    ) async throws(Denial) -> Answer {
        try await work(request, account, password, client)
    }
}
