// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages

@testable import Doctor

/// A file of /etc/pam.d, beside one that it may include and that includes it.
enum Stacks: Harness {
    static let name = "stacks"
    static var seeds: [[UInt8]] {
        [
            bytes(
                """
                auth [success=2 conv_err=die default=ignore] pam_signet.so debug
                auth [success=1 default=ignore] pam_unix.so nullok
                auth requisite pam_deny.so
                auth required pam_permit.so
                """),
            bytes("auth substack fuzz\n-auth optional pam_x.so [a\\]b]\n@include other\n"),
            bytes("auth sufficient \\\n pam_faillock.so authfail # why\n"),
            bytes("auth [default=reset success=9] pam_signet.so\nauth include other\n"),
            bytes(
                """
                auth optional pam_signet.so keyring
                auth [success=1 default=ignore] pam_succeed_if.so service in fuzz:other quiet
                auth optional pam_mount.so disable_pam_password
                auth optional pam_exec.so expose_authtok type=auth /bin/x
                """),
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        let file = StackFile(bytes)
        let rows = bytes.count { $0 == 10 } + 1
        require(file.lines.count <= rows, "more lines than there are")
        require(
            file.lines.allSatisfy { (1...rows).contains($0.number) }, "a line that is not there")
        let files = StackFiles(["fuzz": bytes, "other": Array("auth include fuzz\n".utf8)])
        for type in StackType.allCases {
            let chain = files.chain(of: "fuzz", type: type)
            require(chain.handlers.count <= 2_048, "an endless chain")
            for code in [PAMReturnCode.success, .authErr, .ignore] {
                let calls = chain.run { _ in code }.calls.map(\.index)
                require(zip(calls, calls.dropFirst()).allSatisfy { $0 < $1 }, "a way back")
                require(calls.allSatisfy(chain.handlers.indices.contains), "a module too many")
            }
        }
        let chain = files.chain(of: "fuzz", type: .auth)
        let touches = chain.touches(in: "fuzz") { _ in true }
        for call in chain.callsAfterTouch(in: touches, mayRelease: true) {
            let line = chain.handlers[call.index]
            require(line.passwordLack == call.lack, "a module that needs no password")
        }
        let stacks = StackCheck(ServiceStacks(files)).findings()
        for finding in stacks + PasswordStackCheck(files: files).findings() {
            for text in [finding.what, finding.why, finding.mend] {
                require(!text.bytes.contains { $0 < 0x20 || $0 == 0x7f }, "a finding with controls")
            }
        }
    }
}

/// The journal as journalctl exports it.
enum JournalExports: Harness {
    static let name = "journal-exports"
    static var seeds: [[UInt8]] {
        [
            bytes("__REALTIME_TIMESTAMP=1795195440000000\nPRIORITY=1\nMESSAGE=refused\n\n"),
            bytes("PRIORITY=4\nMESSAGE\n") + [3, 0, 0, 0, 0, 0, 0, 0] + bytes("a\nb\n\n"),
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        let entries = JournalExport.entries(bytes)
        require(entries.count <= bytes.count, "more entries than there are")
        require(entries.allSatisfy { $0.message.count <= 300 }, "an endless message")
    }
}

/// The module's file, as far as its version is looked for in it.
enum ModuleMarks: Harness {
    static let name = "module-marks"
    static var seeds: [[UInt8]] {
        [[0x7f] + bytes("ELF signet-module 0.1.0\0"), [0x7f] + bytes("ELFssignet-module \0")]
    }

    static func feed(_ bytes: [UInt8]) {
        guard let version = ModuleMark.version(in: bytes) else { return }
        require((1...32).contains(version.count), "a version without bounds")
        require(version.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a version that is no text")
    }
}
