// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix

/// Where a program under test is to fail or to die: counted in shared memory, which outlives it.
// SAFETY: the page stays mapped as long as the object lives. The program that counts does so on one
// thread; the one that arms and reads does so only while that program waits for it or is gone.
@safe package final class Failpoint: @unchecked Sendable {
    /// What happens at the point.
    package enum Failure: Equatable, Sendable {
        /// SIGKILL.
        case death
        /// The step fails with this errno; the others do not.
        case once(Int32)
        /// The step fails with this errno, and so do all that follow.
        case fromThenOn(Int32)
    }

    /// The file that both programs map.
    package let path: String
    private let page: UnsafeMutablePointer<Page>

    private struct Page {
        /// How many steps were reached since it was armed.
        var reached: Int32
        /// The step that fails, from 1; 0 for none.
        var point: Int32
        /// What kind of file is counted, by a hash of its name; 0 for all.
        var name: UInt64
        /// 0 for a death, else the errno.
        var code: Int32
        var lasts: Bool
    }

    /// Maps a file, made where it is missing.
    package init(path: String) throws(TestFault) {
        self.path = path
        let opened = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        let file = try Descriptor(opened < 0 ? -errno : opened, "open", path)
        guard ftruncate(file.number, MemoryLayout<Page>.size) == 0,
            let memory = unsafe mmap(
                nil, MemoryLayout<Page>.size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0),
            unsafe memory != MAP_FAILED
        else { throw .system(call: "mmap", subject: path, code: errno) }
        unsafe page = memory.bindMemory(to: Page.self, capacity: 1)
    }

    deinit { unsafe munmap(page, MemoryLayout<Page>.size) }

    /// Counts from here on, only steps about files of that name if one is given, and has the
    /// `point`-th step, from 1, fail; 0 counts only.
    package func arm(at point: Int = 0, on name: String? = nil, _ failure: Failure = .death) {
        let (code, lasts): (Int32, Bool) =
            switch failure {
            case .death: (0, false)
            case .once(let code): (code, false)
            case .fromThenOn(let code): (code, true)
            }
        unsafe page.pointee = Page(
            reached: 0, point: Int32(clamping: point), name: name.map(Self.hash) ?? 0, code: code,
            lasts: lasts)
    }

    /// FNV-1a, the same in every process.
    private static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// How many steps were reached since it was armed.
    package var reached: Int { unsafe Int(page.pointee.reached) }

    /// The program passes a step, and fails or dies if that is the one.
    package func pass(_ name: String) throws(SystemFault) {
        let wanted = unsafe page.pointee.name
        guard wanted == 0 || wanted == Self.hash(name) else { return }
        unsafe page.pointee.reached += 1
        let now = unsafe page.pointee
        guard now.point > 0, now.reached == now.point || now.lasts && now.reached > now.point
        else { return }
        guard now.code != 0 else {
            kill(getpid(), SIGKILL)
            return
        }
        throw SystemFault("failpoint", on: name, code: now.code)
    }
}
