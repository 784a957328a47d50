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

/// A peer's reader on a stage, and the person at it, who has one finger.
struct PeerReader {
    private static let finger = "alice-right-index"
    private let kind: ReaderKind
    private let stage: Stage
    /// The virtual reader's socket, or the played one's directory, on the stage.
    private let place: String

    /// `name` tells the peers' readers apart.
    init(_ kind: ReaderKind, on stage: Stage, named name: String) throws {
        self.kind = kind
        self.stage = stage
        place = "/run/bench/\(name)-reader"
        try stage.run(["mkdir", "-p", "/run/bench"])
        if case .played = kind { try stage.run(["mkdir", "-p", place]) }
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

    /// testbench, with the reader process on this reader.
    func command(_ testbench: String) -> [String] {
        switch kind {
        case .virtual: [testbench, "daemon", "--storage", place]
        case .played(let model, let library):
            PlayedReader(model, in: place, library: library).wrapper + [testbench, "daemon"]
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
        case .virtual: try VirtualReader(path: stage.path(place)).send(.scan(Self.finger))
        case .played: try send(.touch(Self.finger))
        }
    }

    /// Puts the finger on: a played reader has it until it is lifted. Returns CLOCK_MONOTONIC (ns)
    /// from before it was sent.
    func touch() throws -> Int64 {
        let time = monotonicNow()
        switch kind {
        case .virtual: try deliver("SCAN \(Self.finger)", to: stage.path(place))
        case .played: try deliver("HOLD \(Self.finger)", to: stage.path("\(place)/control"))
        }
        return time
    }

    /// Takes the finger off.
    func lift() throws {
        if case .played = kind { try send(.lift) }
    }

    /// Puts the enrolled print back into a virtual reader's storage, which ends with its process.
    func restore() throws {
        if case .virtual = kind { try deliver("INSERT \(Self.finger)", to: stage.path(place)) }
    }

    private func send(_ command: PlayedReader.Command) throws {
        guard case .played(let model, _) = kind else { return }
        try PlayedReader(model, in: stage.path(place)).send(command)
    }
}
