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

    @Test("who is not there is not found", arguments: ["", "no-such-account", "root\0x", "root\n"])
    func nobody(_ name: String) throws {
        #expect(try Account.named(name) == nil)
        #expect(try Account.with(uid: 3_999_999_999) == nil)
    }

    @Test("the boot id is a UUID and stays; time since boot goes on")
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

    @Test(
        "times are written as RFC 3339 and read back",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_795_195_440, "2026-11-20T17:24:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"), (951_868_799, "2000-02-29T23:59:59Z"),
            (-1, "1969-12-31T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (-62_167_219_200, "0000-01-01T00:00:00Z"),
        ])
    func timestamps(_ seconds: Int64, _ text: String) {
        #expect(Timestamp.text(seconds) == text)
        #expect(Timestamp.seconds(text) == seconds)
    }

    @Test("times agree with gmtime(3) on every day of 1600 years")
    func calendar() {
        for day in stride(from: Int64(-200_000), to: 400_000, by: 1) {
            var time = time_t(day * 86400 + 3661)
            var parts = unsafe tm()
            _ = unsafe gmtime_r(&time, &parts)
            let text = Timestamp.text(Int64(time)).utf8
            let digits = text.filter { $0 >= 48 && $0 <= 57 }.reduce(0) { $0 * 10 + Int($1) - 48 }
            let date = unsafe (Int(parts.tm_year) + 1900) * 10_000 + (Int(parts.tm_mon) + 1) * 100
            #expect(digits == (date + Int(unsafe parts.tm_mday)) * 1_000_000 + 10_101)
        }
    }

    @Test(
        "what is not exactly that form is refused",
        arguments: [
            "", "2026-11-20", "2026-11-20T17:24:00", "2026-11-20t17:24:00Z",
            "2026-11-20T17:24:00+00:00", "2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z",
            "2026-11-20T24:00:00Z", "2026-11-20T23:60:00Z", "2016-12-31T23:59:60Z",
            "2026-00-20T00:00:00Z", "2026-13-20T00:00:00Z", "2026-11-00T00:00:00Z",
            "+026-11-20T17:24:00Z", "2026-11-20T17:24:00Z ", "２026-11-20T17:24:0Z",
        ])
    func malformedTimestamps(_ text: String) {
        #expect(Timestamp.seconds(text) == nil)
    }

    @Test("a fault says which call failed on what and why")
    func faultText() {
        let fault = SystemFault("openat", on: "version", code: EACCES)
        #expect(fault.description == "openat version: Permission denied")
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
