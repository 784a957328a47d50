// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// What a peer's fingerprint reader is.
enum ReaderKind {
    /// libfprint's virtual reader with storage.
    case virtual
    /// A reader of Tests/PlayedUSB, driven by libfprint's own driver for it; with the library that
    /// plays it.
    case played(PlayedReader.Model, library: String)
}

/// A peer's reader in a fixture, and the person at it, who has one finger.
struct PeerReader {
    private static let finger = "alice-right-index"
    private let kind: ReaderKind
    private let host: HostFixture
    /// The virtual reader's socket, or the played one's directory, in the fixture.
    private let place: String

    /// `name` tells the peers' readers apart.
    init(_ kind: ReaderKind, on host: HostFixture, named name: String) throws {
        self.kind = kind
        self.host = host
        place = "/run/bench/\(name)-reader"
        try host.run(["mkdir", "-p", "/run/bench"])
        if case .played = kind { try host.run(["mkdir", "-p", place]) }
    }

    /// How many scans an enrolment takes.
    var scans: Int {
        switch kind {
        case .virtual: 5
        case .played(let model, _): model.stages
        }
    }

    /// What a process that loads libfprint needs in its environment to find this reader and no other.
    var environment: [String: String] {
        switch kind {
        case .virtual:
            [
                "FP_VIRTUAL_DEVICE_STORAGE": place,
                "FP_DRIVERS_WHITELIST": "virtual_device_storage",
            ]
        case .played(let model, let library):
            [
                "LD_PRELOAD": library,
                "PLAYED_READER": model.rawValue, "PLAYED_PLACE": place,
                "FP_DRIVERS_WHITELIST": model.rawValue,
            ]
        }
    }

    /// testfixture, with the reader process on this reader.
    func command(_ testfixture: String) -> [String] {
        switch kind {
        case .virtual: [testfixture, "daemon", "--storage", place]
        case .played(let model, let library):
            PlayedReader(model, in: place, library: library).wrapper + [testfixture, "daemon"]
        }
    }

    /// The process of the readers on this reader.
    func readerCommand(_ testreader: String) -> [String] {
        switch kind {
        case .virtual: [testreader, "--storage", place]
        case .played: ["/usr/bin/env"] + environment.map { "\($0)=\($1)" } + [testreader]
        }
    }

    /// One scan of an enrolment, when the reader waits for it.
    func scan() throws {
        switch kind {
        case .virtual: try VirtualReader(path: host.path(place)).send(.scan(Self.finger))
        case .played: try send(.touch(Self.finger))
        }
    }

    /// Puts the finger on: a played reader has it until it is lifted. Returns CLOCK_MONOTONIC (ns)
    /// from before it was sent.
    func touch() throws -> Int64 {
        let time = monotonicNow()
        switch kind {
        case .virtual: try deliver("SCAN \(Self.finger)", to: host.path(place))
        case .played: try deliver("HOLD \(Self.finger)", to: host.path("\(place)/control"))
        }
        return time
    }

    /// Takes the finger off.
    func lift() throws {
        if case .played = kind { try send(.lift) }
    }

    /// Puts the enrolled print back into a virtual reader's storage, which ends with its process.
    func restore() throws {
        if case .virtual = kind { try deliver("INSERT \(Self.finger)", to: host.path(place)) }
    }

    private func send(_ command: PlayedReader.Command) throws {
        guard case .played(let model, _) = kind else { return }
        try PlayedReader(model, in: host.path(place)).send(command)
    }
}
