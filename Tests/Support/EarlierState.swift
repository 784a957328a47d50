// SPDX-License-Identifier: Apache-2.0
import Glibc

/// State directories as earlier versions of the program wrote them, see Tests/Fixtures/README.md.
package enum EarlierState {
    /// Copies the state that version `version` of its form has to a directory, made if missing,
    /// with the modes that it had.
    package static func copy(version: Int, to path: String) throws(TestFault) {
        try copy("\(Layout.package)/Tests/Fixtures/state-\(version)", to: path, isPublic: true)
    }

    private static func copy(_ from: String, to path: String, isPublic: Bool) throws(TestFault) {
        let made = unsafe mkdir(path, 0o700)
        guard made == 0 || errno == EEXIST,
            unsafe chmod(path, isPublic ? 0o755 : 0o700) == 0
        else { throw .system(call: "mkdir", subject: path, code: errno) }
        for name in Layout.entries(of: from) {
            var status = stat()
            guard unsafe lstat("\(from)/\(name)", &status) == 0 else {
                throw .system(call: "lstat", subject: name, code: errno)
            }
            if status.st_mode & S_IFMT == S_IFDIR {
                try copy(
                    "\(from)/\(name)", to: "\(path)/\(name)",
                    isPublic: isPublic && name != "private")
                continue
            }
            let mode: UInt32 = isPublic ? 0o644 : 0o600
            let opened = unsafe open(
                "\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            let file = try Descriptor(opened < 0 ? -errno : opened, "open", name)
            try file.write(try Layout.read("\(from)/\(name)"))
        }
    }
}
