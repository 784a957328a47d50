// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd
import Synchronization

/// A request and its response.
///
/// The library calls `advance` on the thread that serves the connection: for the head, for each
/// part of the body, for its end, and when the connection is resumed. The handler starts on that
/// thread; if it has to wait, the connection is suspended until `answer`, which may come from any
/// thread. `phase` synchronises the two, and ensures that at most one response is sent.
// SAFETY: all but `phase` is accessed by the connection's thread only; `head` does not change once
// `phase` has left its first state, and may then be read by any thread.
final class Exchange: @unchecked Sendable {
    /// The state of the response.
    private enum Phase {
        /// The request has not arrived completely.
        case arriving
        /// The handler was started on the connection's thread.
        case started
        /// The handler continues elsewhere, and the connection is suspended.
        case suspended(SleepingConnection, Task<Void, Never>)
        /// The response is ready to be sent.
        case answered(HTTPResponse)
        /// The response was given to the library.
        case sent
    }

    private let engine: Engine
    private let connection: Connection
    /// The request target as sent; nil if it is not valid text.
    private let target: String?
    private var head: RequestHead?
    private var body: [UInt8] = []
    private var limit = 0
    private var isTooLarge = false
    /// The most bytes of an oversized body that are read, so that its sender receives the answer.
    private static let mostDiscarded = 1 << 20
    private let phase = Mutex<Phase>(.arriving)
    var key: ObjectIdentifier { ObjectIdentifier(self) }

    init(engine: Engine, connection: Connection, target: String?) {
        self.engine = engine
        self.connection = connection
        self.target = target
    }

    /// Processes a call of the library: the head, a part of the body, or its end.
    ///
    /// Returns false if the connection must be cut.
    func advance(_ call: LibraryCall, part: UnsafeRawBufferPointer) -> Bool {
        guard let head else { return unsafe begin(call) }
        if part.count > 0 { return unsafe take(part) }
        let ready = phase.withLock { phase -> HTTPResponse? in
            guard case .answered(let response) = phase else { return nil }
            phase = .sent
            return response
        }
        if let ready { return unsafe send(ready, call: call) }
        guard !isTooLarge else { return unsafe refuse(.tooLarge, head: head, call: call) }
        guard !engine.isClosed else { return unsafe refuse(.stopping, head: head, call: call) }
        return unsafe handle(head, call: call)
    }

    /// Sets the response; only the first call has an effect.
    func answer(_ response: HTTPResponse) {
        phase.withLock { phase in
            switch phase {
            case .started: phase = .answered(response)
            case .suspended(let sleeping, _):
                phase = .answered(response)
                // Resumed under the lock, so that a thread that finds the answer knows that the
                // connection is awake, and before `forget`, since the library must not be stopped
                // while a connection is suspended.
                unsafe MHD_resume_connection(sleeping.pointer)
                engine.forget(self)
            case .arriving, .answered, .sent: break
            }
        }
    }

    /// Answers 503 and cancels the handler, if the handler has not answered yet.
    func abandon() {
        let task = phase.withLock { phase -> Task<Void, Never>? in
            if case .suspended(_, let task) = phase { task } else { nil }
        }
        // There is already an answer.
        guard let task else { return }
        answer(response(to: .stopping, head: head))
        task.cancel()
    }

    /// Restarts the idle time limit when the library has finished with the request, answered or
    /// not.
    func end() {
        engine.arriving.end(self)
        connection.allow(engine.idleNanoseconds)
        if head != nil { engine.exchangeEnded() }
    }

    /// Makes the response to a complete head that the library rejects with `status`, which is
    /// answered outside of the library: `ArrivingHeads`.
    func response(toUnread status: Int) -> HTTPResponse {
        phase.withLock { $0 = .sent }
        connection.allow(engine.requestNanoseconds)
        return response(status: status, head: nil)
    }

    private func begin(_ call: LibraryCall) -> Bool {
        engine.arriving.remove(self)
        var known: RequestHead?
        do throws(RequestHead.Refusal) {
            guard let target, let method = unsafe text(call.method),
                let seams = unsafe HeadSeams(call, targetCount: target.utf8.count)
            else { throw .malformed }
            var head = try RequestHead(method: method, target: target)
            head.headers = try unsafe receivedHeaders(call.connection, behind: seams)
            known = head
            try head.settleLength()
            limit = engine.configuration.bodyLimit(head.method, head.path)
            let length = head.length ?? 0
            // A body that is already on its way is read and discarded: closing the connection
            // earlier could destroy the answer as well.
            let isComing = length <= Self.mostDiscarded && !head.awaitsLeave
            isTooLarge = length > limit
            guard !isTooLarge || isComing else { throw .tooLarge }
            body.reserveCapacity(min(length, limit))
            self.head = head
            engine.exchangeBegan()
            // The request is counted before this check, so that `stop` either waits for it or is
            // noticed here.
            guard !engine.isStopping else { throw .stopping }
            return true
        } catch {
            return unsafe refuse(error, head: known, call: call)
        }
    }

    /// Appends a part of the body, or discards it if the body is too large; returns false if the
    /// connection must be cut, because more arrives than was announced.
    private func take(_ part: UnsafeRawBufferPointer) -> Bool {
        if isTooLarge { return true }
        guard body.count + part.count <= limit else { return false }
        unsafe body.append(contentsOf: part)
        return true
    }

    /// Starts the handler on this thread, and suspends the connection if the handler has to wait.
    private func handle(_ head: RequestHead, call: LibraryCall) -> Bool {
        let request = HTTPRequest(
            method: head.method, target: target, path: head.path, query: head.query,
            headers: head.headers, body: body, peer: connection.peer)
        body = []
        connection.allowHandler()
        phase.withLock { $0 = .started }
        let handler = engine.handler
        let task = Task.immediate { self.answer(await handler(request)) }
        let sleeping = unsafe call.connection
        let ready = phase.withLock { phase -> HTTPResponse? in
            switch phase {
            case .answered(let response):
                phase = .sent
                return response
            case .arriving, .started, .suspended, .sent:
                guard engine.remember(self) else {
                    task.cancel()
                    phase = .sent
                    return response(to: .stopping, head: head)
                }
                phase = unsafe .suspended(SleepingConnection(pointer: sleeping), task)
                unsafe MHD_suspend_connection(sleeping)
                return nil
            }
        }
        guard let ready else { return true }
        return unsafe send(ready, call: call)
    }

    private func refuse(
        _ refusal: RequestHead.Refusal, head: RequestHead?, call: LibraryCall
    ) -> Bool {
        phase.withLock { $0 = .sent }
        connection.allow(engine.requestNanoseconds)
        let response = response(to: refusal, head: head)
        if unsafe queue(response, closing: true, on: call.connection) { return true }
        let bare = HTTPResponse(status: refusal.status)
        return unsafe queue(bare, closing: true, on: call.connection)
    }

    /// Makes the response that replaces the handler's, from what is known of the request.
    private func response(to refusal: RequestHead.Refusal, head: RequestHead?) -> HTTPResponse {
        response(status: refusal.status, head: head)
    }

    private func response(status: Int, head: RequestHead?) -> HTTPResponse {
        let request = HTTPRequest(
            method: head?.method ?? "", target: target ?? "", path: head?.path ?? "",
            query: head?.query ?? [], headers: head?.headers ?? [], peer: connection.peer)
        return engine.configuration.refusal(status, request)
    }

    private func send(_ response: HTTPResponse, call: LibraryCall) -> Bool {
        connection.allow(engine.requestNanoseconds)
        let closing = engine.isStopping
        if unsafe queue(response, closing: closing, on: call.connection) { return true }
        engine.configuration.log("a response was malformed and not sent: \(response.status)")
        let failed = HTTPResponse(status: 500)
        return unsafe queue(failed, closing: true, on: call.connection)
    }
}

/// A suspended connection of the library.
// SAFETY: the library frees no suspended connection, and it is resumed once: `Exchange.answer`.
@safe private struct SleepingConnection: @unchecked Sendable {
    let pointer: OpaquePointer
}

/// Pointers that the library lends for the duration of one call.
@unsafe struct LibraryCall {
    let connection: OpaquePointer
    /// These three lie in one buffer, in this order.
    let method: UnsafePointer<CChar>?
    let target: UnsafePointer<CChar>?
    let version: UnsafePointer<CChar>?
}

/// Converts a C string; nil if it is null or not UTF-8.
func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    return unsafe String(validatingCString: pointer)
}
