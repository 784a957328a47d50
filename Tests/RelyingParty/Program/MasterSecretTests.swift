// SPDX-License-Identifier: Apache-2.0
import Posix
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The master secret")
struct MasterSecretTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func load(faults: DurableFaults = .none) throws -> [UInt8] {
        let secret = try MasterSecret.load(scratch.at("master-secret"), faults: faults)
        return secret.withBytes { span in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
    }

    @Test("is made by the first start, and read by the next")
    func made() throws {
        let first = try load()
        #expect(first.count == 32)
        #expect(try load() == first)
        #expect(Layout.entries(of: scratch.path) == ["master-secret"])
    }

    @Test("is the faster one's if two starts make it at the same moment")
    func beaten() throws {
        let quick = [UInt8](repeating: 7, count: 32)
        let late = DurableFaults { step, _ throws(SystemFault) in
            guard step == .rename else { return }
            do {
                try scratch.write("master-secret", quick)
            } catch { throw SystemFault("write", code: 5) }
        }
        #expect(try load(faults: late) == quick)
        #expect(try load() == quick)
        #expect(Layout.entries(of: scratch.path) == ["master-secret"])
    }

    @Test("is not replaced if the faster one's has another length")
    func beatenByBroken() throws {
        let late = DurableFaults { step, _ throws(SystemFault) in
            guard step == .rename else { return }
            do {
                try scratch.write("master-secret", [1, 2, 3])
            } catch { throw SystemFault("write", code: 5) }
        }
        #expect(throws: StartFault.self) { try load(faults: late) }
        #expect(try scratch.read("master-secret") == [1, 2, 3])
    }

    @Test("is one for all of many that start at once")
    func raced() async throws {
        let path = scratch.at("master-secret")
        let all = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<64 {
                group.addTask {
                    let secret = try MasterSecret.load(path)
                    return secret.withBytes { span in
                        unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
                    }
                }
            }
            var all: Set<[UInt8]> = []
            for try await secret in group { all.insert(secret) }
            return all
        }
        #expect(all.count == 1)
        #expect(Layout.entries(of: scratch.path) == ["master-secret"])
    }
}
