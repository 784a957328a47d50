// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Posix
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The setting rate.networks")
struct NetworkRatesTests {
    @Test("is 'none', or networks with their rates")
    func accepted() throws {
        #expect(try NetworkRates.exceptions("none") == [])
        let exceptions = try NetworkRates.exceptions(
            "192.0.2.0/24=6000 2001:db8::/32=1200\t192.0.2.7/32=1")
        #expect(exceptions.map(\.perMinute) == [6_000, 1_200, 1])
        #expect(exceptions[0].prefix == (try NetworkPrefix("192.0.2.0/24")))
    }

    @Test(
        "is refused with a mistake in one entry, which the message names",
        arguments: [
            ("192.0.2.0/24", "192.0.2.0/24"), ("192.0.2.0/24=", "192.0.2.0/24="),
            ("192.0.2.0/24=0", "192.0.2.0/24=0"), ("192.0.2.0/24=1000001", "1000001"),
            ("192.0.2.0/24=-1", "=-1"), ("192.0.2.0/24=1=2", "=1=2"),
            ("10.0.0.0/8=5 192.0.2.1/24=5", "'192.0.2.1/24=5': the address has bits after"),
            ("192.0.2.0/33=5", "the length must be at most 32"),
            ("2001:db8::/65=5", "64 for IPv6"), ("office=5", "'office=5'"),
            ("192.0.2.0/24=5 192.0.2.0/24=6", "'192.0.2.0/24=6': this network has a rate"),
            ("2001:db8::/32=5 2001:0db8:0::/32=5", "this network has a rate"),
            ("none 192.0.2.0/24=5", "'none'"), ("192.0.2.0/24 = 5", "'192.0.2.0/24'"),
            ("192.0.2.0/24=5,10.0.0.0/8=5", "192.0.2.0/24=5,10.0.0.0/8=5"),
        ])
    func refused(text: String, named: String) {
        do throws(StartFault) {
            _ = try NetworkRates.exceptions(text)
            Issue.record("accepted '\(text)'")
        } catch {
            #expect(error.text.hasPrefix("rate.networks: "))
            #expect(error.text.contains(named), "\(error.text)")
        }
    }

    @Test("with a mistake keeps the server from starting, and check-config reports it")
    func program() throws {
        let home = try ServerHome(.sqlite)
        let configuration = try home.configuration("[rate]\nnetworks = 192.0.2.1/24=600")
        for words in [["--config"], ["admin", "--config"]] {
            let outcome = try Program(
                Command(
                    [ServerProcess.program] + words + [configuration]
                        + (words[0] == "admin" ? ["check-config"] : []))
            ).expectEnd()
            #expect(!outcome.succeeded)
            #expect(outcome.errors.contains("'192.0.2.1/24=600'"), "\(outcome.errors)")
        }
    }
}
