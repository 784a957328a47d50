// SPDX-License-Identifier: Apache-2.0
import FingerprintReader
import MainContext
import Posix
import ReaderProtocol

/// Carries out signetd's requests on the readers, and translates results to replies.
@ReaderActor
final class ReaderService {
    /// The readers; nil until the first request.
    ///
    /// A driver that crashes during enumeration then costs one request, instead of ending the
    /// process before it has received any.
    private var known: Readers?

    /// Returns the readers, which the first call enumerates.
    private func readers(_ line: ReplyStream) -> Readers {
        if let known { return known }
        line.send(.searching)
        let readers = Readers()
        // The process exits, so that the next request gets a new one in which nothing hangs.
        readers.stuck = { endProcess(0) }
        known = readers
        return readers
    }

    /// Serves one request and sends its last reply, which may be a fault.
    func serve(_ request: ReaderRequest, templates: [Template], line: ReplyStream) async {
        do throws(ReaderFault) {
            line.send(try await outcome(of: request, templates: templates, line: line))
        } catch {
            line.send(.fault(error))
        }
    }

    func close() async { await known?.close() }

    /// Carries out the request: sends the replies that precede the final one, and returns that one.
    private func outcome(
        of request: ReaderRequest, templates: [Template], line: ReplyStream
    ) async throws(ReaderFault) -> ReaderReply {
        let readers = readers(line)
        switch request {
        case .readers(let lookAgain):
            if lookAgain {
                line.send(.searching)
                _ = await readers.renew(after: .noReader)
            }
            for reader in readers.descriptions.prefix(ReaderLimit.readers) {
                line.send(.reader(reader))
            }
            return .done
        case .match(let request):
            return try await match(request, templates: templates, on: readers, line: line)
        case .enroll(let request):
            return try await enroll(request, old: templates.first, on: readers, line: line)
        case .contents(let reader, let limit):
            let contents = try await readers.list(on: reader, limit: limit)
            for print in contents.prints { line.send(.print(print)) }
            return .contents(contents.reader)
        case .deletePrint(let record, let reader):
            try await readers.delete(record: record, on: reader)
            return .done
        case .deleteTemplate(let reader):
            guard let template = templates.first else { throw .invalidTemplate }
            try await readers.delete(template, on: reader)
            return .done
        case .clear(let reader):
            try await readers.clearStorage(of: reader)
            return .done
        case .canUse(let reader):
            guard let template = templates.first else { throw .invalidTemplate }
            return try readers.canUse(template, on: reader) ? .done : .refused
        case .suspend:
            await readers.suspend()
            return .done
        case .resume:
            readers.resume()
            return .done
        }
    }

    private func match(
        _ request: MatchRequest, templates: [Template], on readers: Readers, line: ReplyStream
    ) async throws(ReaderFault) -> ReaderReply {
        let found = try await renewing(readers, limit: request.limit, line: line) {
            limit throws(ReaderFault) in
            try await readers.listAndMatch(
                among: templates, on: request.readers, limit: limit,
                examine: request.isExamined ? line.examination : nil,
                observer: { line.send(.event($0)) })
        }
        switch found.result {
        case .matched(let index):
            return .matched(index: index, reader: found.reader, lost: found.lost)
        case .noMatch:
            if let stranger = found.stranger { line.send(.print(stranger)) }
            return .noMatch(reader: found.reader, lost: found.lost)
        }
    }

    private func enroll(
        _ request: EnrolmentRequest, old: Template?, on readers: Readers, line: ReplyStream
    ) async throws(ReaderFault) -> ReaderReply {
        let made = try await renewing(readers, limit: request.limit, line: line) {
            limit throws(ReaderFault) in
            try await readers.listAndEnroll(
                request.finger, account: request.account, on: request.reader, limit: limit,
                replacing: old, examine: line.examination, observer: { line.send(.event($0)) })
        }
        for frame in ReaderReply.frames(of: made.template) { line.send(frame) }
        guard let contents = made.contents else { return .done }
        for print in contents.prints { line.send(.print(print)) }
        return .contents(contents.reader)
    }

    /// Runs `body`, and runs it again if it failed and the readers had to be enumerated again.
    ///
    /// The limit covers both attempts and the enumeration.
    private func renewing<Value>(
        _ readers: Readers, limit: Duration, line: ReplyStream,
        _ body: (Duration) async throws(ReaderFault) -> Value
    ) async throws(ReaderFault) -> Value {
        let end = SuspendingClock.now + limit
        do throws(ReaderFault) {
            return try await body(limit)
        } catch {
            line.send(.searching)
            guard await readers.renew(after: error) else { throw error }
        }
        let left = end - SuspendingClock.now
        guard !Task.isCancelled else { throw .cancelled }
        guard left > .zero else { throw .timedOut }
        return try await body(left)
    }
}

extension ReplyStream {
    /// An examination in which signetd judges the reader's storage.
    fileprivate var examination: StorageExamination {
        { [self] reader, contents in await examine(contents, of: reader) }
    }
}
