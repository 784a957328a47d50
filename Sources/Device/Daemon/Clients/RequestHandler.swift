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
    private var precheck: Precheck?

    private typealias Precheck =
        @ServiceActor (any DaemonRequest, Account, any Client)
        async throws(Denial) -> ChangeForecast?
    private typealias Work =
        @ServiceActor (any DaemonRequest, Account?, ChangeApproval, any Client)
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
    /// - Parameter answer: receives nil instead of a password from root, which need not give one
    ///   unless the password is to be stored.
    init<Asked: AccountRequest>(
        _ answer:
            @escaping @ServiceActor (Asked, Account, VerifiedPassword?, any Client)
            async throws(Denial) -> Answer
    ) {
        request = Asked.self
        work = { (request, account, approval, client) throws(Denial) in
            guard let request = request as? Asked, let account else { throw Denial(.badRequest) }
            return try await answer(request, account, approval.password, client)
        }
    }

    /// Creates a handler for a change of an account's fingers, which is foretold before the password
    /// is asked for.
    ///
    /// - Parameters:
    ///   - foretell: as for `checkingFirst`; it returns what the client was told, or nil if there is
    ///     nothing that could change until then.
    ///   - answer: receives the password and what was foretold. It makes the change with them
    ///     (`FingerChanges`), which refuses a change that does something else.
    init<Asked: AccountRequest>(
        foretelling foretell:
            @escaping @ServiceActor (Asked, Account, any Client)
            async throws(Denial) -> ChangeForecast?,
        _ answer:
            @escaping @ServiceActor (Asked, Account, ChangeApproval, any Client)
            async throws(Denial) -> Answer
    ) {
        request = Asked.self
        precheck = { (request, account, client) throws(Denial) in
            guard let request = request as? Asked else { throw Denial(.badRequest) }
            return try await foretell(request, account, client)
        }
        work = { (request, account, approval, client) throws(Denial) in
            guard let request = request as? Asked, let account else { throw Denial(.badRequest) }
            return try await answer(request, account, approval, client)
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

    /// This handler, with a check of the request that comes before the password is asked for.
    ///
    /// It throws what the handler would throw even with the right password, which then need not be
    /// typed, and may send what the client must see first. It does nothing that other requests of the
    /// account would not do without a password, and the handler checks again.
    func checkingFirst<Asked: AccountRequest>(
        _ check: @escaping @ServiceActor (Asked, Account, any Client) async throws(Denial) -> Void
    ) -> RequestHandler {
        var handler = self
        handler.precheck = { (request, account, client) throws(Denial) in
            guard let request = request as? Asked else { throw Denial(.badRequest) }
            try await check(request, account, client)
            return nil
        }
        return handler
    }

    /// Refuses a request that no password could make succeed, and shows what the client must see
    /// before it is asked for one; returns what it was told of a change.
    @ServiceActor
    func check(
        _ request: any DaemonRequest, about account: Account, for client: any Client
    ) async throws(Denial) -> ChangeForecast? {
        try await precheck?(request, account, client) ?? nil
    }

    /// Serves a request of this handler's type; throws `badRequest` for one of another type.
    ///
    /// - Parameters:
    ///   - account: the account that the request is about; nil for a request about the machine.
    ///   - approval: the password, if the request's rule demands one, and what was foretold.
    @ServiceActor
    func answer(
        _ request: any DaemonRequest, about account: Account? = nil,
        with approval: ChangeApproval = .unvouched, for client: any Client
    ) async throws(Denial) -> Answer {
        try await work(request, account, approval, client)
    }
}
