// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import Posix
import Synchronization

/// Delivers one callback over HTTP.
///
/// The host is resolved once, each of its addresses must be permitted (`CallbackNetworks`), and a
/// connection is made to these addresses alone. Redirections are not followed. No proxy is used.
struct CallbackCarrier: Sendable {
    /// How long resolving a name may take.
    static let resolutionLimit = Duration.seconds(5)
    /// How long a request may take, from connecting to the end of the answer.
    static let requestLimit = Duration.seconds(10)
    /// The maximum size of an answer's body, in bytes.
    static let answerLimit = 65_536

    let networks: CallbackNetworks
    let authorities: ClientConfiguration.Authorities
    /// How long a request may take; only tests set a shorter time.
    var limit = requestLimit
    /// Resolves a name; only tests replace it.
    var resolve: @Sendable (String) throws(ResolutionFault) -> [InternetAddress] = {
        (name) throws(ResolutionFault) in try addresses(ofHost: name)
    }
    /// Whether this machine has an address; only tests replace it.
    var isOwn: @Sendable (InternetAddress) -> Bool = { $0.isOfThisMachine }

    /// Makes one attempt.
    func deliver(_ message: CallbackMessage) async -> CallbackOutcome {
        do throws(Attempt) {
            let url = try parsed(message.url)
            let addresses = try permitted(await resolved(url.host), for: url)
            let answer = try await send(message, to: addresses, isPlain: url.isPlain)
            return (200...299).contains(answer.status)
                ? .delivered : .failed(.status(answer.status))
        } catch { return error.outcome }
    }

    /// What ended an attempt early.
    private enum Attempt: Error {
        case failed(CallbackFailure)
        case cancelled

        var outcome: CallbackOutcome {
            switch self {
            case .failed(let failure): .failed(failure)
            case .cancelled: .cancelled
            }
        }
    }

    private func parsed(_ text: String) throws(Attempt) -> CallbackURL {
        do throws(FieldFault) {
            return try CallbackURL(text)
        } catch { throw .failed(.address(error.text)) }
    }

    /// All addresses must be permitted: a name that has others as well is not to be trusted.
    private func permitted(
        _ addresses: [InternetAddress], for url: CallbackURL
    ) throws(Attempt) -> [InternetAddress] {
        for address in addresses {
            if let objection = networks.objection(
                to: address, of: url, isOwn: isOwn(address))
            {
                throw .failed(.address(objection))
            }
        }
        return addresses
    }

    /// The addresses of a host, at least one.
    private func resolved(_ host: String) async throws(Attempt) -> [InternetAddress] {
        if let address = InternetAddress(host) { return [address] }
        let first = FirstValue<Result<[InternetAddress], Attempt>>()
        let resolve = resolve
        let work: @Sendable () -> Void = {
            first.give(
                Result { () throws(Attempt) in
                    do throws(ResolutionFault) {
                        return try resolve(host)
                    } catch { throw .failed(.resolution(error.reason)) }
                })
        }
        do throws(SystemFault) {
            // getaddrinfo(3) blocks its thread, and cannot be interrupted.
            try onThread(work)
        } catch { throw .failed(.resolution("\(error)")) }
        let timer = Task {
            // Nothing but the passing of time ends this wait, unless there is an answer before.
            try? await Task.sleep(for: Self.resolutionLimit)
            first.give(.failure(.failed(.resolution("the name server does not answer in time"))))
        }
        defer { timer.cancel() }
        let found = await withTaskCancellationHandler {
            await first.value
        } onCancel: {
            first.give(.failure(.cancelled))
        }
        let addresses = try found.get()
        guard !addresses.isEmpty else { throw .failed(.resolution("it has no addresses")) }
        return addresses
    }

    private func send(
        _ message: CallbackMessage, to addresses: [InternetAddress], isPlain: Bool
    ) async throws(Attempt) -> HTTPAnswer {
        var configuration = ClientConfiguration()
        configuration.authorities = authorities
        configuration.addresses = addresses
        configuration.allowsPlain = isPlain
        configuration.connectLimit = limit / 2
        configuration.totalLimit = limit
        configuration.bodyLimit = Self.answerLimit
        do throws(ClientFault) {
            // A separate client, so that no connection to other addresses is used again.
            return try await HTTPClient(configuration).send(
                ClientRequest(
                    method: "POST", url: message.url,
                    headers: [
                        ("Content-Type", "application/jwt"), ("User-Agent", "signet-server"),
                    ], body: message.body))
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .timedOut: throw .failed(.timeout)
            case .tooLarge: throw .failed(.answer)
            case .tlsRefused(let refusal): throw .failed(.certificate("\(refusal)"))
            case .badRequest, .cannotConnect, .exhausted, .broken:
                throw .failed(.connection("\(error)"))
            }
        }
    }
}

/// A value that is given once; later ones are ignored.
private final class FirstValue<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
        case over
    }

    private let state = Mutex(State.empty)

    func give(_ value: Value) {
        let awaiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .empty:
                state = .given(value)
                return nil
            case .awaited(let continuation):
                state = .over
                return continuation
            case .given, .over: return nil
            }
        }
        awaiting?.resume(returning: value)
    }

    /// Waits for the value; called once.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let given = state.withLock { state -> Value? in
                    guard case .given(let value) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .over
                    return value
                }
                if let given { continuation.resume(returning: given) }
            }
        }
    }
}
