// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import Glibc
import LoginMessages
import LoginProtocol
import Posix
import TestSupport
import Testing

@testable import Doctor

/// A machine whose files are in a scratch directory, with nothing on it but what a test puts there.
struct Bare {
    let scratch = try? Scratch()
    var machine = Machine()

    init() throws {
        let scratch = try #require(scratch)
        machine.files.root = scratch.path
        machine.uid = 0
        machine.now = 1_795_195_440
        machine.isClockKept = true
        machine.journal = { _ in .failed }
        machine.unitState = { _ in .failed }
        machine.nameService.account = { $0 == 1_000 ? "alice" : nil }
        machine.nameService.isAccount = { ["root", "alice"].contains($0) }
        machine.nameService.isGroup = { ["root", "staff"].contains($0) }
        try write("etc/pam.d/signet", "auth required pam_unix.so\n")
    }

    func write(_ name: String, _ text: String, mode: UInt32 = 0o644) throws {
        try scratch?.write(name, text, mode: mode)
    }

    func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o644) throws {
        try scratch?.write(name, bytes, mode: mode)
    }

    /// The codes of all that is found, but of what a bare machine always has.
    func codes(_ view: DaemonView = DaemonView(.absent)) -> [String] {
        let always = ["module-unused", "readers-missing", "socket-missing", "state-none"]
        return machine.examine { view }.map(\.code).filter { !always.contains($0) }
    }
}

@Suite("what is around Signet")
struct MachineTests {
    @Test("a machine with nothing on it has no stack, no socket and no state, and no more")
    func bare() throws {
        let bare = try Bare()
        #expect(bare.codes() == [])
        let all = bare.machine.examine { DaemonView(.absent) }
        #expect(
            all.map(\.code) == ["module-unused", "state-none", "socket-missing", "readers-missing"])
        #expect(FindingCounts(all).worst == .fault)
    }

    @Test("a closed lid is reported, an open one is not")
    func lid() throws {
        let bare = try Bare()
        try bare.write("proc/acpi/button/lid/LID0/state", "state:      open\n")
        #expect(bare.codes() == [])
        try bare.write("proc/acpi/button/lid/LID0/state", "state:      closed\n")
        #expect(bare.codes() == ["lid-closed"])
    }

    @Test("disabled Secure Boot is reported, and nothing on a machine without Secure Boot")
    func secureBoot() throws {
        let bare = try Bare()
        let name = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        try bare.write(name, [6, 0, 0, 0, 1])
        #expect(bare.codes() == [])
        try bare.write(name, [6, 0, 0, 0, 0])
        #expect(bare.codes() == ["secure-boot-off"])
        try bare.write(name, [6])
        #expect(bare.codes() == [])
    }

    @Test("swap on plain disk is reported; swap in memory or encrypted is not")
    func swap() throws {
        let bare = try Bare()
        let head = "Filename\t\tType\t\tSize\tUsed\tPriority\n"
        try bare.write(
            "proc/swaps", head + "/dev/zram0 partition 1 0 1\n/dev/dm-1 partition 1 0 1\n")
        try bare.write("sys/class/block/dm-1/dm/uuid", "CRYPT-PLAIN-swap\n")
        #expect(bare.codes() == [])
        try bare.write("sys/class/block/sda2/dev", "8:2\n")
        try bare.write("proc/swaps", head + "/dev/sda2 partition 1 0 1\n")
        #expect(bare.codes() == ["swap-plain"])
    }

    @Test("swap on LVM over LUKS, and in a file on it, is encrypted; beside it, it is not")
    func stackedSwap() throws {
        let bare = try Bare()
        let head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
        try bare.write("sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-x\n")
        try bare.write("sys/class/block/dm-2/dm/uuid", "LVM-x\n")
        try bare.write("sys/class/block/dm-2/slaves/dm-0/dev", "254:0\n")
        try bare.write("proc/swaps", head + "/dev/dm-2 partition 1 0 1\n")
        #expect(bare.codes() == [])
        let mounts = "1 0 254:2 / / rw - ext4 /dev/mapper/vg-root rw\n"
        try bare.write("dev/mapper/x", "")
        #expect(symbolicLink("../dm-2", at: bare.machine.files.root + "/dev/mapper/vg-root"))
        try bare.write("proc/self/mountinfo", mounts)
        try bare.write("proc/swaps", head + "/swapfile file 1 0 1\n")
        #expect(bare.codes() == [])
        // A volume that also lies on a disk in clear is not encrypted, nor a file there.
        try bare.write("sys/class/block/sdb1/dev", "8:17\n")
        try bare.write("sys/class/block/dm-2/slaves/sdb1/dev", "8:17\n")
        try bare.write("sys/class/block/sdb1/x", "")
        #expect(bare.codes() == ["swap-plain"])
        try bare.write(
            "proc/self/mountinfo", mounts + "2 1 8:17 / /my\\040data rw - ext4 /dev/sdb1 rw\n")
        try bare.write("proc/swaps", head + "/my\\040data/swap file 1 0 1\n")
        #expect(bare.codes() == ["swap-plain"])
        try bare.write(
            "proc/self/mountinfo", mounts + "2 1 8:17 / /a\\134b\\011c rw - ext4 /dev/sdb1 rw\n")
        try bare.write("proc/swaps", head + "/a\\134b\\011c/swap file 1 0 1\n")
        #expect(bare.codes() == ["swap-plain"])
    }

    @Test("of swap whose device says nothing nothing is said")
    func unknownSwap() throws {
        let bare = try Bare()
        let head = "Filename\tType\tSize\tUsed\tPriority\n"
        try bare.write("proc/self/mountinfo", "1 0 0:24 / / rw - zfs rpool/root rw\n")
        try bare.write("sys/class/block/loop0/dev", "7:0\n")
        try bare.write(
            "proc/swaps",
            head + "/swapfile file 1 0 1\n/dev/loop0 partition 1 0 1\n/dev/sdx partition 1 0 1\n")
        #expect(bare.codes() == [])
    }

    @Test("the module is looked for where it is, not in a directory for another machine's programs")
    func moduleDirectory() throws {
        let bare = try Bare()
        #if arch(arm64)
        let own = "/usr/lib/aarch64-linux-gnu/security"
        #else
        let own = "/usr/lib/x86_64-linux-gnu/security"
        #endif
        try bare.write("usr/lib/arm-linux-gnueabihf/security/pam_unix.so", "")
        try bare.write("usr/lib/i386-linux-gnu/security/pam_unix.so", "")
        try bare.write(own + "/pam_unix.so", "")
        #expect(bare.machine.files.moduleDirectory() == own)
        try bare.write("usr/lib64/security/pam_signet.so", "")
        #expect(bare.machine.files.moduleDirectory() == "/usr/lib64/security")
        try bare.write(own + "/pam_signet.so", "")
        #expect(bare.machine.files.moduleDirectory() == own)
    }

    @Test(
        "a stack that a distribution ships is reported by its path, and copied before it is edited")
    func shippedStack() throws {
        let bare = try Bare()
        try bare.write("usr/lib/pam.d/sudo", "auth required pam_signet.so\n")
        let finding = bare.machine.examine { DaemonView(.absent) }
            .first { $0.code == "no-password" }
        #expect(
            finding.map { String(decoding: $0.mend.bytes, as: UTF8.self) }
                == "cp -n /usr/lib/pam.d/sudo /etc/pam.d/sudo && ${EDITOR:-vi} /etc/pam.d/sudo")
        try bare.write("usr/lib/pam.d/sudo", "auth required pam_signet.so\n", mode: 0o666)
        let all = bare.machine.examine { DaemonView(.absent) }
        #expect(all.contains { $0.subject == Array("/usr/lib/pam.d/sudo".utf8) })
        try bare.write("etc/pam.d/sudo", "auth required pam_signet.so\n")
        #expect(
            bare.machine.examine { DaemonView(.absent) }.contains {
                String(decoding: $0.mend.bytes, as: UTF8.self) == "${EDITOR:-vi} /etc/pam.d/sudo"
            })
    }

    @Test("a key without an account is reported, and nothing if the accounts cannot be read")
    func nobodysKey() throws {
        var bare = try Bare()
        try bare.write("var/lib/signet/keys/1001.pub", "x\n")
        #expect(bare.codes().contains("key-of-nobody"))
        bare.machine.nameService.account = { (_) throws(SystemFault) in
            throw SystemFault("getpwuid_r", on: "1001", code: EIO)
        }
        #expect(!bare.codes().contains("key-of-nobody"))
    }

    @Test("a key that others own or may write is replaced, and not given to root as it is")
    func foreignKey() throws {
        let bare = try Bare()
        try bare.write("var/lib/signet/keys/1000.pub", "x\n", mode: 0o666)
        let finding = bare.machine.examine { DaemonView(.absent) }.first {
            $0.code == "file-writable" && $0.subject.suffix(8) == Array("1000.pub".utf8)[...]
        }
        let mend =
            "rm -f /var/lib/signet/keys/1000.pub; signet list --account alice "
            + "# signet enable --account alice"
        #expect(finding.map { String(decoding: $0.mend.bytes, as: UTF8.self) } == mend)
        let owned = FileRule.owner("/k", uid: 7, keyOf: "bob")
        #expect(!String(decoding: owned.mend.bytes, as: UTF8.self).contains("chown"))
        let other = FileRule.owner("/k", uid: 7, keyOf: nil)
        #expect(String(decoding: other.mend.bytes, as: UTF8.self) == "chown root:root /k")
    }

    @Test("an account's directories belong to features, whatever their names; a file must be known")
    func accountFiles() throws {
        let bare = try Bare()
        let account = "var/lib/signet/private/accounts/1000"
        for name in ["ssh-keys", "secrets", "badges"] {
            try bare.write("\(account)/\(name)/one", "x", mode: 0o644)
        }
        try bare.write("\(account)/notes", "x")
        func subjects(_ code: String) -> Set<String> {
            Set(
                bare.machine.examine { DaemonView(.absent) }.filter { $0.code == code }
                    .map { String(decoding: $0.subject, as: UTF8.self) })
        }
        #expect(subjects("file-foreign") == ["/\(account)/notes"])
        #expect(
            subjects("file-exposed").isSuperset(
                of: ["ssh-keys", "secrets", "badges"].map { "/\(account)/\($0)/one" }))
    }

    @Test("a locked-down machine, an unsynchronised clock, and one that is behind are reported")
    func notes() throws {
        var bare = try Bare()
        try bare.write("etc/nologin", "")
        #expect(bare.codes() == ["logins-closed"])
        bare.machine.isClockKept = false
        #expect(bare.codes().sorted() == ["clock-unsynchronised", "logins-closed"])
        try bare.write("var/lib/signet/version", "signet-state: 3\n")
        bare.machine.now = 1_000_000_000
        #expect(bare.codes().contains("clock-behind"))
    }

    @Test("fprintd is reported if it runs or can be started, but not if it is masked or replaced")
    func fprintd() throws {
        let bare = try Bare()
        let activation = "usr/share/dbus-1/system-services/net.reactivated.Fprint.service"
        try bare.write(activation, "[D-BUS Service]\nSystemdService=signet-fprint.service\n")
        #expect(bare.codes() == [])
        try bare.write(activation, "")
        #expect(bare.codes() == ["fprintd-installed"])
        try bare.write("etc/systemd/system/x", "")
        #expect(
            symbolicLink(
                "/dev/null", at: bare.machine.files.root + "/etc/systemd/system/fprintd.service")
        )
        #expect(bare.codes() == [])
        try bare.write("proc/4711/comm", "fprintd\n")
        #expect(bare.codes() == ["fprintd-running"])
        let found = bare.machine.examine { DaemonView(.absent) }
        for finding in found where finding.code.hasPrefix("fprintd") {
            let mend = String(decoding: finding.mend.bytes, as: UTF8.self)
            #expect(mend == "apt install signet-fprint-compat")
        }
    }

    @Test(
        "pam_fprintd is told by its contents: Signet's own is judged as pam_signet, fprintd's not")
    func ownFprintd() throws {
        let bare = try Bare()
        let directory = "usr/lib/x86_64-linux-gnu/security"
        let stack = "auth required pam_fprintd.so max-tries=-1 unknown\nauth required pam_deny.so\n"
        try bare.write("etc/pam.d/gdm-fingerprint", stack)
        try bare.write("\(directory)/pam_unix.so", "")
        func own() -> [String] { bare.machine.stacks().using }
        #expect(own() == [])
        try bare.write("\(directory)/pam_fprintd.so", "\u{7f}ELF fprintd's own")
        #expect(own() == [])
        try bare.write("\(directory)/pam_fprintd.so", "signet-module 0.2.0")
        #expect(own() == [])
        try bare.write("\(directory)/pam_fprintd.so", "\u{7f}ELF signet-module 0.0.1\0")
        #expect(own() == ["gdm-fingerprint"])
        let findings = bare.machine.examine { DaemonView(.absent) }
        #expect(!findings.contains { $0.code == "module-option" || $0.code == "other-fingerprint" })
        let version = try #require(findings.first { $0.code == "version-module" })
        #expect(
            String(decoding: version.mend.bytes, as: UTF8.self).contains("signet-fprint-compat"))
        // Beside pam_signet, it asks a second time.
        try bare.write("etc/pam.d/gdm-fingerprint", "auth optional pam_signet.so\n\(stack)")
        #expect(bare.machine.examine { DaemonView(.absent) }.contains { $0.code == "module-twice" })
    }

    @Test(
        "masked sockets, and those that sockets.target does not start, are reported under systemd")
    func socket() throws {
        let bare = try Bare()
        try bare.write("run/systemd/system/x", "")
        #expect(bare.codes() == ["socket-disabled", "readers-disabled"])
        let units = "etc/systemd/system"
        try bare.write("\(units)/sockets.target.wants/signetd.socket", "")
        #expect(bare.codes() == ["readers-disabled"])
        try bare.write("\(units)/sockets.target.wants/signet-reader.socket", "")
        #expect(bare.codes() == [])
        let root = bare.machine.files.root
        #expect(symbolicLink("/dev/null", at: "\(root)/\(units)/signet-reader.socket"))
        #expect(bare.codes() == ["readers-disabled"])
        #expect(symbolicLink("/dev/null", at: "\(root)/\(units)/signetd.socket"))
        #expect(bare.codes() == ["socket-disabled", "readers-disabled"])
    }

    @Test("wrong settings are reported even if no daemon runs, with file and line")
    func configuration() throws {
        let bare = try Bare()
        try bare.write("etc/signet/signet.conf", "[touch]\ntimeuot = 1s\n")
        #expect(bare.codes() == ["configuration-refused"])
    }

    @Test(
        "a silent service that systemd is still starting is no fault",
        arguments: [
            ChildAnswer.said(Array("activating\n".utf8)), .said(Array("active\n".utf8)),
            .said([]), .failed, .unfinished,
        ])
    func starting(state: ChildAnswer) throws {
        var machine = try Bare().machine
        machine.unitState = { $0 == "signetd.service" ? state : .failed }
        let found = machine.examine { DaemonView(.silent("it does not answer")) }
            .filter { $0.code.hasPrefix("service-") }
        let isStarting = state == .said(Array("activating\n".utf8))
        #expect(found.map(\.code) == [isStarting ? "service-starting" : "service-silent"])
        #expect(found.first?.level == (isStarting ? .warning : .fault))
        // Whoever answers is not asked about.
        #expect(
            machine.examine { DaemonView(.answers) }.allSatisfy { !$0.code.hasPrefix("service-") })
    }

    @Test(
        "a silent service is told to be started anew, but not one that is still starting",
        arguments: ["active", "inactive", "failed", "activating"])
    func silent(state: String) throws {
        let bare = try Bare()
        let found = bare.machine.examine { DaemonView(.silent("it does not answer")) }
        let silent = try #require(found.first { $0.code == "service-silent" })
        try bare.write(
            "bin/systemctl", "#!/bin/sh\n[ $1 = is-active ] && echo \(state) || echo \"$*\"\n",
            mode: 0o755)
        let outcome = try Program(
            Command(
                ["sh", "-c", String(decoding: silent.mend.bytes, as: UTF8.self)],
                environment: ["PATH": "\(bare.machine.files.root)/bin:/usr/bin:/bin"])
        ).expectEnd()
        #expect(outcome.ending == .exited(0))
        let restart = "restart signetd.socket signetd.service\n"
        #expect(outcome.output == (state == "activating" ? "" : restart))
    }

    @Test("file systems of other machines, and without owners, are known by their numbers")
    func fileSystems() {
        #expect(StateFileCheck.foreignFileSystems[0x6969] == "nfs")
        #expect(StateFileCheck.foreignFileSystems[0xEF53] == nil)
    }
}

private func symbolicLink(_ target: String, at path: String) -> Bool {
    unsafe symlink(target, path) == 0
}
