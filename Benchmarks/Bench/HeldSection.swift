// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// How long the answer takes while the finger stays on the reader: whoever waits for the driver's
/// scan to end, waits for the finger to be lifted.
///
/// Both peers run libfprint's own driver on a reader that answers its USB messages at once.
struct HeldSection {
    let workshop: Workshop
    let mocksPolkit: Bool
    private let runs = 30

    init(workshop: Workshop, mocksPolkit: Bool) {
        self.workshop = workshop
        self.mocksPolkit = mocksPolkit
    }

    /// Measures each driver with both peers in turn, and prints the table.
    func run() throws {
        print("| finger put on and held, to PAM_SUCCESS | pam_fprintd + fprintd | signet | ratio |")
        print("|---|---|---|---|")
        for model in PlayedReader.Model.allCases {
            let host = try workshop.host()
            let measures = Measures(host: host)
            let reader = ReaderKind.played(
                model, library: "\(workshop.directory)/libplayedusb.so")
            let fprintd = try FprintdPeer(
                on: host, directory: workshop.directory, mocksPolkit: mocksPolkit,
                reader: reader)
            let signet = try SignetPeer(on: host, reader: reader)
            var (theirs, ours) = (Samples(), Samples())
            for _ in 0..<runs {
                theirs.take { try measures.heldToReturn(fprintd) }
                ours.take { try measures.heldToReturn(signet) }
            }
            print(
                "| \(model.rawValue) | \(theirs.text(.milliseconds)) |",
                "\(ours.text(.milliseconds)) | \(ours.ratio(to: theirs)) |")
        }
    }
}
