// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FingerprintReader
import Fingerprints
import LoginProtocol
import MainContext
import ReaderProtocol
import TestSupport

/// Somebody who puts fingers on the virtual image reader whenever it asks for one.
struct SyntheticPerson {
    /// What one touch came to.
    struct Outcome {
        let isAccepted: Bool
        /// From the touch to the answer: finding the minutiae, and matching.
        let duration: Duration
    }

    private let readers: Readers
    private let window: VirtualImageReader
    private let reader: String
    private let hold: Hold
    /// The scans of an enrolment.
    let stages: Int

    /// The person at the reader whose socket is at `path`; it stays open for them.
    init(readers: Readers, path: String) async throws {
        let found = await readers.descriptions.first { $0.driver == "virtual_image" }
        guard let found else { throw AcceptanceFault.noImageReader }
        self.readers = readers
        reader = found.id
        stages = found.enrolStages
        window = VirtualImageReader(path: path)
        hold = try await readers.hold(found.id)
    }

    /// Enrols the finger by its first impressions; bad scans are repeated with the same ones.
    func enrol(_ finger: SyntheticFinger) async throws -> Template {
        let images = (0..<stages).map { finger.impression($0) }
        let (asked, observer) = Self.requests()
        let template = Task {
            try await readers.enroll(
                .rightIndex, account: "person", on: reader, observer: observer)
        }
        // A bad scan is asked for again without a stage: the second round makes up for those.
        var touches = (images + images).makeIterator()
        let feeding = Task { @concurrent [window] in
            for await _ in asked {
                guard let image = touches.next() else { return template.cancel() }
                try window.send([image.command])
            }
        }
        defer { feeding.cancel() }
        do {
            return try await template.value
        } catch ReaderFault.cancelled {
            throw AcceptanceFault.notEnrolled(seed: finger.seed)
        }
    }

    /// One touch by one image, where the finger of the template is expected.
    func touch(_ image: GreyImage, for template: Template) async throws -> Outcome {
        let (asked, observer) = Self.requests()
        let match = Task { try await readers.match(among: [template], observer: observer) }
        let touching = Task { @concurrent [window] () -> ContinuousClock.Instant? in
            var start: ContinuousClock.Instant?
            for await _ in asked {
                // Asked again: the scan was too bad to compare.
                if start != nil { match.cancel() }
                guard start == nil else { break }
                start = ContinuousClock.now
                try window.send([image.command])
            }
            return start
        }
        let result = await match.result
        let end = ContinuousClock.now
        touching.cancel()
        let start = try await touching.value ?? end
        return Outcome(isAccepted: try Self.isMatch(result), duration: end - start)
    }

    private static func isMatch(_ result: Result<MatchResult, any Error>) throws -> Bool {
        do {
            switch try result.get() {
            case .matched: return true
            case .noMatch: return false
            }
        } catch ReaderFault.cancelled {
            return false
        }
    }

    /// One element whenever the reader asks for a finger.
    private static func requests() -> (AsyncStream<Void>, ReaderEvent.Observer) {
        let (asked, feed) = AsyncStream<Void>.makeStream()
        return (asked, { event in if event.kind == .fingerNeeded { feed.yield() } })
    }
}

extension GreyImage {
    fileprivate var command: VirtualImageReader.Command {
        .image(width: width, height: height, pixels: pixels)
    }
}
