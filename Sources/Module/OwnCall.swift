// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import Domain
import LoginProtocol
import ModuleOptions
import SignedFormats

extension ProgramCall {
    /// This process's command line.
    static var ofThisProcess: ProgramCall {
        guard let file = openOfThisProcess() else { return ProgramCall([]) }
        let text = file.beginning(cap: longest + 1)
        return ProgramCall(Bytes(text.prefix(longest)), isWhole: text.count <= longest)
    }

    /// Opens this process's command line, in which each argument ends with NUL.
    static func openOfThisProcess() -> ModuleDescriptor? {
        ModuleDescriptor(reading: StaticString("/proc/self/cmdline").bytes, O_RDONLY)
    }
}

extension CallSurroundings {
    /// The longest environment that is read, in bytes.
    private static let longestEnvironment = 262_144

    /// The surroundings of this process, a call of sudo, su or doas.
    ///
    /// The environment is read only to be shown: the caller of the program controls it.
    static func ofThisProcess(
        _ application: Application, account: AccountName, requester: AccountName
    ) -> CallSurroundings {
        CallSurroundings(
            environment: {
                ModuleDescriptor(reading: StaticString("/proc/self/environ").bytes, O_RDONLY)?
                    .contents(cap: longestEnvironment)
            },
            directory: existing,
            isProgram: { path in
                var status = stat()
                guard path.withCString({ unsafe stat($0, &status) }) == 0 else { return nil }
                return status.isOf(S_IFREG) && status.st_mode & 0o111 != 0
            },
            shell: { role in
                switch role {
                case .caller: application.shell(of: requester)
                case .target: application.shell(of: account)
                case .named(let name): application.shell(of: AccountName(name))
                }
            })
    }

    /// The path of an existing directory, which the kernel knows without symbolic links; nil if it
    /// has none from the root directory, as when it was deleted.
    private static func existing(_ path: Bytes) -> Bytes? {
        guard let directory = ModuleDescriptor(reading: path, O_PATH | O_DIRECTORY) else {
            return nil
        }
        var name = Bytes(repeating: 0, count: 4_096)
        let link = StaticString("/proc/self/fd/").bytes + Decimal.encode(UInt64(directory.number))
        let length = link.withCString { link in
            unsafe name.withUnsafeMutableBytes { name in
                let start = unsafe name.baseAddress?.assumingMemoryBound(to: CChar.self)
                guard let start = unsafe start else { return -1 }
                return unsafe readlink(link, start, name.count)
            }
        }
        guard length > 0, length < name.count else { return nil }
        name.removeLast(name.count - length)
        var (own, found) = (stat(), stat())
        guard unsafe fstat(directory.number, &own) == 0,
            name.withCString({ unsafe stat($0, &found) }) == 0,
            own.st_ino == found.st_ino, own.st_dev == found.st_dev
        else { return nil }
        return name
    }
}

extension ModuleDescriptor {
    /// Opens an existing file; nil if it cannot be opened.
    fileprivate init?(reading path: Bytes, _ flags: Int32) {
        self.init(
            adopting: path.withCString { path in
                unsafe open_at(AT_FDCWD, path, flags | O_CLOEXEC)
            })
    }
}

extension Verifier {
    /// Returns the SHA-256 of this process's complete command line; nil if it cannot be read.
    func digestOfCommandLine() -> Bytes? {
        guard let file = ProgramCall.openOfThisProcess() else { return nil }
        var part = file.beginning(cap: ProgramCall.longest)
        guard !part.isEmpty else { return nil }
        return digest {
            defer { part = part.isEmpty ? [] : file.beginning(cap: ProgramCall.longest) }
            return part
        }
    }
}
