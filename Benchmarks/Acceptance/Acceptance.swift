// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FingerprintReader
import Fingerprints
import Glibc
import LoginProtocol
import MainContext
import ReaderProtocol
import TestSupport

/// Why nothing could be measured.
enum AcceptanceFault: Error {
    case noDirectory(code: Int32)
    case noImageReader
    /// The matcher found a finger's images too bad to enrol.
    case notEnrolled(seed: UInt64)
}

/// Enrols synthetic fingers on the virtual image reader, and touches it with them and with others.
enum Acceptance {
    /// Fingers with the seeds from `firstSeed` on: each is enrolled, tried `genuine` times with
    /// impressions that are not enrolled, and `impostors` times with the fingers after it.
    static func measured(
        fingers count: Int, genuine: Int, impostors: Int, firstSeed: UInt64
    ) async throws -> AcceptanceFigures {
        let directory = try temporaryDirectory()
        let path = directory + "/image"
        defer {
            unsafe unlink(path)
            unsafe rmdir(directory)
        }
        unsafe setenv("FP_VIRTUAL_IMAGE", path, 1)
        unsafe setenv("FP_DRIVERS_WHITELIST", "virtual_image", 1)
        MainLoop.runInBackground()
        let fingers = (0..<UInt64(count)).map { SyntheticFinger(seed: firstSeed &+ $0) }
        var figures = AcceptanceFigures(fingers: count)
        for index in fingers.indices {
            // A reader that works for three minutes is too hot for minutes more; a new one is cold.
            try await withPerson(at: path) { person in
                try await measure(
                    fingers[index],
                    others: (1...max(1, min(impostors, count - 1))).map {
                        fingers[(index + $0) % count]
                    }, genuine: genuine, by: person, into: &figures)
            }
        }
        return figures
    }

    private static func withPerson(
        at path: String, _ body: (SyntheticPerson) async throws -> Void
    ) async throws {
        let readers = await Readers()
        do {
            try await body(try await SyntheticPerson(readers: readers, path: path))
            await readers.close()
        } catch {
            await readers.close()
            throw error
        }
    }

    private static func measure(
        _ finger: SyntheticFinger, others: [SyntheticFinger], genuine: Int,
        by person: SyntheticPerson,
        into figures: inout AcceptanceFigures
    ) async throws {
        let template = try await person.enrol(finger)
        for number in 0..<genuine {
            let image = finger.impression(person.stages + number)
            figures.genuine.add(try await person.touch(image, for: template))
        }
        for (number, other) in others.enumerated() where other.seed != finger.seed {
            let image = other.impression(person.stages + number % genuine)
            figures.impostors.add(try await person.touch(image, for: template))
        }
    }

    private static func temporaryDirectory() throws(AcceptanceFault) -> String {
        var name = Array("/tmp/acceptance-XXXXXX".utf8CString)
        let made = unsafe name.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let path = buffer.baseAddress, unsafe mkdtemp(path) != nil else {
                return nil
            }
            return unsafe String(cString: path)
        }
        guard let made else { throw .noDirectory(code: errno) }
        return made
    }
}
