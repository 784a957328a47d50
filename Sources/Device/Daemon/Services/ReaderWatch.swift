// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import Gate
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol

/// Shows root what a reader reports while fingers are on it, for diagnosis.
///
/// The scans are compared with no print: nothing is looked up, counted or opened. It uses the
/// reader only while no other request needs it, and gives way at once.
@ServiceActor
final class ReaderWatch: RequestService {
    /// The time after which the reader is asked again, and the pause between two scans.
    ///
    /// The pause limits the work that a reader can cause by reporting without end.
    private static let (round, pause) = (Duration.seconds(60), Duration.milliseconds(100))

    let gate: TouchGate<ReaderPool>
    let guards: TouchGuards
    let queue: TouchQueue
    let readers: ReaderPool
    let settings: Configuration
    let touches: Touches

    init(_ parts: Collaborators) {
        gate = parts.gate
        guards = parts.guards
        queue = parts.queue
        readers = parts.readers
        settings = parts.settings
        touches = parts.touches
    }
}

extension ReaderWatch {
    /// The handler for watching a reader.
    var handlers: [RequestHandler] { [RequestHandler(watchReader)] }

    /// Shows what happens on a reader until the client cancels the request.
    ///
    /// Waits for its turn as long as necessary. Throws `noReader`, `readerFailed` for a reader that
    /// cannot scan without a print to compare with, the fault that ends a scan, or `cancelled` in
    /// the end.
    func watchReader(
        _ request: WatchReaderRequest, client: any Client
    ) async throws(Denial) -> Answer {
        let reader = try await reader(request.readerID)
        await client.send(.reader(ReaderAnswer(reader)))
        while !Task.isCancelled {
            do throws(Denial) {
                try await watchDuringTurn(reader, client: client)
            } catch {
                // The wait for the turn may take as long as necessary.
                guard error.reason == .timedOut else { throw error }
            }
        }
        throw Denial(.cancelled)
    }

    /// Returns the reader to watch: the one with this identifier, or the first.
    private func reader(_ id: Bytes?) async throws(Denial) -> ReaderDescription {
        let chosen: ReaderDescription?
        do throws(ReaderFault) {
            chosen = try await readers.choose(id)
        } catch { throw Denial(of: error) }
        guard let chosen else { throw Denial(.noReader) }
        guard chosen.features.contains(.identify) else { throw Denial(of: .notSupported) }
        return chosen
    }

    /// Waits for a turn, and scans until another request needs the reader.
    private func watchDuringTurn(
        _ reader: ReaderDescription, client: any Client
    ) async throws(Denial) {
        guard let root = try? Account.with(uid: 0) else { throw Denial(.unknownAccount) }
        let asker = Asker("signet readers", by: guards.accountable(client))
        let turn = try await gate.turn(
            for: touches.applicant(.observation, account: root, asker: asker, client: client),
            within: settings.duration(Settings.touchTimeout) ?? .seconds(60))
        let interruption = Interruption()
        queue.mayInterrupt(turn, by: interruption)
        while !queue.hasYielded(turn) {
            let result = await interruptible(by: interruption) { [readers] in
                await readers.match(among: [], on: reader.id, limit: Self.round) {
                    client.tell($0)
                }
            }
            switch result {
            case .success: await client.send(.notice(Notice(.noMatch)))
            case .failure(.timedOut): break
            case .failure(.cancelled) where queue.hasYielded(turn): return
            case .failure(let fault): throw Denial(of: fault)
            }
            do throws(CancellationError) {
                try await Timer.sleep(for: Self.pause)
            } catch { throw Denial(.cancelled) }
        }
    }
}
