// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd
import Synchronization

/// One request and its answer.
///
/// The library calls from the one thread that serves the connection; the handler's task answers
/// from anywhere. They meet in `phase`.
// SAFETY: all but `phase` is touched by the thread of the connection only; `head` does not change
// once `phase` is another than the first, and may then be read by any thread.
final class Exchange: @unchecked Sendable {
    /// Where the answer stands.
    private enum Phase {
        /// Not all of the request is there.
        case arriving
        /// The handler has begun on the connection's own thread.
        case started
        /// The handler goes on elsewhere; the connection sleeps.
        case suspended(SleepingConnection, Task<Void, Never>)
        /// It waits to be sent.
        case answered(HTTPResponse)
        /// It is in the library's hands.
        case sent
    }

    private let engine: Engine
    private let connection: Connection
    /// The request's target as sent; nil if it was no text.
    private let target: String?
    private var head: RequestHead?
    private var body: [UInt8] = []
    private var limit = 0
    private var surplus = 0
    /// How much of a body that is too long is read before the connection is cut.
    private static let mostSurplus = 1 << 20
    private let phase = Mutex<Phase>(.arriving)
    var key: ObjectIdentifier { ObjectIdentifier(self) }

    init(engine: Engine, connection: Connection, target: String?) {
        self.engine = engine
        self.connection = connection
        self.target = target
    }

    /// Takes what the library has: the head, a part of the body, or its end.
    ///
    /// Returns false where the connection must be cut.
    func advance(_ call: LibraryCall, _ part: UnsafeRawBufferPointer) -> Bool {
        guard let head else { return unsafe begin(call) }
        if part.count > 0 { return unsafe take(part) }
        let ready = phase.withLock { phase -> HTTPResponse? in
            guard case .answered(let response) = phase else { return nil }
            phase = .sent
            return response
        }
        if let ready { return unsafe send(ready, call) }
        guard surplus == 0 else { return unsafe refuse(.tooLarge, head, call) }
        guard !engine.isClosed else { return unsafe refuse(.stopping, head, call) }
        return unsafe handle(head, call)
    }

    /// Gives the answer, once; later ones are dropped.
    func answer(_ response: HTTPResponse) {
        phase.withLock { phase in
            switch phase {
            case .started: phase = .answered(response)
            case .suspended(let sleeping, _):
                phase = .answered(response)
                // Under the lock, so that whoever finds the answer there knows that it is awake; and
                // before it is forgotten, since the library must not stop while one sleeps.
                unsafe MHD_resume_connection(sleeping.pointer)
                engine.forget(self)
            case .arriving, .answered, .sent: break
            }
        }
    }

    /// Answers that the server stops, and tells the handler that nobody waits for it.
    func abandon() {
        let task = phase.withLock { phase -> Task<Void, Never>? in
            if case .suspended(_, let task) = phase { task } else { nil }
        }
        // It has its answer already.
        guard let task else { return }
        answer(response(to: .stopping, head))
        task.cancel()
    }

    /// The library is done with the request.
    func end() {
        connection.allow(engine.idleNanoseconds)
        if head != nil { engine.exchangeEnded() }
    }

    private func begin(_ call: LibraryCall) -> Bool {
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
            // What is on its way already is read, and dropped: a connection that is closed before
            // may take the answer with it.
            let isComing = length <= Self.mostSurplus && !head.awaitsLeave
            guard length <= limit || isComing else { throw .tooLarge }
            body.reserveCapacity(min(length, limit))
            self.head = head
            engine.exchangeBegan()
            // Counted before: whoever stops waits for it, or is seen here.
            guard !engine.isStopping else { throw .stopping }
            return true
        } catch {
            return unsafe refuse(error, known, call)
        }
    }

    /// What is too long is dropped, up to a limit: chunks tell their sum only at the end.
    private func take(_ part: UnsafeRawBufferPointer) -> Bool {
        guard surplus == 0, body.count + part.count <= limit else {
            body = []
            surplus += part.count
            return surplus <= Self.mostSurplus
        }
        unsafe body.append(contentsOf: part)
        return true
    }

    /// Runs the handler here until it waits for something; only then the connection is suspended.
    private func handle(_ head: RequestHead, _ call: LibraryCall) -> Bool {
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
                    return response(to: .stopping, head)
                }
                phase = unsafe .suspended(SleepingConnection(pointer: sleeping), task)
                unsafe MHD_suspend_connection(sleeping)
                return nil
            }
        }
        guard let ready else { return true }
        return unsafe send(ready, call)
    }

    private func refuse(
        _ refusal: RequestHead.Refusal, _ head: RequestHead?, _ call: LibraryCall
    ) -> Bool {
        phase.withLock { $0 = .sent }
        connection.allow(engine.requestNanoseconds)
        let response = response(to: refusal, head)
        if unsafe queue(response, closing: true, on: call.connection) { return true }
        let bare = HTTPResponse(status: refusal.status)
        return unsafe queue(bare, closing: true, on: call.connection)
    }

    /// What the server says in place of the handler, of what is known of the request.
    private func response(to refusal: RequestHead.Refusal, _ head: RequestHead?) -> HTTPResponse {
        let request = HTTPRequest(
            method: head?.method ?? "", target: target ?? "", path: head?.path ?? "",
            query: head?.query ?? [], headers: head?.headers ?? [], peer: connection.peer)
        return engine.configuration.refusal(refusal.status, request)
    }

    private func send(_ response: HTTPResponse, _ call: LibraryCall) -> Bool {
        connection.allow(engine.requestNanoseconds)
        let closing = engine.isStopping
        if unsafe queue(response, closing: closing, on: call.connection) { return true }
        engine.configuration.log("a response was not fit to be sent: \(response.status)")
        let failed = HTTPResponse(status: 500)
        return unsafe queue(failed, closing: true, on: call.connection)
    }
}

/// A connection that the library keeps until it is resumed.
// SAFETY: the library frees no suspended connection, and it is resumed once: `Exchange.answer`.
@safe private struct SleepingConnection: @unchecked Sendable {
    let pointer: OpaquePointer
}

/// What the library lends for the time of one call.
@unsafe struct LibraryCall {
    let connection: OpaquePointer
    /// These lie in one buffer, one behind the other.
    let method: UnsafePointer<CChar>?
    let target: UnsafePointer<CChar>?
    let version: UnsafePointer<CChar>?
}

/// A C string as text; nil if it is none.
func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    return unsafe String(validatingCString: pointer)
}
