import TestSupport
import Testing
import Wire

extension DaemonTests {
    /// Real drivers of libfprint, on readers that answer their USB messages.
    @Suite("real drivers") struct PlayedReaderTests {
        @Test(
            "a finger is enrolled and lets in, another does not",
            arguments: PlayedReader.Model.allCases)
        func round(model: PlayedReader.Model) throws {
            let played = try PlayedBench(model)
            #expect(try played.enrol(as: "one").done?.prints == 1)
            #expect(played.reader.stored == ["one"])
            #expect(try played.login(with: "one").assertion != nil)
            #expect(try played.login(with: "two").reason == .noMatch)
            #expect(try played.failures == 1)
        }

        @Test(
            "a finger is asked for once, whatever the driver reports",
            arguments: PlayedReader.Model.allCases)
        func prompt(model: PlayedReader.Model) throws {
            let played = try PlayedBench(model)
            try played.enrol(as: "one")
            let client = try played.bench.client()
            let start = ContinuousClock.now
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            #expect(ContinuousClock.now - start < .seconds(2))
            try played.reader.send(.touch("one"))
            #expect(try client.last().assertion != nil)
            #expect(client.heard.count { $0.notice?.kind == .touch } == 1)
        }

        @Test(
            "who holds the finger down is let in all the same, and the next one waits until it is lifted",
            arguments: PlayedReader.Model.allCases)
        func held(model: PlayedReader.Model) throws {
            let played = try PlayedBench(model)
            try played.enrol(as: "one")
            let client = try played.bench.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try played.reader.send(.hold("one"))
            #expect(try client.last(within: .seconds(2)).assertion != nil)
            _ = try client.confirm()
            try played.reader.send(.lift)
            #expect(try played.login(with: "one").assertion != nil)
        }

        @Test(
            "a reader that could not be opened is opened by the next request",
            arguments: PlayedReader.Model.allCases)
        func opening(model: PlayedReader.Model) throws {
            let played = try PlayedBench(model)
            try played.enrol(as: "one")
            for fault in [PlayedReader.Fault.open, .claim] {
                try played.reader.send(.fault(fault))
                #expect(try played.bench.ask(.login(.daemon)).reason == .readerFailed)
                try played.reader.send(.mend(fault))
                #expect(try played.login(with: "one").assertion != nil)
            }
            #expect(try played.failures == 0)
        }

        @Test(
            "a reader unplugged in mid-scan is used again when it is back",
            arguments: PlayedReader.Model.allCases)
        func unplugged(model: PlayedReader.Model) throws {
            let played = try PlayedBench(model)
            try played.enrol(as: "one")
            let client = try played.bench.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try played.reader.send(.unplug)
            #expect(try client.last().reason == .readerRemoved)
            try played.reader.send(.plugIn)
            #expect(try played.login(with: "one").assertion != nil)
            #expect(try played.failures == 0)
        }
    }
}
