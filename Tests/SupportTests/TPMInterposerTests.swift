// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("the interposer on a TPM's bus")
struct TPMInterposerTests {
    let tpm: SoftwareTPM
    let bus: TPMInterposer
    let program: TPMClient
    let random = TPMCommand(.getRandom, parameters: [0, 16])
    let extend = TPMCommand(
        .pcrExtend, [16], passwords: [[]],
        parameters: [0, 0, 0, 1, 0, 0x0B] + [UInt8](repeating: 9, count: 32))

    init() throws {
        tpm = try SoftwareTPM()
        bus = try TPMInterposer(tpm)
        program = TPMClient(path: bus.path)
    }

    @Test("it passes on all traffic unaltered, and records it")
    func hears() throws {
        let response = try program.run(random)
        let heard = try #require(bus.exchanges.first)
        #expect(bus.exchanges.count == 1)
        #expect(heard.number == 1)
        #expect(heard.code == .getRandom)
        #expect(heard.command == random.bytes)
        #expect(heard.response == response.bytes)
        #expect(heard.answer == response.bytes)
        #expect("\(heard)" == "1. TPM2_GetRandom: 0x0")
    }

    @Test("it finds bytes in commands and answers, and none that did not pass")
    func contains() throws {
        let answered = try program.run(random).parameters.dropFirst(2)
        try program.run(extend)
        #expect(bus.contains(Array(answered)))
        #expect(bus.contains([UInt8](repeating: 9, count: 32)))
        #expect(!bus.contains([UInt8](repeating: 9, count: 33)))
        try #expect(!bus.contains(Array(tpm.run(random).parameters.dropFirst(2))))
        bus.forget()
        #expect(!bus.contains(Array(answered)))
    }

    @Test("it counts commands, and knows what they are about")
    func counts() throws {
        try program.run(random)
        try program.run(extend)
        try program.run(extend)
        #expect(bus.count(of: .getRandom) == 1)
        #expect(bus.count(of: .pcrExtend) == 2)
        #expect(bus.count(of: .sign) == 0)
        #expect(bus.exchanges.last?.handles == [16])
        #expect(bus.exchanges.last?.description == "3. TPM2_PCR_Extend 0x10: 0x0")
    }

    @Test("it sees how a command is authorised")
    func sessions() throws {
        try program.run(extend)
        let session = try #require(bus.exchanges.first?.commandSessions.first)
        #expect(session.handle == TPMHandle.password)
        #expect(session.proof == [])
        #expect(bus.exchanges.first?.commandSessions.count == 1)
        #expect(bus.exchanges.first?.parsedResponse?.sessions.count == 1)
        try program.run(random)
        #expect(bus.exchanges.last?.commandSessions.isEmpty == true)
    }

    @Test("it passes on what is sent over the control socket, and records that too")
    func control() throws {
        #expect(try program.control([0, 0, 0, 5, 0]) == 0)
        #expect(bus.contains([0, 0, 0, 5, 0]))
    }

    @Test("a program that dies before a command: the TPM has not seen it, nor a later one")
    func cutCommand() throws {
        let deaths = Mutex<Int>(0)
        try program.run(random)
        bus.cut(at: 2, .command) { deaths.withLock { $0 += 1 } }
        try program.run(random)
        for _ in 0..<2 { #expect(throws: TestFault.self) { try program.run(extend) } }
        #expect(deaths.withLock(\.self) == 1)
        #expect(try tpm.read(pcr: 16) == [UInt8](repeating: 0, count: 32))
        bus.removeRules()
        try program.run(extend)
        #expect(try tpm.read(pcr: 16) != [UInt8](repeating: 0, count: 32))
    }

    @Test("a program that dies before an answer: the TPM has done it, and nothing later")
    func cutAnswer() throws {
        let deaths = Mutex<Int>(0)
        bus.cut(at: 1, .answer) { deaths.withLock { $0 += 1 } }
        #expect(throws: TestFault.self) { try program.run(extend) }
        let after = try tpm.read(pcr: 16)
        #expect(after != [UInt8](repeating: 0, count: 32))
        #expect(throws: TestFault.self) { try program.run(extend) }
        #expect(deaths.withLock(\.self) == 1)
        #expect(try tpm.read(pcr: 16) == after)
    }

    @Test("it answers with a code of its choice, and the TPM is not asked")
    func fails() throws {
        bus.setRule(at: .command) { $0.code == .pcrExtend ? .fail(0x922) : .pass }
        #expect(throws: TestFault.self) { try program.ask(extend) }
        #expect(bus.exchanges.allSatisfy { $0.response == nil && $0.answer != nil })
        #expect(try tpm.read(pcr: 16) == [UInt8](repeating: 0, count: 32))
        bus.setRule(at: .command) { _ in .fail(TPMCode.lockout) }
        #expect(try program.ask(random).code == TPMCode.lockout)
    }

    @Test("it answers with bytes of its choice in place of the TPM's")
    func alters() throws {
        bus.setRule(at: .answer) { exchange in
            .answer((exchange.response ?? []).dropLast() + [0])
        }
        let answer = try program.run(random).bytes
        #expect(answer.last == 0)
        #expect(bus.exchanges.first?.answer == answer)
        #expect(bus.exchanges.first?.response?.dropLast() == answer.dropLast())
    }

    @Test("a stalled client waits, other clients do not, and the end of the interposer ends it")
    func stalls() throws {
        bus.setRule(at: .answer) { $0.code == .pcrExtend ? .stall : .pass }
        #expect(throws: TestFault.self) {
            try program.send(extend.bytes, within: .milliseconds(50))
        }
        try program.run(random)
        #expect(try tpm.read(pcr: 16) != [UInt8](repeating: 0, count: 32))
        let (waiter, command) = (program, extend.bytes)
        let ended = Worker { (try? waiter.send(command)) == nil }
        let waiting = try bus.first("the second extension") { exchanges in
            exchanges.last { $0.code == .pcrExtend && $0.number == 3 && $0.response != nil }
        }
        #expect(waiting.answer == nil)
        bus.stop()
        #expect(ended.result)
    }

    @Test("a silent TPM keeps the program waiting, and a client that gives up is forgotten")
    func silence() throws {
        tpm.suspend()
        for _ in 0..<4 {
            #expect(throws: TestFault.self) {
                try program.send(random.bytes, within: .milliseconds(20))
            }
        }
        tpm.resume()
        try program.run(random)
    }

    @Test("without a TPM behind it, it closes the connection; a new one is found")
    func noTPM() throws {
        try tpm.stop()
        #expect(throws: TestFault.self) { try program.run(random) }
        try tpm.start()
        try program.run(random)
        try tpm.replace()
        try program.run(random)
    }

    @Test("it does not pass on an invalid command", arguments: [0, 9, 4097, 0xFFFF_FFFF])
    func noCommand(size: UInt32) throws {
        let header = [0x80, 1] + [UInt8](bigEndian: size) + [0, 0, 1, 0x7B]
        #expect(throws: TestFault.self) { try program.send(header + [0, 16]) }
        #expect(bus.exchanges.isEmpty)
        try program.run(random)
    }

    @Test("nothing of it is left: its sockets are gone")
    func nothingLeft() throws {
        #expect(unsafe access(bus.path, F_OK) == 0)
        bus.stop()
        for path in [bus.path, bus.path + ".ctrl"] {
            #expect(unsafe access(path, F_OK) == -1)
        }
        #expect(throws: TestFault.self) { try program.run(random) }
        try tpm.run(random)
    }

    @Test("it and the TPM can be where programs in a fixture look for them")
    func host() throws {
        let host = try HostFixture()
        let tpm = try SoftwareTPM(socketsIn: host.path("/run"))
        let bus = try TPMInterposer(tpm, socketsIn: host.path("/run"))
        for socket in ["/run/tpm", "/run/tpm.ctrl", "/run/tpm-bus", "/run/tpm-bus.ctrl"] {
            #expect(try host.run(["test", "-S", socket]).succeeded)
        }
        try TPMClient(path: bus.path).run(random)
        try tpm.replace()
        try TPMClient(path: host.path("/run/tpm-bus")).run(random)
        #expect(bus.count(of: .getRandom) == 2)
    }
}
