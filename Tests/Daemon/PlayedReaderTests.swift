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

extension DaemonTests.PlayedReaderTests {
    @Test("a service that is slow to have its reader ready says that it is there")
    func slow() throws {
        let played = try PlayedBench(.elanmoc)
        try played.enrol(as: "one")
        try played.reader.send(.fault(.mute))
        let client = try played.bench.client()
        client.skipsSigns = false
        let start = ContinuousClock.now
        try client.send(.login(.daemon))
        try client.wait(for: .preparing)
        #expect(ContinuousClock.now - start < .seconds(1))
        try client.wait(for: .preparing)
    }

    @Test("a print that the reader has lost is told, counts as no attempt, and is enrolled again")
    func lost() throws {
        let played = try PlayedBench(.synaptics)
        try played.enrol(as: "one")
        try played.reader.send(.lose("one"))
        #expect(try played.bench.ask(.login(.daemon, tries: 1)).reason == .printLost)
        #expect(try played.failures == 0)
        #expect(try played.enrol(as: "one").done?.prints == 1)
        #expect(try played.login(with: "one").assertion != nil)
    }

    @Test("one's lost print keeps neither their other fingers nor other accounts out")
    func lostOfSeveral() throws {
        let played = try PlayedBench(.synaptics)
        try played.enrol(as: "one")
        try played.enrol(.daemon, .leftIndex, as: "two", checking: true)
        try played.reader.send(.lose("one"))
        let client = try played.bench.client()
        try client.send(.login(.daemon, tries: 1))
        #expect(try client.wait(for: .printLost).subject == Bytes("right-index".utf8))
        try client.wait(for: .touch)
        try played.reader.send(.touch("two"))
        #expect(try client.last().assertion != nil)
        _ = try client.confirm()
        #expect(try played.failures == 0)
        #expect(try played.enrol(.bin, as: "three", checking: true).done?.prints == 1)
        // Who guesses with a lost print in the account is counted as ever.
        #expect(try played.login(with: "three").reason == .noMatch)
        #expect(try played.failures == 1)
    }

    @Test(
        "a finger that another system left on the reader is not enrolled to match in vain",
        arguments: [PlayedReader.Model.elanmoc, .goodixmoc])
    func foreign(model: PlayedReader.Model) throws {
        let played = try PlayedBench(model)
        try played.reader.send(.foreign("one"))
        #expect(try played.enrol(as: "one", checking: true).reason == .fingerOnReader)
        #expect(played.reader.stored == ["one"])
        #expect(try played.enrol(as: "two", checking: true).done?.prints == 1)
        #expect(try played.login(with: "two").assertion != nil)
    }

    @Test("a full reader is told as such", arguments: PlayedReader.Model.allCases)
    func full(model: PlayedReader.Model) throws {
        let played = try PlayedBench(model)
        try played.reader.send(.fill)
        let client = try played.bench.client()
        try client.send(.enroll(account: Person.daemon.bytes, finger: .leftIndex, readerID: nil))
        if model != .synaptics {
            try client.wait(for: .touch)
            try played.reader.send(.touch("one"))
        }
        #expect(try client.last().reason == .readerFull)
    }

    @Test(
        "a finger that is enrolled again replaces its print", arguments: PlayedReader.Model.allCases
    )
    func again(model: PlayedReader.Model) throws {
        let played = try PlayedBench(model)
        try played.enrol(as: "one")
        #expect(try played.enrol(as: "one", checking: true).done?.prints == 1)
        #expect(played.reader.stored == ["one"])
        #expect(try played.login(with: "one").assertion != nil)
    }

    @Test(
        "an enrolment that ends early leaves fingers and reader of one mind",
        arguments: PlayedReader.Model.allCases)
    func early(model: PlayedReader.Model) throws {
        let played = try PlayedBench(model)
        try played.enrol(as: "one")
        try played.enrol(.daemon, .leftIndex, as: "two", checking: true)
        let client = try played.bench.client()
        try client.send(.enroll(account: Person.daemon.bytes, finger: .rightIndex, readerID: nil))
        try client.wait(for: .touch)
        try played.reader.send(.touch("one"))
        try client.wait(for: .touch)
        try played.reader.send(.touch("one"))
        try client.send(.cancel)
        #expect(try client.last().reason == .cancelled)
        #expect(try played.login(with: "two").assertion != nil)
        #expect(try Int(played.bench.status(of: .daemon).prints) == played.reader.stored.count)
    }

    @Test(
        "another account's finger is told to nobody, also where the reader knows it",
        arguments: PlayedReader.Model.allCases)
    func taken(model: PlayedReader.Model) throws {
        let played = try PlayedBench(model)
        try played.enrol(as: "one")
        #expect(try played.enrol(.bin, as: "one", checking: true).reason == .fingerNotEnrolled)
        #expect(played.reader.stored == ["one"])
        #expect(try played.login(with: "one").assertion != nil)
    }

    @Test(
        "a driver that does not heed cancellation holds up neither its caller nor, for good, the next",
        arguments: PlayedReader.Model.allCases)
    func stubborn(model: PlayedReader.Model) throws {
        let played = try PlayedBench(model)
        try played.enrol(as: "one")
        try played.reader.send(.fault(.stubborn))
        let client = try played.bench.client()
        try client.send(.login(.daemon))
        try client.wait(for: .touch)
        try client.send(.cancel)
        #expect(try client.last(within: .seconds(4)).reason == .cancelled)
        try played.reader.send(.mend(.stubborn))
        let next = try played.bench.client()
        try next.send(.login(.daemon, tries: 1))
        while let answer = try next.next() {
            // Drivers have time limits of their own: one that gave up meanwhile is used again.
            if answer.notice?.kind == .touch {
                try played.reader.send(.touch("one"))
                #expect(try next.last().assertion != nil)
                return
            }
            guard answer.isLast else { continue }
            #expect(answer.reason == .readerBusy)
            return
        }
    }
}
