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

@Suite("the module's version in its file")
struct ModuleMarkTests {
    @Test("is that of the other programs in what was built")
    func built() throws {
        let module = try Layout.read(Built.module())
        #expect(ModuleMark.version(in: module) == Array(Version.text.utf8))
    }

    @Test("is not found in a file that is not a module, is cut short, or has no version")
    func refused() {
        let mark = Array("signet-module 1.2".utf8)
        let elf = [0x7f] + Array("ELF".utf8)
        #expect(ModuleMark.version(in: mark) == nil)
        #expect(ModuleMark.version(in: elf + Array("signet-module \0".utf8)) == nil)
        #expect(
            ModuleMark.version(in: elf + Array("ssignet-signet-module 1.2\0x".utf8))
                == Array("1.2".utf8))
        let long = elf + mark + [UInt8](repeating: UInt8(ascii: "1"), count: 100)
        #expect(ModuleMark.version(in: long)?.count == 32)
    }
}
