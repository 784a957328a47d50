import Fingerprints
import Glibc
import Loop
import Reader
import TestSupport
import Wire

/// Why nothing could be measured.
enum AcceptanceFault: Error {
    case noDirectory(code: Int32)
    case noImageReader
    /// The matcher found a finger's images too bad to enrol.
    case notEnrolled(seed: UInt64)
}

/// Enrols synthetic fingers on the virtual image reader, and touches it with them and with others.
enum Acceptance {
    /// Fingers with the seeds from 1 on: each is enrolled, tried `genuine` times with impressions
    /// that are not enrolled, and `impostors` times with the fingers after it.
    static func measured(
        fingers count: Int, genuine: Int, impostors: Int
    ) async throws -> AcceptanceFigures {
        let directory = try temporaryDirectory()
        defer { unsafe rmdir(directory) }
        let path = directory + "/image"
        unsafe setenv("FP_VIRTUAL_IMAGE", path, 1)
        unsafe setenv("FP_DRIVERS_WHITELIST", "virtual_image", 1)
        MainLoop.runInBackground()
        let readers = await Readers()
        do {
            let person = try await Person(readers: readers, path: path)
            let figures = try await measured(
                (1...UInt64(count)).map { SyntheticFinger(seed: $0) }, by: person,
                genuine: genuine, impostors: min(impostors, count - 1))
            await readers.close()
            return figures
        } catch {
            await readers.close()
            throw error
        }
    }

    private static func measured(
        _ fingers: [SyntheticFinger], by person: Person, genuine: Int, impostors: Int
    ) async throws -> AcceptanceFigures {
        var figures = AcceptanceFigures(fingers: fingers.count, stages: person.stages)
        for (index, finger) in fingers.enumerated() {
            let template = try await person.enrol(finger)
            for number in 0..<genuine {
                let image = finger.impression(person.stages + number)
                figures.genuine.add(try await person.touch(image, for: template))
            }
            for distance in 1..<(impostors + 1) {
                let other = fingers[(index + distance) % fingers.count]
                let image = other.impression(person.stages + distance % max(1, genuine))
                figures.impostors.add(try await person.touch(image, for: template))
            }
        }
        return figures
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
