// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import Testing

@Suite("accounts, clocks and the process")
struct SystemTests {
    @Test("root is found by name and by number")
    func root() throws {
        let root = try Account.named("root")
        #expect(root?.uid == 0)
        #expect(root?.home == "/root")
        #expect(try Account.with(uid: 0) == root)
    }

    @Test(
        "an unknown account is not found", arguments: ["", "no-such-account", "root\0x", "root\n"])
    func nobody(_ name: String) throws {
        #expect(try Account.named(name) == nil)
        #expect(try Account.with(uid: 3_999_999_999) == nil)
    }

    @Test("the boot id is a UUID and stays; time since boot advances")
    func clocks() throws {
        let clock = Clock.system
        let boot = try clock.boot()
        #expect(boot.utf8.count == 36)
        #expect(try clock.boot() == boot)
        let earlier = clock.sinceBoot()
        #expect(earlier > .zero)
        #expect(clock.sinceBoot() >= earlier)
        #expect(clock.wallSeconds() > 1_700_000_000)
    }

    @Test("a fault says which call failed on what and why")
    func faultText() {
        let fault = SystemFault("openat", on: "version", code: EACCES)
        #expect(fault.description == "version cannot be opened: Permission denied")
        #expect(
            FileFault.untrusted(path: "/x", .mode(0o777)).description
                == "/x has the unsafe mode 0777")
    }

    // In children: the limits cannot be raised again, and other tests share this process.
    @Test("a hardened process leaves no core and has a strict umask")
    func hardened() async {
        await #expect(processExitsWith: .success) {
            try hardenProcess()
            var core = rlimit()
            let asked = unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &core)
            #expect(asked == 0 && core.rlim_cur == 0 && core.rlim_max == 0)
            #expect(umask(0) == 0o077)
        }
    }

    @Test("an emptied environment keeps what was named and nothing else")
    func environment() async {
        await #expect(processExitsWith: .success) {
            _ = unsafe setenv("SIGNET_TEST_KEPT", "yes", 1)
            _ = unsafe setenv("FP_VIRTUAL_IMAGE", "/tmp/x", 1)
            try clearEnvironment(keeping: ["SIGNET_TEST_KEPT", "SIGNET_TEST_NONE"])
            #expect(environmentValue("SIGNET_TEST_KEPT") == "yes")
            #expect(environmentValue("FP_VIRTUAL_IMAGE") == nil)
            #expect(environmentValue("PATH") == nil)
            #expect(environmentValue("SIGNET_TEST_NONE") == nil)
        }
    }
}
