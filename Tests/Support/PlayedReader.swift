// SPDX-License-Identifier: Apache-2.0
/// Plays the person at a reader of Tests/PlayedUSB, which libfprint's own drivers talk to.
///
/// Its socket is there from the start of the daemon.
package struct PlayedReader: Sendable {
    /// A model, by the name of its driver.
    package enum Model: String, CaseIterable, Sendable {
        case elanmoc, synaptics, goodixmoc, fpcmoc

        /// How many scans an enrolment takes.
        package var stages: Int {
            switch self {
            case .elanmoc: 9
            case .synaptics: 8
            case .goodixmoc, .fpcmoc: 12
            }
        }
    }

    /// What is wrong with the reader, with who drives it, or with the line between them.
    package enum Fault: String, Sendable {
        /// It cannot be opened.
        case open
        /// It cannot be claimed, once it is open.
        case claim
        /// It takes what it is sent and answers nothing.
        case mute
        /// It does not heed a cancellation.
        case stubborn
        /// Its driver crashes at the next finger.
        case crash
        /// Its answers have the right length, and say nothing that makes sense.
        case garbage
        /// Its answers are without content.
        case empty
        /// The second half of each answer is missing.
        case truncated
        /// Its answers go on behind their end.
        case oversized
        /// One bit of each answer is another.
        case flipped
        /// Each answer comes twice.
        case repeated
        /// An answer comes before the one that it should follow.
        case reordered
        /// It does what it is told, and its answers get lost.
        case dropped
        /// Its answers come late.
        case late

        /// What can happen to answers on their way.
        package static let distortions: [Fault] = [
            .garbage, .empty, .truncated, .oversized, .flipped, .repeated, .reordered, .dropped,
            .late,
        ]
    }

    /// What the person, or the hardware, does.
    package enum Command: Sendable {
        /// A finger is put on when the reader waits for one, and lifted.
        case touch(String)
        /// The same, unless the reader does not wait for one in half a second.
        case brush(String)
        /// A finger is put on, and stays there.
        case hold(String)
        case lift
        case unplug
        case plugIn
        case fault(Fault)
        case mend(Fault)
        /// Any of the distortions happens to one in four answers; each seed has others, and 0 ends
        /// it. What tells whose a finger was is not altered so that it could be another's.
        case distort(seed: UInt64)
        /// The reader's storage loses the print of a finger.
        case lose(String)
        /// Another system enrols a finger.
        case foreign(String)
        /// Another system enrols as many as there is room for.
        case fill

        var text: String {
            switch self {
            case .touch(let finger): "TOUCH \(finger)"
            case .brush(let finger): "BRUSH \(finger)"
            case .hold(let finger): "HOLD \(finger)"
            case .lift: "LIFT"
            case .unplug: "UNPLUG"
            case .plugIn: "PLUG"
            case .fault(let fault): "FAULT \(fault.rawValue)"
            case .mend(let fault): "MEND \(fault.rawValue)"
            case .distort(let seed): "DISTORT \(seed)"
            case .lose(let finger): "LOSE \(finger)"
            case .foreign(let finger): "FOREIGN \(finger)"
            case .fill: "FILL"
            }
        }
    }

    /// The model.
    package let model: Model
    /// The directory with its storage and its socket.
    package let place: String

    private let library: String

    /// A reader of a model in a directory, played by the library.
    package init(
        _ model: Model, in place: String, library: String = Layout.products + "/libplayedusb.so"
    ) {
        self.model = model
        self.place = place
        self.library = library
    }

    /// What starts a daemon whose process of the readers has this one, and no other USB device.
    package var wrapper: [String] {
        [
            "env", "PLAYED_USB=\(library)",
            "PLAYED_READER=\(model.rawValue)", "PLAYED_PLACE=\(place)",
            // A driver that frees memory twice is ended at once by malloc, and not now and then.
            "G_SLICE=always-malloc",
        ]
    }

    /// The fingers whose prints it keeps, in the order of its slots.
    package var stored: [String] {
        guard let bytes = try? Layout.read(place + "/prints") else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap {
            $0.split(separator: " ").first.map(String.init)
        }
    }

    /// Has something happen, and returns when it has: a touch, when the reader has taken it.
    package func send(_ command: Command, within limit: Duration = .patience) throws(TestFault) {
        try sendWhenOpen(Array(command.text.utf8), to: place + "/control", within: limit)
    }
}
