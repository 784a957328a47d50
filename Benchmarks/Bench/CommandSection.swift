// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// How long commands take that need no finger, the whole process each.
struct CommandSection {
    let workshop: Workshop
    let mocksPolkit: Bool
    private let runs = 30

    /// Measures each command with a running daemon, and prints the table.
    func run() throws {
        let host = try workshop.host()
        let fprintd = try FprintdPeer(
            on: host, directory: workshop.directory, mocksPolkit: mocksPolkit)
        let signet = try SignetPeer(on: host)
        _ = try fprintd.arrange(.running)
        _ = try signet.arrange(.running)
        print("| command, whole process | fprintd | signet | ratio |")
        print("|---|---|---|---|")
        let list = ["\(workshop.directory)/peer/usr/bin/fprintd-list", "alice"]
        try show("list", beside: list, on: host)
        for verb in ["status", "doctor"] { try show(verb, beside: nil, on: host) }
    }

    private func show(_ verb: String, beside peer: [String]?, on host: HostFixture) throws {
        var (theirs, ours) = (Samples(), Samples())
        for _ in 0..<runs {
            if let peer { _ = try theirs.time { try host.run(peer) } }
            _ = try ours.time {
                try host.run(["\(Layout.package)/build/signet", verb], as: HostFixture.alice)
            }
        }
        print(
            "| \(verb) | \(peer == nil ? "–" : theirs.text(.milliseconds)) |",
            "\(ours.text(.milliseconds)) | \(ours.ratio(to: theirs)) |")
    }
}
